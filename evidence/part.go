package evidence

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/tool"
)

// PartKind says at which places of a request body a part may stand.
type PartKind string

// The kinds of part, each with the JSON keys whose values can hold it.
const (
	PartText        PartKind = "text"        // content, text
	PartThinking    PartKind = "thinking"    // reasoning_content, reasoning, thinking
	PartArguments   PartKind = "arguments"   // arguments
	PartDescription PartKind = "description" // description, but not inside a schema
	PartSchema      PartKind = "schema"      // parameters, input_schema: a JSON value, not a string
)

// Part is one text of a composed request that has to be found in the body
// that was sent. Parts with the same Value number were composed into one
// value, one after the other with nothing between.
type Part struct {
	Kind   PartKind
	Value  int
	Role   actor.Role // "" for a tool's
	Slot   string
	Origin string
	Reason string
	Text   string
}

// Parts lists what r consists of in the order in which it was composed: for
// each message its pieces, its thinking and the arguments of its calls, then
// for each tool its description and its schema in canonical JSON. A piece
// keeps its slot, origin and reason.
func Parts(r actor.Request) []Part {
	var out []Part
	value := 0
	add := func(p Part) {
		p.Value = value
		out = append(out, p)
	}
	for _, m := range r.Messages {
		for _, p := range m.Pieces {
			add(Part{Kind: PartText, Role: m.Role, Slot: p.Slot, Origin: p.Origin, Reason: p.Reason, Text: p.Text})
		}
		value++
		if m.Thinking != "" {
			add(Part{Kind: PartThinking, Role: m.Role, Slot: "thinking", Text: m.Thinking})
			value++
		}
		for _, c := range m.ToolCalls {
			add(Part{Kind: PartArguments, Role: m.Role, Slot: "tool_call", Origin: "tool_call:" + c.ID, Text: c.Arguments})
			value++
		}
	}
	for _, t := range r.Tools {
		add(Part{Kind: PartDescription, Slot: "tool", Origin: "tool:" + t.Name, Text: t.Description})
		value++
		add(Part{Kind: PartSchema, Slot: "tool", Origin: "tool:" + t.Name, Text: schemaText(t)})
		value++
	}
	return out
}

func schemaText(t tool.Spec) string {
	c, ok := canonical(t.Input)
	if !ok {
		return string(t.Input) // not JSON: it will be reported as not found
	}
	return string(c)
}

// canonical returns raw as compact JSON with sorted members, its numbers as
// written; ok is false when raw is not one JSON value.
func canonical(raw []byte) (c []byte, ok bool) {
	v := jsontext.Value(append([]byte(nil), raw...))
	err := v.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
	return v, err == nil
}
