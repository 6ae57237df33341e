package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"charm.land/fantasy"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/tool"
)

// newCall turns a request into fantasy's. One message becomes one message
// with one text, so that fantasy, which puts line ends between several, adds
// nothing; and what fantasy would drop is refused here.
func newCall(r actor.Request, names toolNames) (fantasy.Call, error) {
	call := fantasy.Call{Temperature: r.Temperature}
	if r.MaxTokens > 0 {
		n := int64(r.MaxTokens)
		call.MaxOutputTokens = &n
	}
	for i, m := range r.Messages {
		fm, err := newMessage(m)
		if err != nil {
			return fantasy.Call{}, fault.New(fault.Invalid, "message %d (%s): %w", i, m.Role, err)
		}
		call.Prompt = append(call.Prompt, fm)
	}
	for _, s := range r.Tools {
		t, err := newTool(s)
		if err != nil {
			return fantasy.Call{}, fault.New(fault.Invalid, "tool %s: %w", s.Name, err)
		}
		call.Tools = append(call.Tools, t)
	}
	return call, nil
}

func newMessage(m actor.Message) (fantasy.Message, error) {
	text := m.Text()
	if !utf8.ValidString(text) || !utf8.ValidString(m.Thinking) {
		return fantasy.Message{}, errors.New("its text is not UTF-8")
	}
	switch m.Role {
	case actor.System:
		if strings.TrimSpace(text) == "" {
			return fantasy.Message{}, errors.New("it is empty, and an empty system message is not sent")
		}
		return message(fantasy.MessageRoleSystem, fantasy.TextPart{Text: text}), nil
	case actor.User:
		return message(fantasy.MessageRoleUser, fantasy.TextPart{Text: text}), nil
	case actor.Assistant:
		return assistant(m, text)
	case actor.ToolRole:
		if m.ToolCallID == "" {
			return fantasy.Message{}, errors.New("it does not say which call it answers")
		}
		return message(fantasy.MessageRoleTool, fantasy.ToolResultPart{ToolCallID: m.ToolCallID, Output: fantasy.ToolResultOutputContentText{Text: text}}), nil
	}
	return fantasy.Message{}, errors.New("unknown role")
}

func assistant(m actor.Message, text string) (fantasy.Message, error) {
	var parts []fantasy.MessagePart
	if text != "" || len(m.ToolCalls) == 0 { // without either the message would be dropped
		parts = append(parts, fantasy.TextPart{Text: text})
	}
	if m.Thinking != "" {
		parts = append(parts, fantasy.ReasoningPart{Text: m.Thinking})
	}
	for _, c := range m.ToolCalls {
		if !utf8.ValidString(c.Arguments) {
			return fantasy.Message{}, errors.New("the arguments of a call are not UTF-8")
		}
		parts = append(parts, fantasy.ToolCallPart{ToolCallID: c.ID, ToolName: WireName(c.Name), Input: c.Arguments})
	}
	return message(fantasy.MessageRoleAssistant, parts...), nil
}

func message(role fantasy.MessageRole, parts ...fantasy.MessagePart) fantasy.Message {
	return fantasy.Message{Role: role, Content: parts}
}

func newTool(s tool.Spec) (fantasy.FunctionTool, error) {
	if !utf8.ValidString(s.Description) {
		return fantasy.FunctionTool{}, errors.New("its description is not UTF-8")
	}
	schema := map[string]any{}
	d := json.NewDecoder(bytes.NewReader(s.Input))
	d.UseNumber()
	if err := d.Decode(&schema); err != nil {
		return fantasy.FunctionTool{}, errors.New("its input is not a JSON Schema object")
	}
	exact(schema)
	return fantasy.FunctionTool{Name: WireName(s.Name), Description: s.Description, InputSchema: schema}, nil
}

// exact replaces every number under v by its JSON as it was written: fantasy's
// SDK would round a float64 and send a json.Number as a string.
func exact(v any) any {
	switch v := v.(type) {
	case json.Number:
		return json.RawMessage(v)
	case map[string]any:
		for k := range v {
			v[k] = exact(v[k])
		}
	case []any:
		for i := range v {
			v[i] = exact(v[i])
		}
	}
	return v
}
