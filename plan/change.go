package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sort"
	"time"

	"github.com/cleveragents/agents/ident"
)

// FileKind is what a path is.
type FileKind string

// The kinds of a path. Anything else (FIFO, device, socket) is Other: it is
// seen and reported, never followed and never applied.
const (
	Absent  FileKind = "absent"
	Regular FileKind = "file"
	Symlink FileKind = "symlink"
	Other   FileKind = "other"
)

// FileState is the content and mode of one path. The zero value is not valid;
// use Kind Absent for a path that does not exist.
type FileState struct {
	Kind FileKind `json:"kind"`
	Mode uint32   `json:"mode,omitempty"` // permission bits, for Regular
	Size int64    `json:"size,omitempty"`
	Hash string   `json:"hash,omitempty"` // SHA-256 of the bytes, hex; of the target for a Symlink
}

// Same reports whether two states have the same bytes, kind and mode.
func (f FileState) Same(g FileState) bool {
	return f.Kind == g.Kind && f.Mode == g.Mode && f.Hash == g.Hash
}

// Change is one path of one resource that differs from the base.
type Change struct {
	Resource ident.ResourceID `json:"resource"`
	Path     string           `json:"path"` // slash-separated, relative to the resource
	Before   FileState        `json:"before"`
	After    FileState        `json:"after"`
}

// ChangeSet is all changes of a plan, sorted by resource and path.
type ChangeSet []Change

// Sort puts the changes in their one order.
func (c ChangeSet) Sort() {
	sort.Slice(c, func(i, j int) bool {
		if c[i].Resource != c[j].Resource {
			return c[i].Resource < c[j].Resource
		}
		return c[i].Path < c[j].Path
	})
}

// Between is what changes from a state of the tree to another one, both given as
// changes from the same base.
func Between(from, to ChangeSet) ChangeSet {
	type key struct {
		res  ident.ResourceID
		path string
	}
	old := map[key]Change{}
	for _, c := range from {
		old[key{c.Resource, c.Path}] = c
	}
	out := ChangeSet{}
	for _, c := range to {
		k := key{c.Resource, c.Path}
		was, ok := old[k]
		delete(old, k)
		switch {
		case ok && was.After.Same(c.After):
			continue
		case ok:
			c.Before = was.After
		}
		out = append(out, c)
	}
	for _, c := range old { // as in the base again
		c.Before, c.After = c.After, c.Before
		out = append(out, c)
	}
	out.Sort()
	return out
}

// Hash identifies the change set: what an approval is bound to.
func (c ChangeSet) Hash() string {
	if c == nil {
		c = ChangeSet{}
	}
	b, err := json.Marshal(c)
	if err != nil { // plain strings and numbers always encode
		panic(fmt.Sprintf("plan: encode change set: %v", err))
	}
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// Checkpoint is the state of a plan's sandbox at a moment, as the changes from
// the base: restoring it makes the sandbox base plus changes.
type Checkpoint struct {
	ID       ident.CheckpointID `json:"id"`
	Plan     ident.PlanID       `json:"plan"`
	Decision ident.DecisionID   `json:"decision,omitempty"`
	Changes  string             `json:"changes"` // blob of the ChangeSet
	Files    int                `json:"files"`
	Created  time.Time          `json:"created"`
}

// Tier is how far a plan can be taken back (spec, Behavior, "Rollback Tiers").
type Tier string

// The tiers.
const (
	TierFull  Tier = "full"  // to any decision of Execute
	TierPhase Tier = "phase" // to before Execute
	TierNone  Tier = "none"  // not at all
)

// Means says the tier in words, after "can be taken back".
func (t Tier) Means() string {
	switch t {
	case TierFull:
		return "to any decision of Execute"
	case TierPhase:
		return "only as a whole phase"
	}
	return "not at all"
}

// ApprovalKind is what an approval is about.
type ApprovalKind string

// The kinds of approval.
const (
	ApproveGate     ApprovalKind = "gate"        // enter a phase
	ApproveDecision ApprovalKind = "decision"    // accept a decision
	ApproveToolCall ApprovalKind = "tool_call"   // let a tool run
	ApproveFix      ApprovalKind = "fix"         // try to fix a failed validation
	ApproveNode     ApprovalKind = "node"        // go into, or on from, a node of a graph
	ApproveQuestion ApprovalKind = "question"    // answer what an actor asks
	ApproveExec     ApprovalKind = "exec_config" // apply what runs by itself later
)

// ApprovalState is what a person said.
type ApprovalState string

// The states of an approval.
const (
	Open     ApprovalState = "open"
	Approved ApprovalState = "approved"
	Rejected ApprovalState = "rejected"
	Answered ApprovalState = "answered" // a question, and its answer waits for the actor
	Used     ApprovalState = "used"     // approved or answered, and the one use is spent
	Lapsed   ApprovalState = "lapsed"   // what it was bound to changed, or the plan ended
)

// Approval is one question to a person. It is bound to the hash of what was
// shown, can be used once, and is asked again when that changed.
type Approval struct {
	ID       ident.ApprovalID `json:"id"`
	Plan     ident.PlanID     `json:"plan"`
	Kind     ApprovalKind     `json:"kind"`
	Subject  string           `json:"subject"` // phase, decision id, tool call id or node
	Summary  string           `json:"summary"` // for a person
	Bound    string           `json:"bound"`   // hash of what was shown
	State    ApprovalState    `json:"state"`
	Guidance string           `json:"guidance,omitempty"` // from a rejection
	Note     string           `json:"note,omitempty"`
	Question string           `json:"question,omitempty"` // of an actor's, whole
	Choices  []string         `json:"choices,omitempty"`  // that the actor offers
	Choice   int              `json:"choice,omitempty"`   // the one taken, from 1; 0 is an answer in words
	Answer   string           `json:"answer,omitempty"`
	Created  time.Time        `json:"created"`
	Decided  *time.Time       `json:"decided,omitempty"`
}

// Event is one thing that happened to a plan. Seq is the order; the time is
// for people.
type Event struct {
	Plan ident.PlanID    `json:"plan"`
	Seq  int64           `json:"seq"` // from 1 within the plan, without gaps
	At   time.Time       `json:"at"`
	Type string          `json:"type"` // such as plan.state, decision.recorded, tool.finished
	Data json.RawMessage `json:"data"`
}
