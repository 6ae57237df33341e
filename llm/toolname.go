package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
)

// maxWireName is the longest tool name that OpenAI takes.
const maxWireName = 64

// WireName returns the name under which a tool is offered on the wire, where
// only A-Z, a-z, 0-9, _ and - are allowed: a slash becomes two underscores,
// anything else an underscore, and a long name ends in a part of its hash.
// So builtin/read is builtin__read.
func WireName(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case r == '/':
			b.WriteString("__")
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			b.WriteRune(r)
		default:
			b.WriteByte('_')
		}
	}
	s := b.String()
	if s == "" {
		return "_"
	}
	if len(s) <= maxWireName {
		return s
	}
	h := sha256.Sum256([]byte(name))
	return s[:maxWireName-9] + "_" + hex.EncodeToString(h[:4])
}

// toolNames translates the names of one request, both ways.
type toolNames struct {
	names map[string]string // by wire name
}

// newToolNames knows the tools that r offers. Two that would have the same
// name on the wire are Invalid: a call could not be told apart.
func newToolNames(r actor.Request) (toolNames, error) {
	t := toolNames{names: make(map[string]string, len(r.Tools))}
	for _, s := range r.Tools {
		w := WireName(s.Name)
		if other, taken := t.names[w]; taken {
			return toolNames{}, fault.New(fault.Invalid, "the tools %s and %s are both %s for a model", other, s.Name, w).
				WithHint("leave one of them out of the actor's tools, or rename it")
		}
		t.names[w] = s.Name
	}
	return t, nil
}

// restore gives the calls the names of the tools. A name that was not offered
// stays as the model wrote it.
func (t toolNames) restore(calls []actor.ToolCall) {
	for i, c := range calls {
		if name, ok := t.names[c.Name]; ok {
			calls[i].Name = name
		}
	}
}
