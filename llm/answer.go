package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/cleveragents/agents/actor"
)

// answer is a whole stream of OpenAI's chat completion chunks, read strictly.
type answer struct {
	text    string
	refusal string
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

// readAnswer reads the body of a stream. It fails unless every event is valid,
// a choice has a finish reason, and [DONE] came with the line ends that close
// its event: then nothing can be missing.
func readAnswer(body []byte) (*answer, error) {
	a := &answer{latest: map[int]*streamedCall{}}
	var text, refusal strings.Builder
	done := false
	err := events(body, func(data []byte) error {
		if done {
			return nil
		}
		if bytes.HasPrefix(data, []byte("[DONE]")) {
			done = true
			return nil
		}
		var c chunk
		if err := json.Unmarshal(data, &c); err != nil {
			return fmt.Errorf("an event is not valid: %w", err)
		}
		if c.Model != "" {
			a.model = c.Model
		}
		if c.Usage != nil {
			a.usage = c.Usage
		}
		for _, ch := range c.Choices {
			if ch.Index != 0 {
				return errors.New("it has more than one choice")
			}
			text.WriteString(ch.Delta.Content)
			refusal.WriteString(ch.Delta.Refusal)
			for _, d := range ch.Delta.ToolCalls {
				a.add(d)
			}
			if ch.FinishReason != "" {
				a.finish = ch.FinishReason
			}
		}
		return nil
	})
	a.text, a.refusal = text.String(), refusal.String()
	switch {
	case err != nil:
		return nil, err
	case a.finish == "":
		return nil, errors.New("it ends without a finish reason")
	case !done:
		return nil, errors.New("it ends without its terminal event")
	case a.finish == "error":
		return nil, errors.New("the provider says that it failed midway")
	case a.finish == "tool_calls" && len(a.calls) == 0:
		return nil, errors.New("it says that it calls tools, and calls none")
	}
	return a, nil
}

// events calls f with the data of each complete event of a server-sent stream.
func events(body []byte, f func(data []byte) error) error {
	var data []byte
	has := false
	for len(body) > 0 {
		line, rest, ended := bytes.Cut(body, []byte("\n"))
		if !ended {
			return nil // an event that is not closed does not count
		}
		body = rest
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(line) == 0 {
			if has {
				if err := f(data); err != nil {
					return err
				}
			}
			data, has = nil, false
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if string(name) != "data" {
			continue
		}
		value = bytes.TrimPrefix(value, []byte(" "))
		if has {
			data = append(append(data, '\n'), value...)
		} else {
			data, has = value[:len(value):len(value)], true
		}
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
		Usage:   actor.Usage{Input: -1, Output: -1, CacheRead: -1},
		Model:   a.model,
	}
	text := a.text
	if text == "" {
		text = a.refusal
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
	case a.finish == "content_filter", a.refusal != "":
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
