package llm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/llm"
	"github.com/cleveragents/agents/tool"
)

func allFormats() []llm.Format {
	return []llm.Format{llm.Chat, llm.OpenAIChat, llm.Responses, llm.Messages, llm.Gemini, llm.Bedrock, llm.Azure, llm.AzureResponses}
}

// sent is what leaves for a request in a format.
func sent(t *testing.T, f llm.Format, r actor.Request) (url string, h http.Header, body []byte) {
	t.Helper()
	m := llm.New(llm.Config{Providers: map[string]llm.Provider{"p": {
		Format: f, BaseURL: "https://host.invalid", Key: key("k-123"),
		Model: func(string) llm.ModelInfo { return llm.ModelInfo{MaxOutput: 4321, Reasons: true} },
		Transport: roundTrip(func(q *http.Request) (*http.Response, error) {
			url, h = q.URL.String(), q.Header
			var err error
			if body, err = io.ReadAll(q.Body); err != nil {
				t.Error(err)
			}
			return nil, errors.New("no answer")
		}),
	}}})
	r.Provider = "p"
	if _, err := m.Generate(t.Context(), r, nil); !fault.Is(err, fault.Unavailable) {
		t.Fatalf("%s: %v", f, err)
	}
	return url, h, body
}

// talk is a conversation with a model that thinks and calls two tools.
func talk(f llm.Format, answer actor.Response) actor.Request {
	say := func(role actor.Role, texts ...string) actor.Message {
		m := actor.Message{Role: role}
		for i, s := range texts {
			m.Pieces = append(m.Pieces, actor.Piece{Slot: "context", Origin: fmt.Sprint("piece:", i), Text: s})
		}
		return m
	}
	result := func(id, text string, bad bool) actor.Message {
		m := say(actor.ToolRole, text)
		m.ToolCallID, m.IsError = id, bad
		return m
	}
	ms := []actor.Message{
		say(actor.System, "  Be <exact>.\n", "\u2028", "Invariant & all\n"),
		say(actor.User, "Mend it.\n", "", "\"🙂\" \\ \t\x00"),
		answer.Message,
	}
	for i, c := range answer.Message.ToolCalls {
		ms = append(ms, result(c.ID, fmt.Sprintf(" %d: x\r\n", i), i == 1))
	}
	ms = append(ms, say(actor.User, "Go on."), say(actor.Assistant, "Done."), say(actor.User, "{}", "content"))
	return actor.Request{
		Model: "maker/m-1", Messages: ms,
		Tools: []tool.Spec{
			{Name: "builtin/read", Description: " Reads a <file>. ", Input: json.RawMessage(
				`{ "type":"object","properties":{"z":{"maximum":9007199254740993,"x":1.50,"description":"<&>\u2028"},"a":{"type":"string"}},"required":[],"additionalProperties":false}`)},
			{Name: "builtin/list", Description: "Lists.", Input: json.RawMessage(`{"type":"object"}`)},
		},
	}
}

