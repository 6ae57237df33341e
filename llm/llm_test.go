package llm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/llm"
	"github.com/cleveragents/agents/llm/scripted"
	"github.com/cleveragents/agents/tool"
)

var _ engine.Model = (*llm.Model)(nil)

// says returns a model whose only script is the YAML text.
func says(t testing.TB, yaml string) *llm.Model {
	t.Helper()
	s, err := scripted.Parse("test.yaml", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	p := scripted.Provider(scripted.Config{Scripts: map[string]scripted.Script{"m": s}})
	return llm.New(llm.Config{Providers: map[string]llm.Provider{scripted.Name: p}})
}

// at returns a model behind a server at url.
func at(url string) *llm.Model {
	return llm.New(llm.Config{Providers: map[string]llm.Provider{"p": {BaseURL: url + "/v1", Key: key("k-123")}}})
}

func key(s string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return s, nil }
}

// body returns a model that answers with these bytes.
func body(b io.Reader) *llm.Model { return modelOf(llm.Chat, b) }

// modelOf is the same in another format.
func modelOf(f llm.Format, b io.Reader) *llm.Model {
	return llm.New(llm.Config{Providers: map[string]llm.Provider{"p": {Format: f, BaseURL: "http://x.invalid/v1", Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Status: "200 OK", Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(b), Request: r}, nil
	})}}})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func ask(provider string) actor.Request {
	return actor.Request{Provider: provider, Model: "m", Messages: []actor.Message{
		{Role: actor.User, Pieces: []actor.Piece{{Slot: "action", Origin: "test", Text: "do it"}}}},
		Tools: []tool.Spec{{Name: "builtin/read", Description: "reads", Input: json.RawMessage(`{"type":"object"}`)}}}
}

// hostile is a request whose texts are all easy to lose or to change.
func hostile() actor.Request {
	p := func(texts ...string) (ps []actor.Piece) {
		for i, s := range texts {
			ps = append(ps, actor.Piece{Slot: "context", Origin: fmt.Sprintf("file:%d", i), Text: s})
		}
		return ps
	}
	temperature := 0.25
	return actor.Request{
		Provider: scripted.Name, Model: "m", Temperature: &temperature, MaxTokens: 100,
		Messages: []actor.Message{
			{Role: actor.System, Pieces: p("  leading", "\n", "same", "same", "trailing \n\n")},
			{Role: actor.System, Pieces: p("a second system message <b>&\u2028")},
			{Role: actor.User, Pieces: p("user", "", "same", "\"quoted\" \\ \t\x00\x7f", "🙂é\ufffd")},
			{Role: actor.Assistant, Pieces: p(" thinking aloud "), Thinking: " deep <thought> ", ToolCalls: []actor.ToolCall{
				{ID: "c1", Name: "builtin/read", Arguments: `{"path":"a<b>"}`}, {ID: "c2", Name: "builtin/read", Arguments: `{"bad`}}},
			{Role: actor.ToolRole, ToolCallID: "c1", Pieces: p(" 1: x\r\n", "2: y")},
			{Role: actor.ToolRole, ToolCallID: "c2", Pieces: p("error: not JSON"), IsError: true},
			{Role: actor.Assistant, Pieces: p("   ")},
			{Role: actor.User, Pieces: p(" ")},
			{Role: actor.Assistant},
			{Role: actor.User},
			{Role: actor.Assistant, ToolCalls: []actor.ToolCall{{ID: "c3", Name: "builtin/list", Arguments: ""}}},
			{Role: actor.ToolRole, ToolCallID: "c3"},
			{Role: actor.User, Pieces: p("{}", "content", "\u2029")},
		},
		Tools: []tool.Spec{
			{Name: "builtin/read", Description: " reads <a> file ", Input: json.RawMessage(`{"type":"object","properties":{"n":{"maximum":9007199254740993,"x":1.50,"description":"<&>"}}}`)},
			{Name: "builtin/list", Description: "", Input: json.RawMessage(`{ "type": "object" }`)},
		},
	}
}

