package llm

import (
	"encoding/json"
	"strings"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/tool"
)

// chatRequest is a body of Chat Completions.
type chatRequest struct {
	Model               string          `json:"model"`
	Messages            []chatMessage   `json:"messages"`
	Stream              bool            `json:"stream"`
	StreamOptions       *chatStream     `json:"stream_options,omitempty"`
	Temperature         *float64        `json:"temperature,omitempty"`
	MaxTokens           int             `json:"max_tokens,omitempty"`
	MaxCompletionTokens int             `json:"max_completion_tokens,omitempty"`
	ResponseFormat      *responseFormat `json:"response_format,omitempty"`
	Tools               []chatTool      `json:"tools,omitempty"`
}

type chatStream struct {
	IncludeUsage bool `json:"include_usage"`
}

type responseFormat struct {
	Type       string     `json:"type"`
	JSONSchema jsonSchema `json:"json_schema"`
}

type jsonSchema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Strict bool            `json:"strict"`
}

type chatMessage struct {
	Role       string     `json:"role"`
	Reasoning  string     `json:"reasoning_content,omitempty"`
	Content    *string    `json:"content"` // null beside tool calls only
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type chatCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type chatTool struct {
	Type     string       `json:"type"`
	Function functionTool `json:"function"`
}

// functionTool is a tool as OpenAI's two formats tell it.
type functionTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

func function(s tool.Spec) functionTool {
	return functionTool{Name: WireName(s.Name), Description: s.Description, Parameters: s.Input}
}

// answerName names the schema of a structured answer, where a name is asked for.
const answerName = "answer"

func composeChat(r actor.Request, _ composeOptions) (any, error) {
	out := chatBody(r)
	out.MaxTokens = r.MaxTokens
	return out, nil
}

// composeOpenAIChat is for OpenAI itself and Azure: another name for the limit,
// no reasoning, which they refuse, and no temperature where the model thinks.
func composeOpenAIChat(r actor.Request, o composeOptions) (any, error) {
	out := chatBody(r)
	out.MaxCompletionTokens = r.MaxTokens
	for i := range out.Messages {
		out.Messages[i].Reasoning = ""
	}
	if o.reasons {
		out.Temperature = nil
	}
	return out, nil
}

func chatBody(r actor.Request) chatRequest {
	out := chatRequest{
		Model: r.Model, Stream: true, StreamOptions: &chatStream{true}, Temperature: r.Temperature,
		Messages: make([]chatMessage, 0, len(r.Messages)),
	}
	for _, m := range r.Messages {
		text := m.Text()
		c := chatMessage{Role: string(m.Role), Content: &text, ToolCallID: m.ToolCallID, Reasoning: m.Thinking}
		if text == "" && len(m.ToolCalls) > 0 {
			c.Content = nil
		}
		for _, t := range m.ToolCalls {
			c.ToolCalls = append(c.ToolCalls, chatCall{t.ID, "function", chatFunction{WireName(t.Name), t.Arguments}})
		}
		out.Messages = append(out.Messages, c)
	}
	for _, s := range r.Tools {
		out.Tools = append(out.Tools, chatTool{"function", function(s)})
	}
	if len(r.Output) > 0 {
		out.ResponseFormat = &responseFormat{"json_schema", jsonSchema{Name: answerName, Schema: r.Output, Strict: true}}
	}
	return out
}

// joinURL puts a path with a query behind a base URL, which may have a query of
// its own: then that one counts.
func joinURL(base, path string) string {
	base, query, has := strings.Cut(base, "?")
	p, own, _ := strings.Cut(path, "?")
	if !has {
		query = own
	}
	out := strings.TrimSuffix(base, "/") + p
	if query != "" {
		out += "?" + query
	}
	return out
}
