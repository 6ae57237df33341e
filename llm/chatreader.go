package llm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
)

// chatReader reads a stream of chat completion chunks.
type chatReader struct {
	oneWay   bool // thinking is told and not sent back
	thinking strings.Builder
	text     strings.Builder
	refusal  strings.Builder
	done     bool
	model    string
	finish   string
	calls    []*streamedCall
	latest   map[int]*streamedCall // the last call of each index
	usage    *chunkUsage
}

type streamedCall struct {
	id, name  string
	arguments strings.Builder
}

// chunk is what is read of one event.
type chunk struct {
	Model   string `json:"model"`
	Choices []struct {
		Index int `json:"index"`
		Delta struct {
			Content   string      `json:"content"`
			Refusal   string      `json:"refusal"`
			Reasoning string      `json:"reasoning_content"`
			Thinking  string      `json:"reasoning"` // as some servers call it
			ToolCalls []callDelta `json:"tool_calls"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *chunkUsage     `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type callDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type chunkUsage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Details    *struct {
		Cached  *int64 `json:"cached_tokens"`
		Written *int64 `json:"cache_write_tokens"` // OpenRouter's
	} `json:"prompt_tokens_details"`
	Spent *struct {
		Reasoning *int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func newChatReader() reader { return &chatReader{latest: map[int]*streamedCall{}} }

// newOpenAIChatReader is for those who do not take reasoning back.
func newOpenAIChatReader() reader {
	return &chatReader{latest: map[int]*streamedCall{}, oneWay: true}
}

// event adds one event.
func (a *chatReader) event(data []byte) (string, error) {
	if a.done {
		return "", nil
	}
	if bytes.HasPrefix(data, []byte("[DONE]")) {
		a.done = true
		return "", nil
	}
	if err := checkEvent(data); err != nil {
		return "", err
	}
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return "", fault.New(fault.Unavailable, "an event is not valid: %w", err)
	}
	if isError(c.Error) {
		return "", inBand(c.Error)
	}
	added := ""
	if c.Model != "" {
		a.model = c.Model
	}
	if c.Usage != nil {
		a.usage = c.Usage
	}
	for _, ch := range c.Choices {
		if ch.Index != 0 {
			return "", fault.New(fault.Unavailable, "it has more than one choice")
		}
		added += ch.Delta.Content
		a.text.WriteString(ch.Delta.Content)
		a.thinking.WriteString(cmp.Or(ch.Delta.Reasoning, ch.Delta.Thinking))
		a.refusal.WriteString(ch.Delta.Refusal)
		for _, d := range ch.Delta.ToolCalls {
			a.add(d)
		}
		if ch.FinishReason != "" {
			a.finish = ch.FinishReason
		}
	}
	if len(a.calls) > maxCalls {
		return "", tooManyCalls()
	}
	return added, nil
}

// whole checks that nothing can be missing: every event was valid, there is a
// finish reason, and [DONE] came with the line ends that close its event.
func (a *chatReader) whole() error {
	switch {
	case a.finish == "":
		return errors.New("it ends without a finish reason")
	case !a.done:
		return errors.New("it ends without its terminal event")
	case a.finish == "error":
		return errors.New("the provider says that it failed midway")
	case a.finish == "tool_calls" && len(a.calls) == 0:
		return errors.New("it says that it calls tools, and calls none")
	}
	return nil
}

// add puts a fragment to the call that it continues. A fragment starts a new
// call when its index is new, or when it has a name and an id other than the
// call at its index: some providers number every call 0. One without an index
// continues the last call, unless it has a name and an id.
func (a *chatReader) add(d callDelta) {
	index := max(len(a.calls)-1, 0)
	if d.Index != nil {
		index = *d.Index
	}
	c := a.latest[index]
	if c == nil || d.ID != "" && d.ID != c.id && c.id != "" && d.Function.Name != "" {
		if d.Index == nil {
			index = len(a.calls)
		}
		c = &streamedCall{}
		a.calls = append(a.calls, c)
		a.latest[index] = c
	}
	if c.id == "" {
		c.id = d.ID
	}
	if c.name == "" {
		c.name = d.Function.Name
	}
	c.arguments.WriteString(d.Function.Arguments)
}

// response returns the answer in our words.
func (a *chatReader) response() actor.Response {
	r := actor.Response{
		Message: actor.Message{Role: actor.Assistant, Thinking: a.thinking.String()},
		Stop:    a.stop(),
		Usage:   actor.Usage{Input: -1, Output: -1, CacheRead: -1, CacheWrite: -1, Reasoning: -1},
		Model:   a.model,
	}
	if a.oneWay {
		r.Message.Thinking, r.Thoughts = "", r.Message.Thinking
	}
	text := a.text.String()
	if text == "" {
		text = a.refusal.String()
	}
	if text != "" {
		r.Message.Pieces = []actor.Piece{{Slot: "message", Text: text}}
	}
	ids := uniqueIDs{taken: map[string]int{}}
	for i, c := range a.calls {
		r.Message.ToolCalls = append(r.Message.ToolCalls, actor.ToolCall{ID: ids.of(c.id, i), Name: c.name, Arguments: c.arguments.String()})
	}
	if u := a.usage; u != nil {
		r.Usage.Input, r.Usage.Output = u.Prompt, u.Completion
		if u.Details != nil && u.Details.Cached != nil {
			r.Usage.CacheRead = *u.Details.Cached
			r.Usage.Input = max(u.Prompt-*u.Details.Cached, 0) // so that no token is counted twice
		}
		if u.Details != nil && u.Details.Written != nil {
			r.Usage.CacheWrite = *u.Details.Written
			r.Usage.Input = max(r.Usage.Input-*u.Details.Written, 0)
		}
		if u.Spent != nil && u.Spent.Reasoning != nil {
			r.Usage.Reasoning = *u.Spent.Reasoning
		}
	}
	return r
}

func (a *chatReader) stop() actor.StopReason {
	switch {
	case a.finish == "length":
		return actor.StopLength
	case a.finish == "content_filter", a.refusal.Len() > 0:
		return actor.StopRefused
	case len(a.calls) > 0:
		return actor.StopTools
	}
	return actor.StopEnd
}
