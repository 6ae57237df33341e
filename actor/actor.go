// Package actor is the configuration of who does the work: one model with
// instructions and tools, or a graph whose nodes are models, tools and other
// actors. It also holds the words of a conversation with a model.
//
// A graph is data: an edge holds or not by conditions over the state that its
// nodes saved (condition.go, state.go), never by code. Flatten inlines the
// actors that a graph names, so that what runs is one list of nodes. A graph
// that was read by Parse has no node that cannot be reached and none that
// cannot reach the end; that a run ends is not promised, since conditions may
// never hold, and is bounded by the engine.
package actor

import (
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
	// MaxContext bounds the tokens of a prompt, below what the model takes; 0
	// leaves it at that.
	MaxContext int `json:"max_context,omitempty" yaml:"max_context,omitempty"`
	// MaxTurns bounds the model calls of one phase or, of a graph, the nodes
	// that are entered in it; 0 means DefaultMaxTurns.
	MaxTurns int `json:"max_turns,omitempty" yaml:"max_turns,omitempty"`
	// Tools are the tools offered to the model; absent means all built-in ones.
	// What a phase forbids is left out whatever is listed.
	Tools *[]string `json:"tools,omitzero" yaml:"tools,omitempty"`
	// State declares what the nodes of a graph may save.
	State map[string]Key `json:"state,omitempty" yaml:"state,omitempty"`
	Graph []Node         `json:"graph,omitempty" yaml:"graph,omitempty"`
}

// DefaultMaxTurns bounds the model calls of one actor in one phase, and the
// nodes that a graph enters.
const DefaultMaxTurns = 100

// DefaultModel is the name of the model that is chosen when a plan is made.
const DefaultModel = "default"

// Parse reads an actor from YAML and checks it. Errors carry the file and the
// line of the key that is wrong.
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
		return Config{}, at(file, data, key, err)
	}
	return c, nil
}

func at(file string, data []byte, key []string, err error) error {
	f := fault.As(err)
	out := fault.New(f.Kind, "%s: %w", decode.At(file, data, key...), err)
	if f.Hint != "" {
		out = out.WithHint("%s", f.Hint)
	}
	return out
}

// Validate checks what holds between the keys.
func (c Config) Validate() error {
	_, err := c.check()
	return err
}

// check returns the first fault and the path of the key that causes it.
func (c Config) check() (key []string, err error) {
	if (c.Model == "") == (len(c.Graph) == 0) {
		return []string{"graph"}, fault.New(fault.Invalid, "actor %s: give either a model or a graph", c.Name)
	}
	if c.Model != "" {
		if len(c.State) > 0 {
			return []string{"state"}, fault.New(fault.Invalid, "actor %s: only a graph has a state", c.Name)
		}
		key, err = c.Single().check()
		if len(key) > 0 && key[0] == "name" {
			key = []string{"model"}
		}
		if err != nil {
			err = fault.New(fault.Invalid, "actor %s: %w", c.Name, err)
		}
		return key, err
	}
	for _, o := range []struct {
		key   string
		given bool
	}{
		{"provider", c.Provider != ""}, {"prompt", c.Prompt != ""}, {"temperature", c.Temperature != nil},
		{"max_tokens", c.MaxTokens != 0}, {"max_context", c.MaxContext != 0}, {"tools", c.Tools != nil},
	} {
		if o.given {
			return []string{o.key}, fault.New(fault.Invalid, "actor %s: %s belongs to the model of a node, not to a graph", c.Name, o.key)
		}
	}
	if c.MaxTurns < 0 {
		return []string{"max_turns"}, fault.New(fault.Invalid, "actor %s: max_turns is negative", c.Name)
	}
	return c.checkGraph()
}

// IsGraph reports whether the actor is a graph of nodes.
func (c Config) IsGraph() bool { return len(c.Graph) > 0 }

// Single is the model of an actor that is no graph.
func (c Config) Single() Model {
	return Model{
		Provider: c.Provider, Name: c.Model, Prompt: c.Prompt, Temperature: c.Temperature,
		MaxTokens: c.MaxTokens, MaxContext: c.MaxContext, MaxTurns: c.MaxTurns, Tools: c.Tools,
	}
}