// answers are an answer with thinking and two calls in each format, as its
// provider would send it.
func answers() map[llm.Format]string {
	chat := `data: {"model":"m","choices":[{"index":0,"delta":{"reasoning_content":"Where <is> it?"}}]}

data: {"choices":[{"index":0,"delta":{"content":"I look. ","tool_calls":[{"index":0,"id":"c1","function":{"name":"builtin__read","arguments":"{ \"n\": 1.50, \"path\":\"a<b>\" }"}},{"index":1,"id":"c2","function":{"name":"builtin__read","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}

data: [DONE]

`
	messages := `event: message_start
data: {"type":"message_start","message":{"model":"m","usage":{"input_tokens":3,"output_tokens":1,"cache_read_input_tokens":2,"cache_creation_input_tokens":1}}}

data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

data: {"type":"ping"}

data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Where <is> it?"}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"SIGNED=="}}

data: {"type":"content_block_stop","index":0}

data: {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"HIDDEN=="}}

data: {"type":"content_block_stop","index":1}

data: {"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}

data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"I look. "}}

data: {"type":"content_block_stop","index":2}

data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"c1","name":"builtin__read","input":{}}}

data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{ \"n\": 1.50, "}}

data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"\"path\":\"a<b>\" }"}}

data: {"type":"content_block_stop","index":3}

data: {"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"c2","name":"builtin__read","input":{}}}

data: {"type":"content_block_stop","index":4}

data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":7}}

data: {"type":"message_stop"}

`
	responses := `data: {"type":"response.created","response":{"model":"m"}}

data: {"type":"response.output_item.added","item":{"type":"reasoning"}}

data: {"type":"response.output_item.done","item":{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Where <is> it?"}],"encrypted_content":"SIGNED=="}}

data: {"type":"response.output_item.added","item":{"type":"message"}}

data: {"type":"response.output_text.delta","delta":"I look. "}

data: {"type":"response.output_item.done","item":{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"I look. "}]}}

data: {"type":"response.output_item.added","item":{"type":"function_call"}}

data: {"type":"response.output_item.done","item":{"type":"function_call","id":"fc_1","call_id":"c1","name":"builtin__read","arguments":"{ \"n\": 1.50, \"path\":\"a<b>\" }"}}

data: {"type":"response.output_item.added","item":{"type":"function_call"}}

data: {"type":"response.output_item.done","item":{"type":"function_call","id":"fc_2","call_id":"c2","name":"builtin__read","arguments":"{}"}}

data: {"type":"response.completed","response":{"model":"m","status":"completed","output":[{},{},{},{}],"usage":{"input_tokens":5,"input_tokens_details":{"cached_tokens":2},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":3}}}}

`
	gemini := `data: {"candidates":[{"content":{"parts":[{"text":"Where <is> it?","thought":true}]}}],"modelVersion":"m"}

data: {"candidates":[{"content":{"parts":[{"text":"I look. "}]}}]}

data: {"candidates":[{"content":{"parts":[{"functionCall":{"id":"c1","name":"builtin__read","args":{"n": 1.50, "path":"a<b>"}},"thoughtSignature":"SIGNED=="},{"functionCall":{"id":"c2","name":"builtin__read","args":{}}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":5,"cachedContentTokenCount":2,"candidatesTokenCount":4,"thoughtsTokenCount":3}}

`
	return map[llm.Format]string{
		llm.Chat: chat, llm.OpenAIChat: chat, llm.Azure: chat, llm.Messages: messages, llm.Bedrock: framed(messages),
		llm.Responses: responses, llm.AzureResponses: responses, llm.Gemini: gemini,
	}
}

func answerOf(t *testing.T, f llm.Format) actor.Response {
	t.Helper()
	resp, err := modelOf(f, strings.NewReader(answers()[f])).Generate(t.Context(), ask("p"), nil)
	if err != nil {
		t.Fatalf("%s: %v", f, err)
	}
	resp.Wire = actor.Wire{}
	return resp
}

// A model's turn comes out of each format the same, but for what it may tell.
func TestAnswersOfEveryFormat(t *testing.T) {
	for _, f := range allFormats() {
		got := answerOf(t, f)
		calls := []actor.ToolCall{
			{ID: "c1", Name: "builtin/read", Arguments: `{ "n": 1.50, "path":"a<b>" }`}, {ID: "c2", Name: "builtin/read", Arguments: `{}`},
		}
		if f == llm.Gemini {
			calls[0].Arguments = `{"n": 1.50, "path":"a<b>"}`
		}
		if d := cmp.Diff(calls, got.Message.ToolCalls); d != "" {
			t.Errorf("%s: %s", f, d)
		}
		back := f != llm.Gemini && f != llm.OpenAIChat && f != llm.Azure // thinking goes back
		thought := got.Message.Thinking
		if !back {
			thought = got.Thoughts
		}
		if got.Message.Text() != "I look. " || thought != "Where <is> it?" || got.Stop != actor.StopTools || got.Model != "m" {
			t.Errorf("%s: %+v", f, got)
		}
	}
	want := actor.Usage{Input: 3, Output: 7, CacheRead: 2, CacheWrite: -1, Reasoning: 3}
	for _, f := range []llm.Format{llm.Responses, llm.Gemini} {
		if d := cmp.Diff(want, answerOf(t, f).Usage); d != "" {
			t.Errorf("%s: %s", f, d)
		}
	}
	want = actor.Usage{Input: 3, Output: 7, CacheRead: 2, CacheWrite: 1, Reasoning: -1}
	for _, f := range []llm.Format{llm.Messages, llm.Bedrock} {
		if d := cmp.Diff(want, answerOf(t, f).Usage); d != "" {
			t.Errorf("%s: %s", f, d)
		}
	}
}