func TestWhatIsComposedIsWhatIsSent(t *testing.T) {
	m := says(t, `rules: [{reply: {text: fine}}]`)
	r := hostile()
	resp, err := m.Generate(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	parts := evidence.Parts(r)
	manifest, bad, err := evidence.Build(resp.Wire.Request, parts)
	if err != nil || len(bad) > 0 {
		t.Fatalf("%v %+v\n%s", err, bad, resp.Wire.Request)
	}
	spans := 0
	for _, s := range manifest.Spans {
		if s.Blob == "" {
			continue
		}
		spans++
		if s.Enc == evidence.EncodedRaw {
			t.Errorf("%s %s is not derived from its text: %q", s.Slot, s.Origin, s.Raw)
		}
	}
	if spans < 20 {
		t.Errorf("only %d parts", spans)
	}
	blobs := map[string][]byte{}
	for _, p := range parts {
		blobs[evidence.Hash([]byte(p.Text))] = []byte(p.Text)
	}
	got, err := manifest.Assemble(func(h string) ([]byte, error) { return blobs[h], nil })
	if err != nil || !bytes.Equal(got, resp.Wire.Request) {
		t.Fatalf("assembled %s: %v", got, err)
	}
	var sent struct {
		Messages []struct {
			Role string `json:"role"`
		} `json:"messages"`
		Model       string  `json:"model"`
		MaxTokens   int     `json:"max_tokens"`
		Temperature float64 `json:"temperature"`
	}
	if err := json.Unmarshal(resp.Wire.Request, &sent); err != nil {
		t.Fatal(err)
	}
	if len(sent.Messages) != len(r.Messages) || sent.Model != "m" || sent.MaxTokens != 100 || sent.Temperature != 0.25 {
		t.Errorf("sent %+v", sent)
	}
	for i, m := range sent.Messages {
		if m.Role != string(r.Messages[i].Role) {
			t.Errorf("message %d is of %s, not %s", i, m.Role, r.Messages[i].Role)
		}
	}
}

func TestGenerate(t *testing.T) {
	m := says(t, `
rules:
  - when: {tool_offered: builtin/read}
    reply:
      thinking: "hm, <so>"
      text: "I read 🙂 two files, and I say so at some length to be cut into pieces."
      tool_calls:
        - {name: builtin/read, args: {path: "x", deep: [{a: 1}]}}
        - {name: builtin/read, raw_args: '{"bad'}
        - {name: builtin/read, raw_args: ''}
        - {name: not/offered, args: {}}
      usage: {input: 11, output: 7}
`)
	var heard strings.Builder
	resp, err := m.Generate(t.Context(), ask(scripted.Name), func(s string) { heard.WriteString(s) })
	if err != nil {
		t.Fatal(err)
	}
	const text = "I read 🙂 two files, and I say so at some length to be cut into pieces."
	if heard.String() != text {
		t.Errorf("progress said %q", heard.String())
	}
	for i, c := range resp.Message.ToolCalls {
		if !strings.HasPrefix(c.ID, "call_") {
			t.Errorf("call %d has id %q", i, c.ID)
		}
		resp.Message.ToolCalls[i].ID = ""
	}
	if resp.Wire.Attempts != 1 || !bytes.HasSuffix(resp.Wire.Response, []byte("data: [DONE]\n\n")) {
		t.Errorf("wire %d attempts, %d bytes", resp.Wire.Attempts, len(resp.Wire.Response))
	}
	resp.Wire = actor.Wire{}
	want := actor.Response{
		Message: actor.Message{Role: actor.Assistant, Thinking: "hm, <so>", Pieces: []actor.Piece{{Slot: "message", Text: text}}, ToolCalls: []actor.ToolCall{
			{Name: "builtin/read", Arguments: `{"deep":[{"a":1}],"path":"x"}`},
			{Name: "builtin/read", Arguments: `{"bad`},
			{Name: "builtin/read", Arguments: ``},
			{Name: "not__offered", Arguments: `{}`},
		}},
		Stop: actor.StopTools, Usage: actor.Usage{Input: 11, Output: 7, CacheRead: -1, CacheWrite: -1, Reasoning: -1}, Model: "m",
	}
	if diff := cmp.Diff(want, resp); diff != "" {
		t.Error(diff)
	}
}

func TestGenerateRefuses(t *testing.T) {
	m := says(t, `rules: [{reply: {text: fine}}]`)
	with := func(f func(*actor.Request)) actor.Request {
		r := ask(scripted.Name)
		f(&r)
		return r
	}
	piece := func(role actor.Role, text string) []actor.Message {
		return []actor.Message{{Role: role, Pieces: []actor.Piece{{Text: text}}}}
	}
	tests := map[string]struct {
		r    actor.Request
		kind fault.Kind
		says string
	}{
		"unknown provider": {ask("anthropic"), fault.NotFound, `no provider "anthropic"`},
		"unknown script":   {with(func(r *actor.Request) { r.Model = "x.yaml" }), fault.NotFound, `no scripted model "x.yaml"`},
		"blank system":     {with(func(r *actor.Request) { r.Messages = piece(actor.System, " \n") }), fault.Invalid, "message 0 (system)"},
		"not UTF-8":        {with(func(r *actor.Request) { r.Messages = piece(actor.User, "\xff") }), fault.Invalid, "not UTF-8"},
		"unknown role":     {with(func(r *actor.Request) { r.Messages = piece("poet", "x") }), fault.Invalid, "unknown role"},
		"answer to no call": {with(func(r *actor.Request) { r.Messages = piece(actor.ToolRole, "x") }), fault.Invalid,
			"which call it answers"},
		"bad schema": {with(func(r *actor.Request) { r.Tools[0].Input = json.RawMessage(`[1]`) }), fault.Invalid, "tool builtin/read"},
		"same wire name": {with(func(r *actor.Request) {
			r.Tools = append(r.Tools, tool.Spec{Name: "builtin__read", Input: json.RawMessage(`{}`)})
		}), fault.Invalid, "builtin/read and builtin__read"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := m.Generate(t.Context(), tt.r, nil)
			if !fault.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v (%v), want %v with %q", err, fault.As(err), tt.kind, tt.says)
			}
		})
	}
}

