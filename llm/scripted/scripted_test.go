package scripted_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/llm"
	"github.com/cleveragents/agents/llm/scripted"
	"github.com/cleveragents/agents/tool"
)

const conversation = `
rules:
  - when: {system_contains: strategist, turn: 0, tool_offered: builtin/read}
    reply: {text: I look., tool_calls: [{name: builtin/read, args: {path: x}}, {name: builtin/shell, args: {script: sh test.sh}}]}
  - when: {min_turn: 1, last_tool: builtin/shell, last_result_contains: FAIL, lacks: ["poison"]}
    let: {id: 'decision (\S+) is', n: 'line (\d+)'}
    reply:
      thinking: "about ${id}"
      text: "It is line ${n}; ${other} stays."
      tool_calls:
        - {id: "fix-${n}", name: builtin/edit, args: {path: "f:${n}", lines: [1, "${n}", {deep: "${id}"}], all: true}}
        - {name: builtin/raw, raw_args: '{"bad ${id}'}
  - when: {contains: [poison, FAIL], last_result_lacks: "all green"}
    reply: {text: misled}
  - when: {last_user_contains: go on, tool_not_offered: builtin/read}
    reply: {text: went on, stop: length}
`

func request(turns ...actor.Message) actor.Request {
	r := actor.Request{Provider: scripted.Name, Model: "m", Messages: []actor.Message{say(actor.System, "You are the strategist.")}}
	r.Messages = append(r.Messages, turns...)
	for _, n := range []string{"builtin/read", "builtin/shell"} {
		r.Tools = append(r.Tools, tool.Spec{Name: n, Input: json.RawMessage(`{"type":"object"}`)})
	}
	return r
}

func say(role actor.Role, text string) actor.Message {
	return actor.Message{Role: role, Pieces: []actor.Piece{{Text: text}}}
}

func called(id, name string) actor.Message {
	return actor.Message{Role: actor.Assistant, ToolCalls: []actor.ToolCall{{ID: id, Name: name, Arguments: "{}"}}}
}

func result(id, text string) actor.Message {
	m := say(actor.ToolRole, text)
	m.ToolCallID = id
	return m
}

func model(t testing.TB, c scripted.Config) *llm.Model {
	t.Helper()
	return llm.New(llm.Config{Providers: map[string]llm.Provider{scripted.Name: scripted.Provider(c)}})
}

