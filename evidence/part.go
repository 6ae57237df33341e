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
	PartText        PartKind = "text"        // content, text; system, instructions, output and response where they hold texts
	PartThinking    PartKind = "thinking"    // reasoning_content, reasoning, thinking; a text in a summary
	PartArguments   PartKind = "arguments"   // arguments; input, args: a string or a JSON value
	PartDescription PartKind = "description" // description, but not inside a schema
	PartSchema      PartKind = "schema"      // parameters, input_schema, parametersJsonSchema: a JSON value, not a string
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
// for each tool its description and its schema in compact JSON. A piece
// keeps its slot, origin and reason.
func Parts(r actor.Request) []Part { return newTexts(nil).parts(r) }

func (t *texts) parts(r actor.Request) []Part {
	n := 2 * len(r.Tools)
	for _, m := range r.Messages {
		n += len(m.Pieces) + 1 + len(m.ToolCalls)
	}
	out := make([]Part, 0, n)
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
	for _, s := range r.Tools {
		add(Part{Kind: PartDescription, Slot: "tool", Origin: "tool:" + s.Name, Text: s.Description})
		value++
		add(Part{Kind: PartSchema, Slot: "tool", Origin: "tool:" + s.Name, Text: schema(s)})
		value++
	}
	return out
}

// schema is the input schema of a tool without the space between its parts;
// its members stay in the order in which they were written.
func schema(s tool.Spec) string {
	v := jsontext.Value(append([]byte(nil), s.Input...))
	if v.Compact() != nil {
		return string(s.Input) // not JSON: it will be reported as not found
	}
	return string(v)
}
