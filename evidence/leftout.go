package evidence

// LeftOut is what the prompt of a call does not have of the conversation that
// it goes on, because it would have been too large.
type LeftOut struct {
	Budget  int    `json:"budget"`  // tokens that the prompt may have
	Turns   int    `json:"turns"`   // whole turns that are left out
	Results int    `json:"results"` // results of tools, those of such turns too
	Drops   []Drop `json:"drops"`   // in the order of the conversation
	More    int    `json:"more,omitempty"`
}

// MaxDrops is how many drops are listed; the oldest are counted in More.
const MaxDrops = 2000

// DropClass is why something is not in a prompt, or not whole.
type DropClass string

// The classes of what a budget leaves out.
const (
	Dropped  DropClass = "DROPPED"  // it is not there; a marker says so
	Degraded DropClass = "DEGRADED" // a shorter form of it is there
)

// Drop is one thing that was left out.
type Drop struct {
	Class  DropClass `json:"class"`
	Slot   string    `json:"slot"`   // message or tool_result
	Origin string    `json:"origin"` // as in the manifest of a call that has it
	Turn   int       `json:"turn"`
	Blob   string    `json:"blob"` // what it is
	Size   int       `json:"size"` // estimated bytes that it would take
	Reason string    `json:"reason"`
}
