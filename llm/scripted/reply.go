package scripted

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Reply is one answer.
type Reply struct {
	Text      string
	Thinking  string
	ToolCalls []ToolCall
	Repeat    *Repeat           // text that is too long to write down, after Text
	Status    int               // HTTP status; 0 is 200, and from 300 on Text is the error's message
	Headers   map[string]string // added to the answer's
	CutAt     *int              // the body ends after so many bytes
	Delay     time.Duration     // before the answer starts
	Hang      bool              // the body stops before its end and stays open
	Usage     *Usage
	Stop      string // the finish reason; "" is tool_calls or stop
}

// ToolCall is a call that the model wants. Name is as on the wire; Arguments
// is sent as it is, valid or not.
type ToolCall struct {
	ID        string // "" makes one from the request
	Name      string
	Arguments string
}

// Repeat is a text that is sent again and again until Bytes bytes are sent.
type Repeat struct {
	Text  string
	Bytes int64
}

// Usage is a count of tokens.
type Usage struct {
	Input, Output int64
}

// created is the time that every answer says it was made.
const created = 1767225600

// answer is the streamed answer to a request. Its body is made while it is
// read, so that a long one takes no memory.
func answer(r *http.Request, req Request, reply Reply) *http.Response {
	if reply.Status == 0 {
		reply.Status = http.StatusOK
	}
	s := &stream{ctx: r.Context(), closed: make(chan struct{}), left: -1}
	if reply.CutAt != nil {
		s.left = int64(*reply.CutAt)
	}
	w := writer{req: req, s: s, id: "chatcmpl-" + digest(req.Body, "")}
	w.delta(map[string]any{"role": "assistant", "content": ""})
	for _, t := range split(reply.Thinking) {
		w.delta(map[string]any{"reasoning_content": t})
	}
	for _, t := range split(reply.Text) {
		w.delta(map[string]any{"content": t})
	}
	if reply.Repeat != nil {
		w.repeat(*reply.Repeat)
	}
	for i, c := range reply.ToolCalls {
		w.call(i, c)
	}
	if reply.Hang {
		s.segments = append(s.segments, segment{hang: true})
	}
	w.finish(reply)
	return response(r, reply, "text/event-stream; charset=utf-8", s)
}

// writer writes the events of one answer.
type writer struct {
	req  Request
	s    *stream
	id   string
	sent int64 // bytes of text and arguments
}

func (w *writer) event(choices []any, usage any) []byte {
	m := map[string]any{"id": w.id, "object": "chat.completion.chunk", "created": created, "model": w.req.Model, "choices": choices}
	if w.req.IncludeUsage {
		m["usage"] = usage
	}
	return []byte("data: " + string(encode(m)) + "\n\n")
}

func (w *writer) choice(delta map[string]any, finish any) []byte {
	for _, k := range []string{"content", "reasoning_content"} {
		t, _ := delta[k].(string)
		w.sent += int64(len(t))
	}
	return w.event([]any{map[string]any{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": finish}}, nil)
}

func (w *writer) add(b []byte, times int64) {
	w.s.segments = append(w.s.segments, segment{data: b, times: times})
}

func (w *writer) delta(d map[string]any) { w.add(w.choice(d, nil), 1) }

// repeat adds events of about 16 KiB of text, and one for the rest.
func (w *writer) repeat(r Repeat) {
	if r.Text == "" || r.Bytes <= 0 {
		return
	}
	unit := strings.Repeat(r.Text, max(1, 16<<10/len(r.Text)))
	before := w.sent
	if n := r.Bytes / int64(len(unit)); n > 0 {
		w.add(w.choice(map[string]any{"content": unit}, nil), n)
	}
	if rest := strings.ToValidUTF8(unit[:r.Bytes%int64(len(unit))], ""); rest != "" {
		w.delta(map[string]any{"content": rest})
	}
	w.sent = before + r.Bytes
}

func (w *writer) call(i int, c ToolCall) {
	if c.ID == "" {
		c.ID = "call_" + digest(w.req.Body, fmt.Sprint(i))
	}
	w.sent += int64(len(c.Name) + len(c.Arguments))
	w.delta(map[string]any{"tool_calls": []any{map[string]any{
		"index": i, "id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": ""}}}})
	for _, part := range split(c.Arguments) {
		w.delta(map[string]any{"tool_calls": []any{map[string]any{"index": i, "function": map[string]any{"arguments": part}}}})
	}
}

func (w *writer) finish(reply Reply) {
	stop := reply.Stop
	switch {
	case stop != "":
	case len(reply.ToolCalls) > 0:
		stop = "tool_calls"
	default:
		stop = "stop"
	}
	w.add(w.choice(map[string]any{}, stop), 1)
	if w.req.IncludeUsage {
		u := Usage{Input: int64(len(w.req.Body)+3) / 4, Output: (w.sent + 3) / 4}
		if reply.Usage != nil {
			u = *reply.Usage
		}
		w.add(w.event([]any{}, map[string]any{
			"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output}), 1)
	}
	w.add([]byte("data: [DONE]\n\n"), 1)
}

// split cuts a text into a few pieces at characters, as a model sends it. A
// text that is not UTF-8 is cut as if it were.
func split(s string) []string {
	size := max(16, (len(s)+15)/16)
	var out []string
	for len(s) > size {
		n := size
		for n < len(s) && n < size+utf8.UTFMax && !utf8.RuneStart(s[n]) {
			n++
		}
		out, s = append(out, s[:n]), s[n:]
	}
	if s != "" {
		out = append(out, s)
	}
	return out
}

// segment is a part of a body: bytes, so many times, or a place where it hangs.
type segment struct {
	data  []byte
	times int64
	hang  bool
}

// stream is the body of an answer.
type stream struct {
	ctx      context.Context
	once     sync.Once
	closed   chan struct{}
	segments []segment
	at       int   // within the first segment's data
	left     int64 // bytes until it is cut; -1 never
}

// Read gives the next bytes. Where the script hangs it returns when the
// request's context is done or the body is closed.
func (s *stream) Read(p []byte) (int, error) {
	if s.left == 0 {
		return 0, io.EOF
	}
	if len(s.segments) == 0 {
		return 0, io.EOF
	}
	seg := &s.segments[0]
	if seg.hang {
		select {
		case <-s.ctx.Done():
			return 0, s.ctx.Err()
		case <-s.closed:
			return 0, http.ErrBodyReadAfterClose
		}
	}
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	if s.left > 0 {
		p = p[:min(int64(len(p)), s.left)]
	}
	n := copy(p, seg.data[s.at:])
	if s.left > 0 {
		s.left -= int64(n)
	}
	if s.at += n; s.at == len(seg.data) {
		s.at = 0
		if seg.times--; seg.times == 0 {
			s.segments = s.segments[1:]
		}
	}
	return n, nil
}

// Close ends a Read that hangs.
func (s *stream) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}
