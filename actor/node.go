package actor

import (
	"encoding/json"

	"github.com/cleveragents/agents/fault"
)

// Node is one step of a graph: a tool with its arguments, a model that works
// until it says that it is done, or another actor. Texts inside With and Input
// may use {{args.NAME}}, {{action.description}}, {{plan.prompt}} and
// {{state.KEY.FIELD}}.
type Node struct {
	ID    string         `json:"id" yaml:"id"`
	Tool  string         `json:"tool,omitempty" yaml:"tool,omitempty"`
	With  map[string]any `json:"with,omitempty" yaml:"with,omitempty"`
	Model *Model         `json:"model,omitempty" yaml:"model,omitempty"`
	Actor string         `json:"actor,omitempty" yaml:"actor,omitempty"`
	// Input is said to a model when its node is entered; one that is entered
	// again is told in any case. An actor that is a graph has it as state.input.
	Input string `json:"input,omitempty" yaml:"input,omitempty"`
	// Save is the key of the state that takes what came of the node.
	Save string `json:"save,omitempty" yaml:"save,omitempty"`
	// Interrupt is Before or After: a person has to say yes there. OnReject is
	// the node to go to after a no; absent means that guidance goes to the model
	// that worked last, and a bare no pauses the plan.
	Interrupt Interrupt `json:"interrupt,omitempty" yaml:"interrupt,omitempty"`
	OnReject  string    `json:"on_reject,omitempty" yaml:"on_reject,omitempty"`
	// Edges lead on: the first that holds. Where none does, Next is the node to
	// go to; absent means the one below, "end" ends the graph.
	Edges []Edge `json:"edges,omitempty" yaml:"edges,omitempty"`
	Next  string `json:"next,omitempty" yaml:"next,omitempty"`
	// OnError is the node to go to after a tool that did not end ok, or a model
	// that took all its turns. Absent means the edges where there are some, and
	// else that the phase fails.
	OnError string `json:"on_error,omitempty" yaml:"on_error,omitempty"`

	// Scope and Enter are set by Flatten: whose state the node sees, as a prefix
	// of its keys, and the first node of the actor that the node stands for.
	Scope string `json:"scope,omitempty" yaml:"-"`
	Enter string `json:"enter,omitempty" yaml:"-"`
}

// End is the name of the node after the last one.
const End = "end"

// Interrupt is where a node asks a person.
type Interrupt string

// The places of an interrupt.
const (
	Before Interrupt = "before"
	After  Interrupt = "after"
)

// Edge leads to a node when all its conditions hold; one without conditions
// always does. A condition is under the path of what it looks at.
type Edge struct {
	When map[string]any `json:"when,omitempty" yaml:"when,omitempty"`
	To   string         `json:"to" yaml:"to"`
}

// Node returns the node of that id.
func (c Config) Node(id string) (Node, bool) {
	for _, n := range c.Graph {
		if n.ID == id {
			return n, true
		}
	}
	return Node{}, false
}

// After returns the id of the node that follows id when it ended well or not,
// and whether an ending that is not well may go on at all.
func (c Config) After(id string, ok bool, s State) (next string, goesOn bool) {
	for i, n := range c.Graph {
		if n.ID != id {
			continue
		}
		if !ok && n.OnError != "" {
			return n.OnError, true
		}
		for _, e := range n.Edges {
			if e.holds(s, n.Scope) {
				return e.To, true
			}
		}
		switch {
		case !ok && len(n.Edges) == 0:
			return "", false
		case n.Next != "":
			return n.Next, true
		case i+1 < len(c.Graph):
			return c.Graph[i+1].ID, true
		}
		return End, true
	}
	return End, false
}

// Arguments returns the node's arguments as JSON with every {{name}} in a text
// replaced by the value of that name. An unknown name is an error.
func (n Node) Arguments(values Values) (string, error) {
	filled, err := fill(n.With, values)
	if err != nil {
		return "", fault.New(fault.Invalid, "node %s: %w", n.ID, err)
	}
	b, err := json.Marshal(filled)
	if err != nil {
		return "", fault.New(fault.Invalid, "node %s: %w", n.ID, err)
	}
	return string(b), nil
}

// Said returns the node's input with every {{name}} replaced.
func (n Node) Said(values Values) (string, error) {
	text, err := values.Expand(n.Input)
	if err != nil {
		return "", fault.New(fault.Invalid, "node %s: input: %w", n.ID, err)
	}
	return text, nil
}

func fill(v any, values Values) (any, error) {
	switch v := v.(type) {
	case string:
		return values.Expand(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			f, err := fill(e, values)
			if err != nil {
				return nil, err
			}
			out[i] = f
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			f, err := fill(e, values)
			if err != nil {
				return nil, err
			}
			out[k] = f
		}
		return out, nil
	}
	return v, nil
}
