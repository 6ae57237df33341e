package llm

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
)

// messagesReader reads the events of Anthropic's Messages: the start of the
// message, each block from its start to its stop, the reason why it stopped,
// and the stop of the message.
type messagesReader struct {
	started, done bool
	model, stop   string
	blocks        []*messagesPart
	open          int // blocks that have started and not stopped
	usage         messagesUsage
}

type messagesPart struct {
	kind, id, name, signature, data string
	text                            strings.Builder // text, thinking, or arguments
	input                           json.RawMessage
	stopped                         bool
}

type messagesUsage struct {
	Input      *int64 `json:"input_tokens"`
	Output     *int64 `json:"output_tokens"`
	CacheRead  *int64 `json:"cache_read_input_tokens"`
	CacheWrite *int64 `json:"cache_creation_input_tokens"`
}

// take keeps the newest count of each kind: the last event has the final ones.
func (u *messagesUsage) take(v messagesUsage) {
	for _, c := range []struct{ to, from **int64 }{
		{&u.Input, &v.Input}, {&u.Output, &v.Output}, {&u.CacheRead, &v.CacheRead}, {&u.CacheWrite, &v.CacheWrite},
	} {
		if *c.from != nil {
			*c.to = *c.from
		}
	}
}

type messagesEvent struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Model string        `json:"model"`
		Usage messagesUsage `json:"usage"`
	} `json:"message"`
	Block struct {
		Type      string          `json:"type"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
		Data      string          `json:"data"`
		Input     json.RawMessage `json:"input"`
	} `json:"content_block"`
	Delta struct {
		Type       string `json:"type"`
		Text       string `json:"text"`
		Thinking   string `json:"thinking"`
		Signature  string `json:"signature"`
		Partial    string `json:"partial_json"`
		StopReason string `json:"stop_reason"`
	} `json:"delta"`
	Usage messagesUsage   `json:"usage"`
	Error json.RawMessage `json:"error"`
}

func newMessagesReader() reader { return &messagesReader{} }

func (a *messagesReader) event(data []byte) (string, error) {
	if a.done {
		return "", nil
	}
	if err := checkEvent(data); err != nil {
		return "", err
	}
	var e messagesEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return "", fault.New(fault.Unavailable, "an event is not valid: %w", err)
	}
	odd := func(what string) (string, error) { return "", fault.New(fault.Unavailable, "%s", what) }
	switch e.Type {
	case "error":
		return "", inBand(e.Error)
	case "message_start":
		if a.started {
			return odd("it starts twice")
		}
		a.started, a.model = true, e.Message.Model
		a.usage.take(e.Message.Usage)
		return "", nil
	case "ping":
		return "", nil
	}
	if !a.started {
		return odd("it does not begin with its start")
	}
	switch e.Type {
	case "content_block_start":
		if e.Index != len(a.blocks) {
			return odd("its blocks are not in order")
		}
		p := &messagesPart{kind: e.Block.Type, id: e.Block.ID, name: e.Block.Name, signature: e.Block.Signature, data: e.Block.Data, input: e.Block.Input}
		p.text.WriteString(e.Block.Text + e.Block.Thinking)
		a.blocks = append(a.blocks, p)
		a.open++
		if p.kind == "text" {
			return e.Block.Text, nil
		}
	case "content_block_delta":
		return a.delta(e)
	case "content_block_stop":
		if e.Index >= len(a.blocks) || a.blocks[e.Index].stopped {
			return odd("a block stops that has not started")
		}
		a.blocks[e.Index].stopped = true
		a.open--
	case "message_delta":
		if e.Delta.StopReason != "" {
			a.stop = e.Delta.StopReason
		}
		a.usage.take(e.Usage)
	case "message_stop":
		a.done = true
	}
	return "", nil
}

func (a *messagesReader) delta(e messagesEvent) (string, error) {
	if e.Index >= len(a.blocks) || a.blocks[e.Index].stopped {
		return "", fault.New(fault.Unavailable, "it goes on with a block that has not started")
	}
	p := a.blocks[e.Index]
	switch e.Delta.Type {
	case "text_delta":
		p.text.WriteString(e.Delta.Text)
		return e.Delta.Text, nil
	case "thinking_delta":
		p.text.WriteString(e.Delta.Thinking)
	case "signature_delta":
		p.signature += e.Delta.Signature
	case "input_json_delta":
		p.text.WriteString(e.Delta.Partial)
	}
	return "", nil
}

func (a *messagesReader) whole() error {
	calls := 0
	for _, p := range a.blocks {
		if p.kind != "tool_use" {
			continue
		}
		calls++
		if _, ok := object(p.arguments()); !ok && a.stop != "max_tokens" && p.text.Len() > 0 && !json.Valid([]byte(p.arguments())) {
			return errors.New("the arguments of a call are not whole")
		}
	}
	switch {
	case !a.done:
		return errors.New("it ends without its terminal event")
	case a.stop == "":
		return errors.New("it ends without a stop reason")
	case a.open > 0:
		return errors.New("a block of it has no end")
	case a.stop == "tool_use" && calls == 0:
		return errors.New("it says that it calls tools, and calls none")
	case calls > maxCalls:
		return tooManyCalls()
	}
	return nil
}

// arguments is the JSON of a call as the model wrote it: in pieces, or at once
// with the start of its block.
func (p *messagesPart) arguments() string {
	if p.text.Len() == 0 && len(p.input) > 0 {
		return string(p.input)
	}
	return p.text.String()
}

func (a *messagesReader) response() actor.Response {
	r := actor.Response{Message: actor.Message{Role: actor.Assistant}, Model: a.model, Usage: actor.Usage{Reasoning: -1}}
	for _, c := range []struct {
		to   *int64
		from *int64
	}{
		{&r.Usage.Input, a.usage.Input}, {&r.Usage.Output, a.usage.Output},
		{&r.Usage.CacheRead, a.usage.CacheRead}, {&r.Usage.CacheWrite, a.usage.CacheWrite},
	} {
		if *c.to = -1; c.from != nil {
			*c.to = *c.from
		}
	}
	var text, thinking strings.Builder
	var back []messagesBlock
	ids := uniqueIDs{taken: map[string]int{}}
	signed := true
	for i, p := range a.blocks {
		switch p.kind {
		case "text":
			text.WriteString(p.text.String())
		case "thinking":
			s := p.text.String()
			thinking.WriteString(s)
			back = append(back, messagesBlock{Type: "thinking", Thinking: &s, Signature: p.signature})
			signed = signed && p.signature != ""
		case "redacted_thinking":
			back = append(back, messagesBlock{Type: "redacted_thinking", Data: p.data})
		case "tool_use":
			r.Message.ToolCalls = append(r.Message.ToolCalls, actor.ToolCall{ID: ids.of(p.id, i), Name: p.name, Arguments: p.arguments()})
		}
	}
	if s := text.String(); strings.TrimSpace(s) != "" { // blank, it could not be sent back
		r.Message.Pieces = []actor.Piece{{Slot: "message", Text: s}}
	}
	if len(back) > 0 && signed {
		r.Message.Thinking, r.Message.Sealed = thinking.String(), seal(Messages, back)
	} else {
		r.Thoughts = thinking.String() // without its signature it is refused
	}
	r.Stop = a.stopReason(len(r.Message.ToolCalls))
	return r
}

func (a *messagesReader) stopReason(calls int) actor.StopReason {
	switch {
	case a.stop == "max_tokens", a.stop == "model_context_window_exceeded":
		return actor.StopLength
	case a.stop == "refusal":
		return actor.StopRefused
	case calls > 0:
		return actor.StopTools
	}
	return actor.StopEnd
}