// The wire check holds in every format: each text of a conversation is in the
// body exactly as it was composed, and nothing else is.
func TestWireCheckOfEveryFormat(t *testing.T) {
	for _, f := range allFormats() {
		r := talk(f, answerOf(t, f))
		_, _, body := sent(t, f, r)
		parts := evidence.Parts(r)
		m, bad, err := evidence.Build(body, parts)
		if err != nil || len(bad) > 0 {
			for _, b := range bad {
				if b.Part >= 0 {
					t.Errorf("%s: part %q: %s", f, parts[b.Part].Text, b.Why)
				} else {
					t.Errorf("%s: %s: %.60q", f, b.Why, body[b.At:])
				}
			}
			t.Fatalf("%s: %v\n%s", f, err, body)
		}
		for _, s := range m.Spans {
			if s.Blob != "" && s.Enc == evidence.EncodedRaw && s.Kind != evidence.PartArguments {
				t.Errorf("%s: %s %s is not derived from its text: %q", f, s.Slot, s.Origin, s.Raw)
			}
		}
		// The arguments of a call and the numbers of a schema are as they were.
		for _, want := range []string{"9007199254740993", "1.50", `"additionalProperties":false`} {
			if !bytes.Contains(body, []byte(want)) {
				t.Errorf("%s: %s is not in %s", f, want, body)
			}
		}
	}
}

// What a provider sealed goes back to it unchanged, where it belongs, and to no
// other format.
func TestThinkingGoesBackSealed(t *testing.T) {
	for f, wants := range map[llm.Format][]string{
		llm.Messages:  {`{"type":"thinking","thinking":"Where <is> it?","signature":"SIGNED=="},{"type":"redacted_thinking","data":"HIDDEN=="},{"type":"text","text":"I look. "},{"type":"tool_use","id":"c1"`},
		llm.Bedrock:   {`{"type":"thinking","thinking":"Where <is> it?","signature":"SIGNED=="}`},
		llm.Responses: {`{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Where <is> it?"}],"encrypted_content":"SIGNED=="},{"type":"message","role":"assistant"`},
		llm.Gemini:    {`"args":{"n":1.50,"path":"a<b>"}},"thoughtSignature":"SIGNED=="},{"functionCall":{"name":"builtin__read","args":{}}}`},
		llm.Chat:      {`"reasoning_content":"Where <is> it?"`},
	} {
		_, _, body := sent(t, f, talk(f, answerOf(t, f)))
		for _, want := range wants {
			if !bytes.Contains(body, []byte(want)) {
				t.Errorf("%s: %s is not in\n%s", f, want, body)
			}
		}
	}
	other := answerOf(t, llm.Messages)
	for _, f := range []llm.Format{llm.Gemini, llm.Responses, llm.OpenAIChat} {
		if _, _, body := sent(t, f, talk(f, other)); bytes.Contains(body, []byte("SIGNED")) || bytes.Contains(body, []byte("HIDDEN")) {
			t.Errorf("%s got another's seal:\n%s", f, body)
		}
	}
}