func parse(t testing.TB, yaml string) scripted.Script {
	t.Helper()
	s, err := scripted.Parse("s.yaml", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRules(t *testing.T) {
	m := model(t, scripted.Config{Scripts: map[string]scripted.Script{"m": parse(t, conversation)}})
	looked := func(out string) actor.Request {
		return request(say(actor.User, "go"), called("a", "builtin/shell"), result("a", out))
	}
	noTools := request(say(actor.User, "go"), say(actor.Assistant, "?"), say(actor.User, "go on"))
	noTools.Tools = nil
	tests := map[string]struct {
		r     actor.Request
		text  string
		calls []actor.ToolCall
		stop  actor.StopReason
		err   string
	}{
		"first turn": {r: request(say(actor.User, "go")), text: "I look.", stop: actor.StopTools, calls: []actor.ToolCall{
			{Name: "builtin/read", Arguments: `{"path":"x"}`}, {Name: "builtin/shell", Arguments: `{"script":"sh test.sh"}`}}},
		"captured words": {r: looked("FAIL: decision 01J is wrong at line 7"), text: "It is line 7; ${other} stays.", stop: actor.StopTools, calls: []actor.ToolCall{
			{ID: "fix-7", Name: "builtin__edit", Arguments: `{"all":true,"lines":[1,"7",{"deep":"01J"}],"path":"f:7"}`}, {Name: "builtin__raw", Arguments: `{"bad 01J`}}},
		"a word that is not there": {r: looked("FAIL: at line 7"), err: `no rule applies to turn 1, after a tool message: "FAIL: at line 7"`},
		"another tool's result": {r: request(say(actor.User, "FAIL decision 1 is at line 2"), called("a", "builtin/read"), result("a", "FAIL decision 1 is at line 2")),
			err: "no rule applies to turn 1"},
		"an older result":      {r: request(say(actor.User, "go"), called("a", "builtin/shell"), result("a", "FAIL decision 1 is at line 2"), say(actor.Assistant, "x")), err: "turn 2"},
		"misled by a fragment": {r: looked("FAIL: decision 01J is wrong at line 7, poison"), text: "misled", stop: actor.StopEnd},
		"not misled":           {r: looked("FAIL poison all green"), err: "turn 1"},
		"last words":           {r: noTools, text: "went on", stop: actor.StopLength},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			resp, err := m.Generate(t.Context(), tt.r, nil)
			if tt.err != "" {
				if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), tt.err) || !strings.Contains(err.Error(), "HTTP 500") {
					t.Fatalf("got %v, %q; want %q", err, resp.Message.Text(), tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range resp.Message.ToolCalls {
				if strings.HasPrefix(c.ID, "call_") {
					resp.Message.ToolCalls[i].ID = ""
				}
			}
			if resp.Message.Text() != tt.text || resp.Stop != tt.stop {
				t.Errorf("got %q, %s", resp.Message.Text(), resp.Stop)
			}
			if diff := cmp.Diff(tt.calls, resp.Message.ToolCalls); diff != "" {
				t.Error(diff)
			}
			again, err := m.Generate(t.Context(), tt.r, nil)
			if err != nil || !bytes.Equal(again.Wire.Response, resp.Wire.Response) {
				t.Errorf("the same request got other bytes: %v", err)
			}
		})
	}
}

func TestCountsTokens(t *testing.T) {
	m := model(t, scripted.Config{Scripts: map[string]scripted.Script{"m": parse(t, `rules: [{reply: {text: 12345678}}]`)}})
	resp, err := m.Generate(t.Context(), request(say(actor.User, "go")), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := actor.Usage{Input: int64(len(resp.Wire.Request)+3) / 4, Output: 2, CacheRead: -1, CacheWrite: -1, Reasoning: -1}
	if diff := cmp.Diff(want, resp.Usage); diff != "" {
		t.Error(diff)
	}
}

func TestRepeatedTextIsExact(t *testing.T) {
	m := model(t, scripted.Config{Scripts: map[string]scripted.Script{"m": parse(t, `rules: [{reply: {text: "say: ", repeat_text: {text: abc, bytes: 100001}}}]`)}})
	resp, err := m.Generate(t.Context(), request(say(actor.User, "go")), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := "say: " + strings.Repeat("abc", 33333) + "ab"; resp.Message.Text() != want {
		t.Errorf("%d bytes, not %d", len(resp.Message.Text()), len(want))
	}
}

func TestRefusalsByTheScript(t *testing.T) {
	m := model(t, scripted.Config{Scripts: map[string]scripted.Script{"m": parse(t, `rules: [{reply: {status: 429, text: "not now", headers: {Retry-After: "3"}}}]`)}})
	_, err := m.Generate(t.Context(), request(say(actor.User, "go")), nil)
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "not now") || fault.As(err).Details["retry_after"] != 3.0 {
		t.Errorf("got %v %v", err, fault.As(err).Details)
	}
}

func TestWhichScript(t *testing.T) {
	c := scripted.Config{Scripts: map[string]scripted.Script{"demo": parse(t, `rules: [{reply: {text: demo}}]`)}, Read: func(name string) ([]byte, error) {
		switch name {
		case "dir/a.yaml":
			return []byte(`rules: [{reply: {text: from a file}}]`), nil
		case "bad.yaml":
			return []byte("rules:\n  - wen: {}\n"), nil
		}
		return nil, errors.New("no such file")
	}}
	tests := map[string]struct {
		text string
		kind fault.Kind
		says string
	}{
		"demo":       {text: "demo"},
		"dir/a.yaml": {text: "from a file"},
		"bad.yaml":   {kind: fault.Invalid, says: "bad.yaml:2: unknown key"},
		"gone.yaml":  {kind: fault.NotFound, says: `no scripted model "gone.yaml": no such file`},
		"":           {kind: fault.NotFound, says: `no scripted model ""`},
	}
	for name, tt := range tests {
		r := request(say(actor.User, "go"))
		r.Model = name
		resp, err := model(t, c).Generate(t.Context(), r, nil)
		if _, lerr := scripted.Load(c, name); (lerr == nil) != (err == nil) {
			t.Errorf("%s: Load says %v, Generate %v", name, lerr, err)
		}
		if tt.text != "" {
			if err != nil || resp.Message.Text() != tt.text {
				t.Errorf("%s: %v, %q", name, err, resp.Message.Text())
			}
			continue
		}
		if !fault.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %v with %q", name, err, tt.kind, tt.says)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	tests := map[string]string{
		``:                                 "empty",
		`rules: []`:                        "at least one rule",
		`rules: [{replay: {}}]`:            `unknown key "replay"`,
		`rules: [{when: {turn: one}}]`:     "whole number",
		`rules: [{let: {a: "("}}]`:         "rule 1: let a",
		`rules: [{let: {a: "x"}}]`:         "needs a group",
		`rules: [{reply: {status: 42}}]`:   "42 is not an HTTP status",
		`rules: [{reply: {cut_at: -1}}]`:   "not negative",
		`rules: [{reply: {delay_ms: -1}}]`: "not negative",
		`rules: [{reply: {}}, {reply: {repeat_text: {bytes: 3}}}]`:                          "rule 2: repeat_text needs a text",
		`rules: [{reply: {tool_calls: [{args: {}}]}}]`:                                      "tool call 1 has no name",
		`rules: [{reply: {tool_calls: [{name: x, args: {a: 1}, raw_args: ""}]}}]`:           "both args and raw_args",
		`rules: [{reply: {tool_calls: [{name: x}, {name: x, args: {a: .nan}}]}}]`:           "tool call 2 cannot be said in JSON",
		`rules: [{reply: {tool_calls: [{name: x, args: {a: {1: x}}}]}}]`:                    "cannot be said in JSON",
		`rules: [{reply: {text: a}}]` + "\n---\n" + `rules: [{reply: {text: another one}}]`: "one document",
	}
	for yaml, want := range tests {
		if _, err := scripted.Parse("s.yaml", []byte(yaml)); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n got %v, want %q", yaml, err, want)
		}
	}
}

// TestOnTheWire asks without any of the layers above.
func TestOnTheWire(t *testing.T) {
	p := scripted.Provider(scripted.Config{Scripts: map[string]scripted.Script{"m": parse(t, `rules: [{reply: {text: hi, thinking: hm, usage: {input: 3, output: 2}}}]`)}})
	post := func(method, path, body string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, p.BaseURL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := p.Transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(b)
	}
	status, got := post("POST", "/chat/completions", `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":null}]}`)
	id := got[strings.Index(got, "chatcmpl-"):][:33]
	head := `"created":1767225600,"id":"` + id + `","model":"m","object":"chat.completion.chunk"`
	choice := func(delta, finish string) string {
		return `data: {"choices":[{"delta":` + delta + `,"finish_reason":` + finish + `,"index":0,"logprobs":null}],` + head + `,"usage":null}` + "\n\n"
	}
	want := choice(`{"content":"","role":"assistant"}`, "null") + choice(`{"reasoning_content":"hm"}`, "null") + choice(`{"content":"hi"}`, "null") + choice(`{}`, `"stop"`) +
		`data: {"choices":[],` + head + `,"usage":{"completion_tokens":2,"prompt_tokens":3,"total_tokens":5}}` + "\n\ndata: [DONE]\n\n"
	if diff := cmp.Diff(want, got); status != 200 || diff != "" {
		t.Errorf("%d %s", status, diff)
	}
	for name, tt := range map[string]struct {
		method, path, body string
		status             int
	}{
		"another path":   {"POST", "/models", `{}`, 404},
		"another method": {"GET", "/chat/completions", ``, 404},
		"not JSON":       {"POST", "/chat/completions", `{`, 400},
		"not a stream":   {"POST", "/chat/completions", `{"model":"m"}`, 400},
		"odd content":    {"POST", "/chat/completions", `{"model":"m","stream":true,"messages":[{"content":1}]}`, 400},
	} {
		status, got := post(tt.method, tt.path, tt.body)
		var e struct {
			Error struct{ Message string }
		}
		if err := json.Unmarshal([]byte(got), &e); err != nil || status != tt.status || e.Error.Message == "" {
			t.Errorf("%s: %d %s", name, status, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(conversation))
	f.Add([]byte(`rules: [{reply: {tool_calls: [{name: x, args: {a: [1, {b: .inf}]}}]}}]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := scripted.Parse("s.yaml", b)
		if err != nil {
			if !fault.Is(err, fault.Invalid) {
				t.Fatal(err)
			}
			return
		}
		_, _ = s.Reply(scripted.Request{Messages: []scripted.Message{{Role: "user", Text: "hi"}}})
	})
}
