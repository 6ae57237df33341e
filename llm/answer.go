package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
)

// answer is a whole stream of OpenAI's chat completion chunks, read strictly.
type answer struct {
	text    strings.Builder
	refusal strings.Builder
	done    bool
	model   string
	finish  string
	calls   []*streamedCall
	latest  map[int]*streamedCall // the last call of each index
	usage   *chunkUsage
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
			ToolCalls []callDelta `json:"tool_calls"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *chunkUsage `json:"usage"`
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
		Cached *int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

func newAnswer() *answer { return &answer{latest: map[int]*streamedCall{}} }

// event adds one event. It is called before fantasy and its SDK see the event,
// and refuses what they cannot take: the SDK makes lists as long as an index
// says, and what fantasy does for each call grows with their number.
func (a *answer) event(data []byte) error {
	if a.done {
		return nil
	}
	if bytes.HasPrefix(data, []byte("[DONE]")) {
		a.done = true
		return nil
	}
	if err := checkEvent(data); err != nil {
		return err
	}
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return fault.New(fault.Unavailable, "an event is not valid: %w", err)
	}
	if c.Model != "" {
		a.model = c.Model
	}
	if c.Usage != nil {
		a.usage = c.Usage
	}
	for _, ch := range c.Choices {
		if ch.Index != 0 {
			return fault.New(fault.Unavailable, "it has more than one choice")
		}
		a.text.WriteString(ch.Delta.Content)
		a.refusal.WriteString(ch.Delta.Refusal)
		for _, d := range ch.Delta.ToolCalls {
			a.add(d)
		}
		if ch.FinishReason != "" {
			a.finish = ch.FinishReason
		}
	}
	if len(a.calls) > maxCalls {
		return tooManyCalls()
	}
	return nil
}

func tooManyCalls() error {
	return fault.New(fault.Exhausted, "the model makes more than %d tool calls at once", maxCalls)
}

// checkEvent checks that data is one JSON value without a second member of a
// name, and that no index in it is past the calls that are taken, however its
// name is written.
func checkEvent(data []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowInvalidUTF8(true)) // a character may come in two halves
	for depth, first := 0, true; first || depth > 0; first = false {
		t, err := d.ReadToken()
		if err != nil {
			return fault.New(fault.Unavailable, "an event is not valid: %w", err)
		}
		switch t.Kind() {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			kind, n := d.StackIndex(d.StackDepth())
			if kind != '{' || n%2 == 0 || !strings.EqualFold(t.String(), "index") {
				continue
			}
			if k := d.PeekKind(); k != '0' && k != '"' {
				continue
			}
			v, err := d.ReadValue()
			if err != nil {
				return fault.New(fault.Unavailable, "an event is not valid: %w", err)
			}
			i, err := strconv.Atoi(string(v))
			if err != nil || i < 0 {
				return fault.New(fault.Unavailable, "an event has the index %.20s", v)
			}
			if i >= maxCalls {
				return tooManyCalls()
			}
		}
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return fault.New(fault.Unavailable, "an event is more than one JSON value")
	}
	return nil
}

// whole checks that nothing can be missing: every event was valid, there is a
// finish reason, and [DONE] came with the line ends that close its event.
func (a *answer) whole() error {
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
func (a *answer) add(d callDelta) {
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
func (a *answer) response(thinking string) actor.Response {
	r := actor.Response{
		Message: actor.Message{Role: actor.Assistant, Thinking: thinking},
		Stop:    a.stop(),
		Usage:   actor.Usage{Input: -1, Output: -1, CacheRead: -1, CacheWrite: -1, Reasoning: -1},
		Model:   a.model,
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
	}
	return r
}

func (a *answer) stop() actor.StopReason {
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

// uniqueIDs counts how often each id was given out.
type uniqueIDs struct{ taken map[string]int }

// of returns id, or one made from it when it is empty or taken.
func (u uniqueIDs) of(id string, i int) string {
	if id == "" {
		id = fmt.Sprintf("call-%d", i)
	}
	out := id
	for u.taken[out] > 0 {
		u.taken[id]++
		out = fmt.Sprintf("%s-%d", id, u.taken[id])
	}
	u.taken[out]++
	return out
}