func TestStatusesBecomeFaults(t *testing.T) {
	tests := []struct {
		status int
		header string
		body   string
		kind   fault.Kind
		after  any
	}{
		{400, "", `{"error":{"message":"bad"}}`, fault.Invalid, nil},
		{401, "", `{"error":{"message":"bad key"}}`, fault.Denied, nil},
		{402, "", `{}`, fault.Exhausted, nil},
		{403, "", ``, fault.Denied, nil},
		{404, "", `<html>`, fault.Invalid, nil},
		{422, "", `{}`, fault.Invalid, nil},
		{302, "Location: http://elsewhere.invalid/", ``, fault.Invalid, nil},
		{408, "", `{}`, fault.Unavailable, nil},
		{409, "", `{}`, fault.Unavailable, nil},
		{425, "", `{}`, fault.Unavailable, nil},
		{429, "Retry-After: 7", `{"error":{"message":"slow down"}}`, fault.Unavailable, 7.0},
		{429, "Retry-After-Ms: 1500", `{}`, fault.Unavailable, 1.5},
		{429, "Retry-After: Thu, 01 Jan 2026 00:00:09 GMT", `{}`, fault.Unavailable, 9.0},
		{429, "Retry-After: soon", `{}`, fault.Unavailable, nil},
		{429, "Retry-After: inf", `{}`, fault.Unavailable, 86400.0},
		{429, "", `{"error":{"message":"pay","code":"insufficient_quota"}}`, fault.Exhausted, nil},
		{500, "", `{}`, fault.Unavailable, nil},
		{503, "Retry-After: 2", ``, fault.Unavailable, 2.0},
		{529, "", `{}`, fault.Unavailable, nil},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.status, tt.header), func(t *testing.T) {
			calls := 0
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls++
				w.Header().Set("Date", "Thu, 01 Jan 2026 00:00:00 GMT")
				if k, v, ok := strings.Cut(tt.header, ": "); ok {
					w.Header().Set(k, v)
				}
				w.WriteHeader(tt.status)
				io.WriteString(w, tt.body)
			}))
			defer s.Close()
			resp, err := at(s.URL).Generate(t.Context(), ask("p"), nil)
			if !fault.Is(err, tt.kind) {
				t.Fatalf("got %v (%v), want %v", err, fault.KindOf(err), tt.kind)
			}
			if diff := cmp.Diff(tt.after, fault.As(err).Details["retry_after"]); diff != "" {
				t.Error(diff)
			}
			if calls != 1 || resp.Wire.Attempts != 1 {
				t.Errorf("%d calls, %d attempts: nothing may try again by itself", calls, resp.Wire.Attempts)
			}
			if strings.Contains(fmt.Sprintf("%v %#v", err, err), "k-123") {
				t.Error("the error holds the key")
			}
			if len(resp.Wire.Request) == 0 || string(resp.Wire.Response) != tt.body {
				t.Errorf("the record of a refusal is %q, %q", resp.Wire.Request, resp.Wire.Response)
			}
		})
	}
}