// Each format asks at its own place, with the key in its own header, and with
// nothing out of the environment.
func TestAddressesAndKeys(t *testing.T) {
	for _, name := range []string{
		"OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL",
		"ANTHROPIC_CUSTOM_HEADERS", "GEMINI_API_KEY", "GOOGLE_API_KEY", "AZURE_OPENAI_API_KEY",
		"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK", "AWS_PROFILE",
	} {
		t.Setenv(name, "poison-of-the-environment")
	}
	for f, want := range map[llm.Format]struct{ url, header, value string }{
		llm.Chat:           {"https://host.invalid/chat/completions", "Authorization", "Bearer k-123"},
		llm.OpenAIChat:     {"https://host.invalid/chat/completions", "Authorization", "Bearer k-123"},
		llm.Responses:      {"https://host.invalid/responses", "Authorization", "Bearer k-123"},
		llm.Messages:       {"https://host.invalid/v1/messages", "X-Api-Key", "k-123"},
		llm.Gemini:         {"https://host.invalid/v1beta/models/maker%2Fm-1:streamGenerateContent?alt=sse", "X-Goog-Api-Key", "k-123"},
		llm.Bedrock:        {"https://host.invalid/model/maker%2Fm-1/invoke-with-response-stream", "Authorization", "Bearer k-123"},
		llm.AzureResponses: {"https://host.invalid/openai/v1/responses", "Api-Key", "k-123"},
		llm.Azure:          {"https://host.invalid/openai/v1/chat/completions", "Api-Key", "k-123"},
	} {
		url, h, body := sent(t, f, talk(f, actor.Response{Message: actor.Message{Role: actor.Assistant, Pieces: []actor.Piece{{Text: "Yes."}}}}))
		if url != want.url {
			t.Errorf("%s asks %s, want %s", f, url, want.url)
		}
		allowed := map[string]bool{"Accept": true, "Content-Type": true, "User-Agent": true, want.header: true, "Anthropic-Version": f == llm.Messages}
		for name, v := range h {
			if !allowed[name] || strings.Contains(fmt.Sprint(v), "k-123") != (name == want.header) {
				t.Errorf("%s: header %s: %v", f, name, v)
			}
		}
		if h.Get(want.header) != want.value {
			t.Errorf("%s: %s is %q", f, want.header, h.Get(want.header))
		}
		if bytes.Contains(body, []byte("k-123")) || bytes.Contains(body, []byte("poison")) || strings.Contains(fmt.Sprint(h), "poison") {
			t.Errorf("%s: a key is in %s", f, body)
		}
	}
}

func TestAKeyThatIsMissingEndsTheCall(t *testing.T) {
	m := llm.New(llm.Config{Providers: map[string]llm.Provider{"p": {
		BaseURL: "http://x.invalid", Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			t.Error("it was asked without its key")
			return nil, errors.New("no")
		}),
		Key: func(context.Context) (string, error) { return "", fault.New(fault.Unavailable, "no key") },
	}}})
	if _, err := m.Generate(t.Context(), ask("p"), nil); !fault.Is(err, fault.Unavailable) || err.Error() != "no key" {
		t.Errorf("got %v", err)
	}
}

// Marks for the provider's cache stand where the text before them stays the
// same: at the end of the system, of the conversation, and of what the last
// request ended with; never more than four, never on thinking.
func TestCacheMarks(t *testing.T) {
	_, _, body := sent(t, llm.Messages, talk(llm.Messages, answerOf(t, llm.Messages)))
	var got struct {
		System   []map[string]any
		Messages []struct {
			Role    string
			Content []map[string]any
		}
		MaxTokens int `json:"max_tokens"`
	}
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatal(err)
	}
	var marked []string
	for i, b := range got.System {
		if b["cache_control"] != nil {
			marked = append(marked, fmt.Sprint("system ", i))
		}
	}
	for i, m := range got.Messages {
		for j, b := range m.Content {
			if b["cache_control"] != nil {
				marked = append(marked, fmt.Sprintf("%s %d.%d %s", m.Role, i, j, b["type"]))
			}
		}
	}
	if d := cmp.Diff([]string{"system 0", "user 2.2 text", "user 4.0 text"}, marked); d != "" {
		t.Error(d)
	}
	if got.MaxTokens != 4321 {
		t.Errorf("the limit is %d, want the model's own", got.MaxTokens)
	}
}

// An answer with a schema is asked for in the provider's own way.
func TestStructuredOutput(t *testing.T) {
	schema := `{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"],"additionalProperties":false}`
	for f, want := range map[llm.Format]string{
		llm.Chat:      `"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":` + schema + `,"strict":true}}`,
		llm.Responses: `"text":{"format":{"type":"json_schema","name":"answer","schema":` + schema + `,"strict":true}}`,
		llm.Messages:  `"output_config":{"format":{"type":"json_schema","schema":` + schema + `}}`,
		llm.Gemini:    `"responseMimeType":"application/json","responseJsonSchema":` + schema,
	} {
		r := ask("p")
		r.Output = json.RawMessage(schema)
		if _, _, body := sent(t, f, r); !bytes.Contains(body, []byte(want)) {
			t.Errorf("%s: %s is not in\n%s", f, want, body)
		}
	}
}

