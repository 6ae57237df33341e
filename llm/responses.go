package llm

import (
	"encoding/json"

	"github.com/cleveragents/agents/actor"
)

// responsesRequest is a body of OpenAI's Responses. Nothing is stored there:
// the whole conversation goes with each request, the reasoning as the sealed
// items in which it came.
type responsesRequest struct {
	Model        string          `json:"model"`
	Instructions string          `json:"instructions,omitempty"`
	Input        []any           `json:"input"`
	Tools        []responsesTool `json:"tools,omitempty"`
	Temperature  *float64        `json:"temperature,omitempty"`
	MaxOutput    int             `json:"max_output_tokens,omitempty"`
	Text         *responsesText  `json:"text,omitempty"`
	Include      []string        `json:"include,omitempty"`
	Reasoning    *responsesThink `json:"reasoning,omitempty"`
	Store        bool            `json:"store"`
	Stream       bool            `json:"stream"`
}

type responsesThink struct {
	Summary string `json:"summary"`
}

type responsesText struct {
	Format responsesFormat `json:"format"`
}

type responsesFormat struct {
	Type string `json:"type"`
	jsonSchema
}

type responsesTool struct {
	Type string `json:"type"`
	functionTool
	Strict bool `json:"strict"`
}

type responsesMessage struct {
	Type    string             `json:"type"`
	Role    string             `json:"role"`
	Content []responsesContent `json:"content"`
}

type responsesContent struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type responsesCall struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type responsesResult struct {
	Type   string `json:"type"`
	CallID string `json:"call_id"`
	Output string `json:"output"`
}

func composeResponses(r actor.Request, o composeOptions) (any, error) {
	out := responsesRequest{Model: r.Model, Temperature: r.Temperature, MaxOutput: r.MaxTokens, Stream: true, Input: []any{}}
	if o.reasons {
		out.Temperature = nil // refused by models that think
		out.Include = []string{"reasoning.encrypted_content"}
		out.Reasoning = &responsesThink{Summary: "auto"}
	}
	say := func(role, kind, text string) {
		out.Input = append(out.Input, responsesMessage{"message", role, []responsesContent{{kind, text}}})
	}
	for i, m := range r.Messages {
		text := m.Text()
		switch m.Role {
		case actor.System:
			if i == 0 {
				out.Instructions = text
			} else {
				say("developer", "input_text", text)
			}
		case actor.User:
			say("user", "input_text", text)
		case actor.ToolRole:
			out.Input = append(out.Input, responsesResult{"function_call_output", m.ToolCallID, text})
		case actor.Assistant:
			var back []json.RawMessage
			unseal(m, Responses, &back)
			for _, item := range back {
				out.Input = append(out.Input, item)
			}
			if text != "" {
				say("assistant", "output_text", text)
			}
			for _, c := range m.ToolCalls {
				out.Input = append(out.Input, responsesCall{"function_call", c.ID, WireName(c.Name), c.Arguments})
			}
		}
	}
	for _, s := range r.Tools {
		out.Tools = append(out.Tools, responsesTool{"function", function(s), false})
	}
	if len(r.Output) > 0 {
		out.Text = &responsesText{responsesFormat{"json_schema", jsonSchema{answerName, r.Output, true}}}
	}
	return out, nil
}