// Models returns every model that the actor asks by itself, in the order of
// its nodes.
func (c Config) Models() []Model {
	if !c.IsGraph() {
		return []Model{c.Single()}
	}
	var out []Model
	for _, n := range c.Graph {
		if n.Model != nil {
			out = append(out, *n.Model)
		}
	}
	return out
}

// ToolNames returns every tool that the actor names, in the order of its nodes.
func (c Config) ToolNames() []string {
	var out []string
	for _, m := range c.Models() {
		if m.Tools != nil {
			out = append(out, *m.Tools...)
		}
	}
	for _, n := range c.Graph {
		if n.Tool != "" {
			out = append(out, n.Tool)
		}
	}
	return out
}

// WithDefault returns the actor with this model wherever it names the default
// one. Nothing else of it changes.
func (c Config) WithDefault(provider, model string) Config {
	if c.Model == DefaultModel && c.Provider == "" {
		c.Provider, c.Model = provider, model
	}
	nodes := make([]Node, len(c.Graph))
	for i, n := range c.Graph {
		if n.Model != nil && n.Model.IsDefault() {
			m := *n.Model
			m.Provider, m.Name = provider, model
			n.Model = &m
		}
		nodes[i] = n
	}
	if len(nodes) > 0 {
		c.Graph = nodes
	}
	return c
}

// UsesDefault reports whether the actor names the default model.
func (c Config) UsesDefault() bool {
	for _, m := range c.Models() {
		if m.IsDefault() {
			return true
		}
	}
	return false
}

// IsBare reports whether the actor is a model and nothing more: it has no
// instructions and no tools of its own.
func (c Config) IsBare() bool {
	return c.Model != "" && !c.IsGraph() && c.Prompt == "" && c.Tools == nil
}

// Model is a model with instructions and tools: one node of a graph, or a whole
// actor.
type Model struct {
	Provider    string    `json:"provider,omitempty" yaml:"provider,omitempty"`
	Name        string    `json:"name" yaml:"name"` // as its provider calls it, or DefaultModel
	Prompt      string    `json:"prompt,omitempty" yaml:"prompt,omitempty"`
	Temperature *float64  `json:"temperature,omitempty" yaml:"temperature,omitempty"`
	MaxTokens   int       `json:"max_tokens,omitempty" yaml:"max_tokens,omitempty"`
	MaxContext  int       `json:"max_context,omitempty" yaml:"max_context,omitempty"` // tokens of a prompt; 0 is what the model takes
	MaxTurns    int       `json:"max_turns,omitempty" yaml:"max_turns,omitempty"`     // model calls of one visit; 0 means DefaultMaxTurns
	Tools       *[]string `json:"tools,omitzero" yaml:"tools,omitempty"`
}

// IsDefault reports whether the model is to be chosen when a plan is made.
func (m Model) IsDefault() bool { return m.Provider == "" && m.Name == DefaultModel }

// Turns is the most calls of one visit.
func (m Model) Turns() int {
	if m.MaxTurns > 0 {
		return m.MaxTurns
	}
	return DefaultMaxTurns
}

func (m Model) check() (key []string, err error) {
	switch {
	case m.Name == "":
		return []string{"name"}, fault.New(fault.Invalid, "a model needs a name")
	case m.Provider == "" && !m.IsDefault():
		return []string{"name"}, fault.New(fault.Invalid, "a model needs a provider").
			WithHint("or take the model %s, which is chosen when a plan is made", DefaultModel)
	case m.Temperature != nil && !(*m.Temperature >= 0 && *m.Temperature <= 2):
		return []string{"temperature"}, fault.New(fault.Invalid, "temperature %v is not from 0 to 2", *m.Temperature)
	case m.MaxTokens < 0:
		return []string{"max_tokens"}, fault.New(fault.Invalid, "max_tokens is negative")
	case m.MaxContext < 0:
		return []string{"max_context"}, fault.New(fault.Invalid, "max_context is negative")
	case m.MaxTurns < 0:
		return []string{"max_turns"}, fault.New(fault.Invalid, "max_turns is negative")
	}
	return nil, nil
}
