package llm

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
)

// responsesReader reads the events of OpenAI's Responses. What counts is the
// items that are told as done; the pieces before are for whoever watches, and
// the terminal event has to name as many.
type responsesReader struct {
	text  strings.Builder // as it came in pieces
	items []responsesItem
	raw   []json.RawMessage // the items as they came
	added int
	end   *responsesEnd
	kind  string // of the terminal event
}

type responsesItem struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Content   []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
	Summary []struct {
		Text string `json:"text"`
	} `json:"summary"`
	Encrypted string `json:"encrypted_content"`
}

type responsesEnd struct {
	Model      string            `json:"model"`
	Status     string            `json:"status"`
	Output     []json.RawMessage `json:"output"`
	Error      json.RawMessage   `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage *struct {
		Input   int64 `json:"input_tokens"`
		Output  int64 `json:"output_tokens"`
		Details struct {
			Cached *int64 `json:"cached_tokens"`
		} `json:"input_tokens_details"`
		Spent struct {
			Reasoning *int64 `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	} `json:"usage"`
}

func newResponsesReader() reader { return &responsesReader{} }

func (a *responsesReader) event(data []byte) (string, error) {
	if a.end != nil || strings.HasPrefix(string(data), "[DONE]") {
		return "", nil
	}
	if err := checkEvent(data); err != nil {
		return "", err
	}
	var e struct {
		Type     string          `json:"type"`
		Delta    json.RawMessage `json:"delta"`
		Item     json.RawMessage `json:"item"`
		Response *responsesEnd   `json:"response"`
		Code     string          `json:"code"`
		Message  string          `json:"message"`
		Error    json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return "", fault.New(fault.Unavailable, "an event is not valid: %w", err)
	}
	switch e.Type {
	case "error":
		if !isError(e.Error) {
			e.Error, _ = json.Marshal(map[string]string{"message": e.Message, "code": e.Code})
		}
		return "", inBand(e.Error)
	case "response.failed":
		if e.Response != nil && isError(e.Response.Error) {
			return "", inBand(e.Response.Error)
		}
		return "", fault.New(fault.Unavailable, "the provider says that it failed midway")
	case "response.output_item.added":
		if a.added++; a.added > maxCalls {
			return "", tooManyCalls()
		}
	case "response.output_text.delta":
		var s string
		if err := json.Unmarshal(e.Delta, &s); err != nil {
			return "", fault.New(fault.Unavailable, "an event is not valid: %w", err)
		}
		a.text.WriteString(s)
		return s, nil
	case "response.output_item.done":
		var it responsesItem
		if err := json.Unmarshal(e.Item, &it); err != nil {
			return "", fault.New(fault.Unavailable, "an event is not valid: %w", err)
		}
		a.items, a.raw = append(a.items, it), append(a.raw, e.Item)
		if len(a.items) > maxCalls {
			return "", tooManyCalls()
		}
	case "response.completed", "response.incomplete":
		if e.Response == nil {
			return "", fault.New(fault.Unavailable, "its terminal event is empty")
		}
		a.end, a.kind = e.Response, e.Type
	}
	return "", nil
}

func (a *responsesReader) whole() error {
	switch {
	case a.end == nil:
		return errors.New("it ends without its terminal event")
	case a.kind == "response.completed" && len(a.end.Output) > 0 && len(a.end.Output) != len(a.items):
		return errors.New("its terminal event names other items than came")
	case a.kind == "response.completed" && a.added > len(a.items):
		return errors.New("an item of it has no end")
	case a.kind == "response.completed" && a.said() != a.text.String():
		return errors.New("it reads as two different texts")
	case a.kind == "response.incomplete" && a.end.Incomplete.Reason != "max_output_tokens" && a.end.Incomplete.Reason != "content_filter":
		return errors.New("the provider says that it is incomplete: " + shorten(a.end.Incomplete.Reason))
	}
	return nil
}

// said is the text of the items.
func (a *responsesReader) said() string {
	var b strings.Builder
	for _, it := range a.items {
		for _, c := range it.Content {
			if it.Type == "message" && c.Type == "output_text" {
				b.WriteString(c.Text)
			}
		}
	}
	return b.String()
}

func (a *responsesReader) response() actor.Response {
	r := actor.Response{
		Message: actor.Message{Role: actor.Assistant}, Model: a.end.Model,
		Usage: actor.Usage{Input: -1, Output: -1, CacheRead: -1, CacheWrite: -1, Reasoning: -1},
	}
	text, thinking, refused := a.text.String(), "", false
	var back []json.RawMessage
	ids := uniqueIDs{taken: map[string]int{}}
	open := true // every thought so far can go back
	for i, it := range a.items {
		switch it.Type {
		case "function_call":
			r.Message.ToolCalls = append(r.Message.ToolCalls, actor.ToolCall{ID: ids.of(it.CallID, i), Name: it.Name, Arguments: it.Arguments})
		case "reasoning":
			for _, s := range it.Summary {
				thinking += s.Text
			}
			if it.Encrypted == "" {
				open = false // only what is sealed can be sent back: nothing is stored there
			} else {
				back = append(back, a.raw[i])
			}
		case "message":
			for _, c := range it.Content {
				if c.Type == "refusal" {
					text, refused = text+c.Refusal, true
				}
			}
		}
	}
	if text != "" {
		r.Message.Pieces = []actor.Piece{{Slot: "message", Text: text}}
	}
	if len(back) > 0 && open {
		r.Message.Thinking, r.Message.Sealed = thinking, seal(Responses, back)
	} else {
		r.Thoughts = thinking
	}
	if u := a.end.Usage; u != nil {
		r.Usage.Input, r.Usage.Output = u.Input, u.Output
		if u.Details.Cached != nil {
			r.Usage.CacheRead, r.Usage.Input = *u.Details.Cached, max(u.Input-*u.Details.Cached, 0)
		}
		if u.Spent.Reasoning != nil {
			r.Usage.Reasoning = *u.Spent.Reasoning
		}
	}
	switch {
	case a.end.Incomplete.Reason == "content_filter", refused:
		r.Stop = actor.StopRefused
	case a.kind == "response.incomplete":
		r.Stop = actor.StopLength
	case len(r.Message.ToolCalls) > 0:
		r.Stop = actor.StopTools
	default:
		r.Stop = actor.StopEnd
	}
	return r
}
