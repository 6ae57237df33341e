package a2a

func sandboxOps() []Info { return []Info{SandboxExec().info()} }

// SandboxExec runs a program as those of plans are run. What it prints comes as
// events of type sandbox.output (SandboxOutput).
func SandboxExec() Op[SandboxExecRequest, SandboxExecView] {
	return Op[SandboxExecRequest, SandboxExecView]{Method: prefix + "sandbox/exec", Role: Writer, Streams: true, Doc: "run a program in the sandbox"}
}

// SandboxExecRequest is a program with the tree that it sees: a throw-away copy
// of the project's first resource, that resource itself when it may change
// nothing, or the sandbox of a plan, which it cannot change.
type SandboxExecRequest struct {
	Project  string   `json:"project,omitempty"`
	Plan     string   `json:"plan,omitempty"`
	Argv     []string `json:"argv"`
	Network  string   `json:"network,omitempty"` // as policy.ParseNetwork reads it; "" is nothing
	ReadOnly bool     `json:"read_only,omitempty"`
}

// SandboxOutput is the data of an event sandbox.output.
type SandboxOutput struct {
	Bytes []byte `json:"bytes"`
}

// SandboxExecView is how the program ended.
type SandboxExecView struct {
	Exit    int        `json:"exit"`
	Backend string     `json:"backend"`           // what confined it
	Stopped string     `json:"stopped,omitempty"` // why it was ended
	Refused []string   `json:"refused,omitempty"` // host:port that it may not reach
	Changed []FileStat `json:"changed,omitempty"` // of the copy, which is gone
}