func TestErrorInsideAStream(t *testing.T) {
	tests := map[string]fault.Kind{
		`{"error":{"message":"overloaded","type":"server_error"}}`:                fault.Unavailable,
		`{"error":{"message":"context too long","type":"invalid_request_error"}}`: fault.Invalid,
		`{"error":"boom"}`: fault.Unavailable,
	}
	for event, kind := range tests {
		_, err := body(strings.NewReader("data: "+event+"\n\ndata: [DONE]\n\n")).Generate(t.Context(), ask("p"), nil)
		if !fault.Is(err, kind) {
			t.Errorf("%s: %v, want %v", event, err, kind)
		}
	}
}

func TestBrokenConnectionIsUnavailable(t *testing.T) {
	reset := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "data: {\"choices\":[]}\n\n")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}))
	defer reset.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	for name, url := range map[string]string{"reset": reset.URL, "refused": gone.URL} {
		if _, err := at(url).Generate(t.Context(), ask("p"), nil); !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOnlyOurHeadersLeave(t *testing.T) {
	for k, v := range map[string]string{"OPENAI_API_KEY": "sk-env", "OPENAI_ORG_ID": "org-env", "OPENAI_PROJECT_ID": "proj-env",
		"OPENAI_BASE_URL": "http://env.invalid", "OPENAI_CUSTOM_HEADERS": "X-Env: yes"} {
		t.Setenv(k, v)
	}
	var got []http.Header
	m := func(k string) *llm.Model {
		return llm.New(llm.Config{Providers: map[string]llm.Provider{"p": {BaseURL: "http://x.invalid/v1/", Key: key(k), Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.URL.String() != "http://x.invalid/v1/chat/completions" {
				t.Errorf("asked %s", r.URL)
			}
			got = append(got, r.Header)
			return nil, errors.New("no answer")
		})}}})
	}
	for _, k := range []string{"", "k"} {
		if _, err := m(k).Generate(t.Context(), ask("p"), nil); !fault.Is(err, fault.Unavailable) {
			t.Fatal(err)
		}
	}
	plain := http.Header{"Accept": {"text/event-stream"}, "Content-Type": {"application/json"}, "User-Agent": {"cleveragents"}}
	keyed := plain.Clone()
	keyed.Set("Authorization", "Bearer k")
	if diff := cmp.Diff([]http.Header{plain, keyed}, got); diff != "" {
		t.Error(diff)
	}
}

func TestCancelEndsACallThatHangs(t *testing.T) {
	stop := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}]}\n\n")
		w.(http.Flusher).Flush()
		<-stop
	}))
	defer server.Close()
	defer close(stop)
	tests := map[string]struct {
		m *llm.Model
		r actor.Request
	}{
		"a script":          {says(t, `rules: [{reply: {text: x, hang: true}}]`), ask(scripted.Name)},
		"a server":          {at(server.URL), ask("p")},
		"a script, delayed": {says(t, `rules: [{reply: {text: x, delay_ms: 60000}}]`), ask(scripted.Name)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			var at time.Time
			end := func() { at = time.Now(); cancel() }
			if strings.HasSuffix(name, "delayed") {
				time.AfterFunc(20*time.Millisecond, end)
			}
			resp, err := tt.m.Generate(ctx, tt.r, func(string) { end() })
			// It is a matter of microseconds; the bound only tells a busy machine
			// from a call that waits for its hanging peer.
			if took := time.Since(at); took > 5*time.Second {
				t.Errorf("took %v after cancel", took)
			}
			if !errors.Is(err, context.Canceled) || len(resp.Message.Pieces) > 0 {
				t.Errorf("got %v, %+v", err, resp.Message)
			}
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := tests["a script"].m.Generate(ctx, ask(scripted.Name), nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a deadline gives %v", err)
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func BenchmarkGenerate(b *testing.B) {
	m := says(b, `rules: [{reply: {text: I read it now., tool_calls: [{name: builtin/read, args: {path: price.sh}}]}}]`)
	for name, r := range map[string]actor.Request{"small": ask(scripted.Name), "100KB": big()} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Generate(b.Context(), r, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func big() actor.Request {
	r := ask(scripted.Name)
	for i := range 60 {
		r.Messages[0].Pieces = append(r.Messages[0].Pieces, actor.Piece{Slot: "context", Origin: fmt.Sprint(i), Text: strings.Repeat("if n > 500 { return \"x\" }\n", 66)})
	}
	return r
}
