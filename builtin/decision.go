package builtin

import (
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/tool"
)

const decisionSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["type", "question", "chosen", "alternatives", "rationale"],
  "properties": {
    "type": {"type": "string", "description": "while strategizing: strategy_choice or resource_selection; while executing: implementation_choice, tool_invocation, error_recovery or validation_response"},
    "question": {"type": "string", "minLength": 1, "description": "what had to be decided"},
    "chosen": {"type": "string", "minLength": 1, "description": "the option taken"},
    "alternatives": {
      "type": "array",
      "description": "the options weighed and not taken; empty when there was none",
      "items": {
        "type": "object",
        "additionalProperties": false,
        "required": ["option"],
        "properties": {
          "option": {"type": "string", "minLength": 1},
          "why": {"type": "string", "description": "why it was not taken"}
        }
      }
    },
    "rationale": {"type": "string", "minLength": 1, "description": "why the chosen option is right here, from what was read"},
    "confidence": {"type": "number", "minimum": 0, "maximum": 1, "description": "how sure you are; kept as your claim"},
    "evidence": {"type": "array", "items": {"type": "string"}, "description": "the files, lines or messages that it rests on"},
    "parent": {"type": "string", "description": "id, or end of the id, of the decision that this one details; the strategy's root when not given"},
    "depends_on": {"type": "array", "items": {"type": "string"}, "description": "ids, or ends of ids, of other decisions that this one would change with"},
    "independent": {"type": "boolean", "description": "true when this decision stays right whatever becomes of its parent"}
  }
}`

// decisionTool only describes the tool: the engine keeps the decisions. It is
// read-only because it leaves the sandbox alone.
func decisionTool() entry {
	s := describe("record_decision", decisionSchema, tool.Capability{ReadOnly: true})
	return entry{spec: tool.Spec{Name: engine.RecordDecision, Description: s.Description, Input: s.Input, Capability: s.Capability}}
}
