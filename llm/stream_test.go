package llm_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/llm/scripted"
)

// whole is a stream as the scripted model writes it, with text and calls.
func whole(t testing.TB) []byte {
	m := says(t, `rules: [{reply: {text: "Grüße 🙂", tool_calls: [{name: builtin/read, args: {path: "é"}}, {name: builtin/read, raw_args: '{}'}]}}]`)
	resp, err := m.Generate(t.Context(), ask(scripted.Name), nil)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(resp.Wire.Response)
}

func event(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return "data: " + string(b) + "\n\n"
}

func delta(d any, finish any) string {
	return event(map[string]any{"model": "m-1", "choices": []any{map[string]any{"index": 0, "delta": d, "finish_reason": finish}}})
}

func calls(list ...any) map[string]any { return map[string]any{"tool_calls": list} }

func fn(index any, id, name, args string) map[string]any {
	m := map[string]any{"function": map[string]any{"name": name, "arguments": args}}
	if id != "" {
		m["id"] = id
	}
	if index != nil {
		m["index"] = index
	}
	return m
}

const maxIndex = 2000 // the first index that is refused

const done = "data: [DONE]\n\n"

// T55: a stream that ends early is an error at every byte.
func TestT55CutAtEveryByte(t *testing.T) {
	b := whole(t)
	for name, stream := range map[string][]byte{"LF": b, "CRLF": bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n"))} {
		want, err := body(bytes.NewReader(stream)).Generate(t.Context(), ask("p"), nil)
		if err != nil || len(want.Message.ToolCalls) != 2 {
			t.Fatalf("%s: the whole stream: %v, %+v", name, err, want.Message)
		}
		for n := range stream {
			ways := map[string]io.Reader{"end": bytes.NewReader(stream[:n])}
			if name == "LF" {
				ways["error"] = io.MultiReader(bytes.NewReader(stream[:n]), iotest.ErrReader(io.ErrUnexpectedEOF))
			}
			for how, r := range ways {
				resp, err := body(r).Generate(t.Context(), ask("p"), nil)
				if !fault.Is(err, fault.Unavailable) {
					t.Fatalf("%s, cut at %d of %d by %s: %v", name, n, len(stream), how, err)
				}
				if len(resp.Message.ToolCalls)+len(resp.Message.Pieces) > 0 || resp.Stop != "" {
					t.Fatalf("%s, cut at %d by %s: half an answer %+v", name, n, how, resp.Message)
				}
				if !bytes.Equal(resp.Wire.Response, stream[:n]) {
					t.Fatalf("%s, cut at %d by %s: recorded %d bytes", name, n, how, len(resp.Wire.Response))
				}
			}
		}
		for how, r := range map[string]io.Reader{"one byte at a time": iotest.OneByteReader(bytes.NewReader(stream)), "data with EOF": iotest.DataErrReader(bytes.NewReader(stream))} {
			got, err := body(r).Generate(t.Context(), ask("p"), nil)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%s, %s: %v %s", name, how, err, diff)
			}
		}
	}
}

func TestT55CutByTheScript(t *testing.T) {
	for _, n := range []int{0, 1, 100, 500} {
		m := says(t, fmt.Sprintf(`rules: [{reply: {text: some text, tool_calls: [{name: builtin/read}], cut_at: %d}}]`, n))
		resp, err := m.Generate(t.Context(), ask(scripted.Name), nil)
		if !fault.Is(err, fault.Unavailable) || len(resp.Wire.Response) != n {
			t.Errorf("cut at %d: %v after %d bytes", n, err, len(resp.Wire.Response))
		}
	}
}

func TestT55BrokenStreams(t *testing.T) {
	text := delta(map[string]any{"content": "x"}, nil)
	end := delta(map[string]any{}, "stop")
	call := delta(calls(fn(0, "a", "builtin__read", "{}")), nil)
	tests := map[string]string{
		"nothing":                       "",
		"no finish reason":              text + done,
		"no finish reason, with a call": call + done,
		"no terminal event":             text + end,
		"only the terminal event":       done,
		"bad data":                      text + "data: {\"choices\":\n\n" + end + done,
		"bad data with a call":          call + "data: {]\n\n" + end + done,
		"not a stream":                  `{"id":"x","choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}`,
		"HTML":                          "<html>data: [DONE]</html>\n\n",
		"failed midway":                 text + delta(map[string]any{}, "error") + done,
		"calls that are not there":      text + delta(map[string]any{}, "tool_calls") + done,
		"two choices": event(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]any{"content": "a"}},
			map[string]any{"index": 1, "delta": map[string]any{"content": "b"}}}}) + end + done,
	}
	for name, s := range tests {
		resp, err := body(strings.NewReader(s)).Generate(t.Context(), ask("p"), nil)
		if !fault.Is(err, fault.Unavailable) || len(resp.Message.ToolCalls) > 0 {
			t.Errorf("%s: %v, %+v", name, err, resp.Message)
		}
	}
}

