package builtin

import (
	"fmt"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/tool"
)

const askSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["question"],
  "properties": {
    "question": {"type": "string", "minLength": 1, "description": "what you want to know, with what the person needs to answer it; at most %d bytes"},
    "choices": {"type": "array", "maxItems": %d, "items": {"type": "string", "minLength": 1}, "description": "answers to choose from, at most %d bytes each; none asks for words"}
  }
}`

// askTool only describes the tool: the engine brings the question to a person.
// It is read-only because it leaves the sandbox alone.
func askTool() entry {
	schema := fmt.Sprintf(askSchema, engine.MaxQuestion, engine.MaxChoices, engine.MaxChoice)
	return entry{spec: describe("ask", schema, tool.Capability{ReadOnly: true})}
}
