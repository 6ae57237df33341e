// Package tool is the contract of a tool: what it is called, what it takes,
// what it may do, and what came of one call. The tools themselves live in the
// hands; this package has no I/O.
package tool

import (
	"encoding/json"

	"github.com/cleveragents/agents/fault"
)

// Capability is what a tool declares it may do. A tool that declares neither
// ReadOnly nor Writes is taken to write.
type Capability struct {
	ReadOnly       bool `json:"read_only"`
	Writes         bool `json:"writes"`
	Checkpointable bool `json:"checkpointable"`
	Unsafe         bool `json:"unsafe,omitempty"` // acts outside a sandbox
}

// Spec is a tool as a model and a person see it.
type Spec struct {
	Name        string          `json:"name"`        // such as builtin/edit
	Description string          `json:"description"` // what it does and how it fails, for the model
	Input       json.RawMessage `json:"input"`       // JSON Schema of the arguments, an object
	Capability  Capability      `json:"capability"`
}

// Status is how a call ended, or that it has not.
type Status string

// The seven statuses of a tool call.
const (
	Pending  Status = "pending"  // recorded, not started
	Waiting  Status = "waiting"  // a person has to allow it
	Running  Status = "running"  // started; after a crash it may or may not have acted
	OK       Status = "ok"       // done
	Failed   Status = "failed"   // the tool says no: a result for the model, not a fault
	Refused  Status = "refused"  // a guard, a schema or a person said no; nothing ran
	Exceeded Status = "exceeded" // a time, size or call limit ended it
)

// Done reports whether s is final.
func (s Status) Done() bool { return s != Pending && s != Waiting && s != Running }

// Result is what one call of a tool returns to the caller.
type Result struct {
	Status   Status   `json:"status"`
	Output   string   `json:"output"`             // text for the model, already capped
	Exit     *int     `json:"exit,omitempty"`     // exit status where a program ran
	Reported []string `json:"reported,omitempty"` // paths the tool says it wrote, slash-separated, relative to the sandbox
	Backend  string   `json:"backend,omitempty"`  // what confined the program that ran; "" where none did
	Spill    []byte   `json:"-"`                  // the whole output where Output was cut; stored as a blob and pageable
}

// Fail returns a result that tells the model what was wrong with its call.
func Fail(err error) Result {
	e := fault.As(err)
	text := "error: " + e.Msg
	if e.Hint != "" {
		text += "\n" + e.Hint
	}
	status := Failed
	switch e.Kind {
	case fault.Exhausted, fault.Timeout:
		status = Exceeded
	case fault.Blocked, fault.Denied:
		status = Refused
	}
	return Result{Status: status, Output: text}
}

// Mode says whether a failed validation blocks Apply.
type Mode string

// The two modes of a validation.
const (
	Required      Mode = "required"
	Informational Mode = "informational"
)

// Validation is a read-only check with a verdict. This first form runs a
// program in the sandbox: exit 0 is passed.
type Validation struct {
	Name    string   `json:"name" yaml:"name"`
	Mode    Mode     `json:"mode" yaml:"mode"`
	Command string   `json:"command,omitempty" yaml:"command,omitempty"` // sh -c script
	Argv    []string `json:"argv,omitempty" yaml:"argv,omitempty"`       // or a program and its arguments
	Timeout int      `json:"timeout_seconds,omitempty" yaml:"timeout_seconds,omitempty"`
}

// Verdict is how one run of a validation ended. CouldNotLook is not a failure
// of the work: the check itself did not run to its end.
type Verdict string

// The verdicts.
const (
	Passed       Verdict = "passed"
	NotPassed    Verdict = "failed"
	Skipped      Verdict = "skipped"
	CouldNotLook Verdict = "could_not_look"
)