// What one provider refuses is told in each of their shapes.
func TestRefusalsOfEveryFormat(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		kind   fault.Kind
		says   string
	}{
		{401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, fault.Denied, "invalid x-api-key"},
		{400, `[{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}]`, fault.Denied, "API key not valid"},
		{404, `{"error":{"message":"The model m does not exist","type":"invalid_request_error","code":"model_not_found"}}`, fault.NotFound, "does not exist"},
		{404, `{"type":"error","error":{"type":"not_found_error","message":"model: m"}}`, fault.NotFound, "model: m"},
		{404, `page not found`, fault.Invalid, "page not found"},
		{403, `{"message":"You don't have access to the model"}`, fault.Denied, "have access"},
		{529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, fault.Unavailable, "Overloaded"},
		{502, `<html>Bad gateway</html>`, fault.Unavailable, "Bad gateway"},
		{400, `{"error":"context too long"}`, fault.Invalid, "context too long"},
		{429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, fault.Exhausted, "quota"},
	} {
		for _, f := range allFormats() {
			m := llm.New(llm.Config{Providers: map[string]llm.Provider{"p": {Format: f, BaseURL: "http://x.invalid", Key: key("k-123"),
				Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
					return &http.Response{StatusCode: c.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(c.body)), Request: r}, nil
				})}}})
			resp, err := m.Generate(t.Context(), ask("p"), nil)
			if !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) || strings.Contains(fmt.Sprintf("%v %#v", err, err), "k-123") {
				t.Errorf("%s: HTTP %d %s gives %v (%s)", f, c.status, c.body, err, fault.KindOf(err))
			}
			if string(resp.Wire.Response) != c.body {
				t.Errorf("%s: the record of a refusal is %q", f, resp.Wire.Response)
			}
		}
	}
}

// T54: a provider that says nothing, at once or in the middle, is unavailable
// after its time; one that says a little now and then is not. A caller who
// gives up gets the call back at once.
func TestT54Silence(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(ctx context.Context, w io.Writer) error // nil hangs before the headers
		after  time.Duration
		kind   fault.Kind
	}{
		"before the headers": {nil, 10 * time.Second, fault.Unavailable},
		"in the middle": {func(ctx context.Context, w io.Writer) error {
			io.WriteString(w, "data: {\"choices\":[]}\n\n")
			<-ctx.Done()
			return ctx.Err()
		}, 5 * time.Second, fault.Unavailable},
		"slow but alive": {func(ctx context.Context, w io.Writer) error {
			for range 10 {
				time.Sleep(4 * time.Second)
				if _, err := io.WriteString(w, ": still here\n"); err != nil {
					return err
				}
			}
			io.WriteString(w, answers()[llm.Chat])
			return io.EOF
		}, 40 * time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := llm.New(llm.Config{FirstByte: 10 * time.Second, BetweenBytes: 5 * time.Second, Providers: map[string]llm.Provider{"p": {
					BaseURL: "http://x.invalid", Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
						if c.answer == nil {
							<-r.Context().Done()
							return nil, r.Context().Err()
						}
						pr, pw := io.Pipe()
						go func() { pw.CloseWithError(c.answer(r.Context(), pw)) }()
						return &http.Response{StatusCode: 200, Body: pr, Request: r}, nil
					})}}})
				start := time.Now()
				_, err := m.Generate(t.Context(), ask("p"), nil)
				if took := time.Since(start); took != c.after {
					t.Errorf("it took %s, want %s", took, c.after)
				}
				if c.kind == 0 && err != nil || c.kind != 0 && (!fault.Is(err, c.kind) || !strings.Contains(err.Error(), "went silent")) {
					t.Errorf("got %v", err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				start = time.Now()
				if _, err := m.Generate(ctx, ask("p"), nil); !errors.Is(err, context.Canceled) || time.Since(start) > time.Second+100*time.Millisecond {
					t.Errorf("cancel gave %v after %s", err, time.Since(start))
				}
				time.Sleep(time.Minute) // for the provider to notice
			})
		})
	}
}
