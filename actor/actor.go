// Package actor is the configuration of who does the work: one model with
// instructions and tools, or a graph of tool nodes that needs no model at all.
// It also holds the words of a conversation with a model.
package actor

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/cleveragents/agents/decode"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
)

// Config is an actor. Exactly one of Model and Graph is set.
type Config struct {
	Name        string   `json:"name" yaml:"name"`
	Description string   `json:"description,omitempty" yaml:"description,omitempty"`
	Provider    string   `json:"provider,omitempty" yaml:"provider,omitempty"`
	Model       string   `json:"model,omitempty" yaml:"model,omitempty"`
	Prompt      string   `json:"prompt,omitempty" yaml:"prompt,omitempty"` // system instructions
	Temperature *float64 `json:"temperature,omitempty" yaml:"temperature,omitempty"`
	MaxTokens   int      `json:"max_tokens,omitempty" yaml:"max_tokens,omitempty"`
	MaxTurns    int      `json:"max_turns,omitempty" yaml:"max_turns,omitempty"` // model calls in one phase; 0 means DefaultMaxTurns
	// Tools are the tools offered to the model; absent means all built-in ones.
	// What a phase forbids is left out whatever is listed.
	Tools *[]string `json:"tools,omitzero" yaml:"tools,omitempty"`
	Graph []Node    `json:"graph,omitempty" yaml:"graph,omitempty"`
}

// DefaultMaxTurns bounds the model calls of one actor in one phase.
const DefaultMaxTurns = 100

// Node is one step of a graph actor: a tool with its arguments. Texts inside
// With may use {{args.NAME}}, {{action.description}} and {{plan.prompt}}.
type Node struct {
	ID   string         `json:"id" yaml:"id"`
	Tool string         `json:"tool" yaml:"tool"`
	With map[string]any `json:"with,omitempty" yaml:"with,omitempty"`
	// Next is the node to go to after a tool that ended ok; absent means the
	// one below, "end" ends the graph.
	Next string `json:"next,omitempty" yaml:"next,omitempty"`
	// OnError is the node to go to after any other status; absent means that
	// the phase fails.
	OnError string `json:"on_error,omitempty" yaml:"on_error,omitempty"`
}

// End is the name of the node after the last one.
const End = "end"

// Parse reads an actor from YAML and checks it.
func Parse(file string, data []byte) (Config, error) {
	var c Config
	if err := decode.YAML(file, data, &c); err != nil {
		return Config{}, err
	}
	name, err := ident.Canonical(c.Name)
	if err != nil {
		return Config{}, fault.New(fault.Invalid, "%s: %w", decode.At(file, data, "name"), err)
	}
	c.Name = name
	if key, err := c.check(); err != nil {
		return Config{}, fault.New(fault.Invalid, "%s: %w", decode.At(file, data, key...), err)
	}
	return c, nil
}

// Validate checks what holds between the keys.
func (c Config) Validate() error {
	_, err := c.check()
	return err
}

// check returns the first fault and the path of the key that causes it.
func (c Config) check() (key []string, err error) {
	switch {
	case (c.Model == "") == (len(c.Graph) == 0):
		return []string{"graph"}, fault.New(fault.Invalid, "actor %s: give either a model or a graph", c.Name)
	case c.Model != "" && c.Provider == "":
		return []string{"model"}, fault.New(fault.Invalid, "actor %s: a model needs a provider", c.Name)
	case c.Temperature != nil && !(*c.Temperature >= 0 && *c.Temperature <= 2):
		return []string{"temperature"}, fault.New(fault.Invalid, "actor %s: temperature %v is not from 0 to 2", c.Name, *c.Temperature)
	case c.MaxTokens < 0:
		return []string{"max_tokens"}, fault.New(fault.Invalid, "actor %s: max_tokens is negative", c.Name)
	case c.MaxTurns < 0:
		return []string{"max_turns"}, fault.New(fault.Invalid, "actor %s: max_turns is negative", c.Name)
	}
	return c.checkGraph()
}

func (c Config) checkGraph() ([]string, error) {
	seen := map[string]int{}
	for i, n := range c.Graph {
		key := []string{"graph", strconv.Itoa(i)}
		if n.ID == "" || n.ID == End || n.Tool == "" {
			return key, fault.New(fault.Invalid, "actor %s: node %d needs an id (not %q) and a tool", c.Name, i+1, End)
		}
		if at, ok := seen[n.ID]; ok {
			return key, fault.New(fault.Invalid, "actor %s: nodes %d and %d are both called %q", c.Name, at+1, i+1, n.ID)
		}
		seen[n.ID] = i
	}
	for i, n := range c.Graph {
		for _, to := range []struct{ key, node string }{{"next", n.Next}, {"on_error", n.OnError}} {
			if _, ok := seen[to.node]; to.node != "" && to.node != End && !ok {
				return []string{"graph", strconv.Itoa(i), to.key},
					fault.New(fault.Invalid, "actor %s: node %s goes to %q, which is not a node", c.Name, n.ID, to.node)
			}
		}
	}
	return nil, nil
}

// IsGraph reports whether the actor works without a model.
func (c Config) IsGraph() bool { return len(c.Graph) > 0 }

// After returns the id of the node that follows id when its tool ended well or
// not, and whether an ending that is not well may go on at all.
func (c Config) After(id string, ok bool) (next string, goesOn bool) {
	for i, n := range c.Graph {
		if n.ID != id {
			continue
		}
		if !ok {
			return n.OnError, n.OnError != ""
		}
		if n.Next != "" {
			return n.Next, true
		}
		if i+1 < len(c.Graph) {
			return c.Graph[i+1].ID, true
		}
		return End, true
	}
	return End, false
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

// Arguments returns the node's arguments as JSON with every {{name}} in a text
// replaced by the value of that name. An unknown name is an error.
func (n Node) Arguments(values map[string]string) (string, error) {
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

func fill(v any, values map[string]string) (any, error) {
	switch v := v.(type) {
	case string:
		return Expand(v, values)
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

// MaxExpanded is the largest text that Expand makes, in bytes.
const MaxExpanded = 16 << 20

// Expand replaces every {{name}} in s by its value. Values are inserted as they
// are and never expanded again, so an argument cannot smuggle in another name.
// A result of more than MaxExpanded bytes is an error.
func Expand(s string, values map[string]string) (string, error) {
	var b strings.Builder
	for {
		i := strings.Index(s, "{{")
		if i < 0 {
			if b.Len()+len(s) > MaxExpanded {
				return "", fault.New(fault.Invalid, "the text grows beyond %d bytes", MaxExpanded)
			}
			b.WriteString(s)
			return b.String(), nil
		}
		j := strings.Index(s[i:], "}}")
		if j < 0 {
			return "", fault.New(fault.Invalid, "%.40q: {{ without }}", s[i:])
		}
		name := strings.TrimSpace(s[i+2 : i+j])
		value, ok := values[name]
		if !ok {
			return "", fault.New(fault.Invalid, "{{%s}}: no such value", name)
		}
		if b.Len()+i+len(value) > MaxExpanded {
			return "", fault.New(fault.Invalid, "{{%s}}: the text grows beyond %d bytes", name, MaxExpanded)
		}
		b.WriteString(s[:i])
		b.WriteString(value)
		s = s[i+j+2:]
	}
}