func TestUnusualStreams(t *testing.T) {
	end := delta(map[string]any{}, "stop") + done
	long := strings.Repeat("é", 1<<19)
	tc := func(id, name, args string) actor.ToolCall { return actor.ToolCall{ID: id, Name: name, Arguments: args} }
	tests := map[string]struct {
		stream string
		text   string
		calls  []actor.ToolCall
		stop   actor.StopReason
	}{
		"a line of 1 MiB":       {delta(map[string]any{"content": long}, nil) + end, long, nil, actor.StopEnd},
		"comments and fields":   {": ping\n\nevent: x\nid: 1\nretry: 5\n\n" + delta(map[string]any{"content": "x"}, nil) + end, "x", nil, actor.StopEnd},
		"data without a space":  {strings.ReplaceAll(delta(map[string]any{"content": "x"}, nil)+end, "data: ", "data:"), "x", nil, actor.StopEnd},
		"data in two lines":     {"data: {\"choices\":\ndata: [{\"index\":0,\"delta\":{\"content\":\"x\"}}]}\n\n" + end, "x", nil, actor.StopEnd},
		"an empty answer":       {end, "", nil, actor.StopEnd},
		"a refusal":             {delta(map[string]any{"refusal": "I will not"}, nil) + end, "I will not", nil, actor.StopRefused},
		"filtered":              {delta(map[string]any{"content": "x"}, "content_filter") + done, "x", nil, actor.StopRefused},
		"cut by length":         {delta(map[string]any{"content": "x"}, "length") + done, "x", nil, actor.StopLength},
		"a call cut by length":  {delta(calls(fn(0, "a", "n", `{"pa`)), "length") + done, "", []actor.ToolCall{tc("a", "n", `{"pa`)}, actor.StopLength},
		"calls, but says stop":  {delta(calls(fn(0, "a", "n", "{}")), nil) + end, "", []actor.ToolCall{tc("a", "n", "{}")}, actor.StopTools},
		"empty arguments":       {delta(calls(fn(0, "a", "n", "")), nil) + end, "", []actor.ToolCall{tc("a", "n", "")}, actor.StopTools},
		"interleaved fragments": {delta(calls(fn(0, "a", "n", "1")), nil) + delta(calls(fn(1, "b", "m", "2")), nil) + delta(calls(fn(0, "", "", "3"), fn(1, "", "", "4")), nil) + end, "", []actor.ToolCall{tc("a", "n", "13"), tc("b", "m", "24")}, actor.StopTools},
		"every call numbered 0": {delta(calls(fn(0, "a", "n", "1")), nil) + delta(calls(fn(0, "b", "m", "2")), nil) + end, "", []actor.ToolCall{tc("a", "n", "1"), tc("b", "m", "2")}, actor.StopTools},
		"no numbers":            {delta(calls(fn(nil, "a", "n", "1")), nil) + delta(calls(fn(nil, "b", "m", "2"), fn(nil, "", "", "3")), nil) + end, "", []actor.ToolCall{tc("a", "n", "1"), tc("b", "m", "23")}, actor.StopTools},
		"the id on each part":   {delta(calls(fn(0, "a", "n", "1")), nil) + delta(calls(fn(0, "a", "n", "2")), nil) + end, "", []actor.ToolCall{tc("a", "n", "12")}, actor.StopTools},
		"T56: duplicate ids":    {delta(calls(fn(0, "a", "n", "1"), fn(1, "a", "n", "2"), fn(2, "a-2", "n", "3"), fn(3, "a", "n", "4")), nil) + end, "", []actor.ToolCall{tc("a", "n", "1"), tc("a-2", "n", "2"), tc("a-2-2", "n", "3"), tc("a-3", "n", "4")}, actor.StopTools},
		"T56: no ids":           {delta(calls(fn(0, "", "n", "1"), fn(1, "", "n", "2")), nil) + end, "", []actor.ToolCall{tc("call-0", "n", "1"), tc("call-1", "n", "2")}, actor.StopTools},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			resp, err := body(strings.NewReader(tt.stream)).Generate(t.Context(), ask("p"), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := resp.Message.Text(); got != tt.text || resp.Stop != tt.stop {
				t.Errorf("got %.50q, %s; want %.50q, %s", got, resp.Stop, tt.text, tt.stop)
			}
			if diff := cmp.Diff(tt.calls, resp.Message.ToolCalls); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	tests := map[string]struct {
		usage any
		want  actor.Usage
	}{
		"not said": {nil, actor.Usage{Input: -1, Output: -1, CacheRead: -1, CacheWrite: -1, Reasoning: -1}},
		"plain":    {map[string]any{"prompt_tokens": 10, "completion_tokens": 2}, actor.Usage{Input: 10, Output: 2, CacheRead: -1, CacheWrite: -1, Reasoning: -1}},
		"cached": {map[string]any{"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": map[string]any{"cached_tokens": 4}},
			actor.Usage{Input: 6, Output: 2, CacheRead: 4, CacheWrite: -1, Reasoning: -1}},
		"zero": {map[string]any{"prompt_tokens": 0, "completion_tokens": 0}, actor.Usage{CacheRead: -1, CacheWrite: -1, Reasoning: -1}},
	}
	for name, tt := range tests {
		s := delta(map[string]any{"content": "x"}, "stop") + event(map[string]any{"choices": []any{}, "usage": tt.usage}) + done
		resp, err := body(strings.NewReader(s)).Generate(t.Context(), ask("p"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, resp.Usage); diff != "" || resp.Model != "m-1" {
			t.Errorf("%s: %s %s", name, resp.Model, diff)
		}
	}
}

// T56: an answer of 200 MB stops at the limit, and its memory is bounded.
func TestT56AnswerWithoutEnd(t *testing.T) {
	m := says(t, `rules: [{reply: {repeat_text: {text: "lorem ipsum ", bytes: 200000000}}}]`)
	var peak uint64
	n := 0
	resp, err := m.Generate(t.Context(), ask(scripted.Name), func(string) {
		if n++; n%32 == 0 {
			var s runtime.MemStats
			runtime.ReadMemStats(&s)
			peak = max(peak, s.HeapAlloc)
		}
	})
	if !fault.Is(err, fault.Exhausted) || !strings.Contains(err.Error(), "the model answered more than 8 MiB") {
		t.Fatal(err)
	}
	if len(resp.Wire.Response) != 8<<20 || len(resp.Message.Pieces) > 0 {
		t.Errorf("kept %d bytes, %d pieces", len(resp.Wire.Response), len(resp.Message.Pieces))
	}
	if n < 32 || peak > 128<<20 {
		t.Errorf("%d deltas, %d MiB in use", n, peak>>20)
	}
}

func TestT56ErrorWithoutEnd(t *testing.T) {
	m := body(io.MultiReader(strings.NewReader("data: "), repeated{}))
	if _, err := m.Generate(t.Context(), ask("p"), nil); !fault.Is(err, fault.Exhausted) {
		t.Error(err)
	}
}

// repeated is an endless line.
type repeated struct{}

func (repeated) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestT56ManyCalls(t *testing.T) {
	stream := func(n int) string {
		var list []any
		for i := range n {
			list = append(list, fn(i, "same", "builtin__read", fmt.Sprint(i)))
		}
		return delta(calls(list...), "tool_calls") + done
	}
	resp, err := body(strings.NewReader(stream(1000))).Generate(t.Context(), ask("p"), nil)
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for i, c := range resp.Message.ToolCalls {
		ids[c.ID] = true
		if c.Arguments != fmt.Sprint(i) || c.Name != "builtin/read" {
			t.Fatalf("call %d is %+v", i, c)
		}
	}
	if len(ids) != 1000 {
		t.Errorf("%d ids for 1000 calls", len(ids))
	}
	for _, index := range []any{maxIndex, 1_000_000_000, "1e9", json.RawMessage("1e9"), json.RawMessage("-1"), json.RawMessage("99999999999999999999"), 0.5} {
		for _, key := range []string{"index", "Index"} {
			call := fn(nil, "a", "n", "{}")
			call[key] = index
			s := delta(calls(call), "tool_calls") + done
			if resp, err := body(strings.NewReader(s)).Generate(t.Context(), ask("p"), nil); err == nil && key == "index" {
				t.Errorf("%s %v: %+v", key, index, resp.Message)
			}
		}
	}
	twice := strings.Replace(delta(calls(fn(3, "a", "n", "{}")), "tool_calls"), `"index":3`, `"index":3,"index":0`, 1) + done
	if _, err := body(strings.NewReader(twice)).Generate(t.Context(), ask("p"), nil); !fault.Is(err, fault.Unavailable) {
		t.Errorf("an index given twice: %v", err)
	}
	if _, err := body(strings.NewReader(stream(20000))).Generate(t.Context(), ask("p"), nil); !fault.Is(err, fault.Exhausted) {
		t.Errorf("20000 calls: %v", err)
	}
}

func TestT56LargeArguments(t *testing.T) {
	args := `{"text":"` + strings.Repeat("a", 5<<20) + `"}`
	s := delta(calls(fn(0, "a", "builtin__read", args)), "tool_calls") + done
	resp, err := body(strings.NewReader(s)).Generate(t.Context(), ask("p"), nil)
	if err != nil || len(resp.Message.ToolCalls) != 1 || resp.Message.ToolCalls[0].Arguments != args {
		t.Errorf("%v, %d calls", err, len(resp.Message.ToolCalls))
	}
}

func FuzzStream(f *testing.F) {
	f.Add(whole(f))
	f.Add([]byte(delta(calls(fn(0, "a", "n", "1"), fn(nil, "", "", "2")), "length") + done))
	f.Add([]byte("data: {\"error\":{\"type\":\"server_error\"}}\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		resp, err := body(bytes.NewReader(b)).Generate(t.Context(), ask("p"), nil)
		if err == nil && (!bytes.Contains(b, []byte("[DONE]")) || !bytes.Contains(b, []byte("finish_reason")) || resp.Stop == "") {
			t.Fatalf("taken for whole: %q", b)
		}
		if err != nil && fault.KindOf(err) == fault.Internal {
			t.Fatal(err)
		}
	})
}
