package llm_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/llm"
)

// answering is a model of a format that answers with this, and has a key.
func answering(f llm.Format, status int, h http.Header, body string) *llm.Model {
	return llm.New(llm.Config{Providers: map[string]llm.Provider{"p": {Format: f, BaseURL: "http://x.invalid", Key: key(longKey),
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
		})}}})
}

const longKey = "sk-secret-0123456789"

// T54: whoever is busy says for how long in one of several ways; a time that
// cannot be meant is bounded.
func TestT54BusyInEveryFormat(t *testing.T) {
	date := func(k, v string) http.Header {
		return http.Header{"Date": {"Thu, 01 Jan 2026 00:00:00 GMT"}, k: {v}}
	}
	for name, c := range map[string]struct {
		status int
		h      http.Header
		body   string
		after  any
	}{
		"seconds":         {429, date("Retry-After", "7"), "{}", 7.0},
		"milliseconds":    {429, date("Retry-After-Ms", "1500"), "{}", 1.5},
		"a date":          {429, date("Retry-After", "Thu, 01 Jan 2026 00:00:09 GMT"), "{}", 9.0},
		"a date gone by":  {429, date("Retry-After", "Wed, 31 Dec 2025 23:00:00 GMT"), "{}", 0.0},
		"absurd":          {429, date("Retry-After", "1e300"), "{}", 86400.0},
		"an absurd date":  {429, date("Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT"), "{}", 86400.0},
		"negative":        {429, date("Retry-After", "-5"), "{}", nil},
		"no number":       {429, date("Retry-After", "NaN"), "{}", nil},
		"in the body":     {429, http.Header{}, `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"q","details":[{"retryDelay":"34.5s"}]}}`, 34.5},
		"absurd there":    {429, http.Header{}, `{"error":{"message":"q","details":[{"retryDelay":"999999h"}]}}`, 86400.0},
		"when it is full": {429, http.Header{"X-Ratelimit-Remaining-Tokens": {"0"}, "X-Ratelimit-Reset-Tokens": {"6m0s"}}, "{}", 360.0},
		"500":             {500, http.Header{}, "{}", nil},
		"502":             {502, http.Header{}, "<html>", nil},
		"529":             {529, date("Retry-After", "3"), `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, 3.0},
	} {
		for _, f := range allFormats() {
			_, err := answering(f, c.status, c.h, c.body).Generate(t.Context(), ask("p"), nil)
			if d := cmp.Diff(c.after, fault.As(err).Details["retry_after"]); !fault.Is(err, fault.Unavailable) || d != "" {
				t.Errorf("%s, %s: %v %s", f, name, err, d)
			}
		}
	}
}

// T54: a connection that is reset, in every format.
func TestT54ResetInEveryFormat(t *testing.T) {
	for _, f := range allFormats() {
		half := answers()[f][:len(answers()[f])/2]
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, half)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}))
		m := llm.New(llm.Config{Providers: map[string]llm.Provider{"p": {Format: f, BaseURL: server.URL}}})
		resp, err := m.Generate(t.Context(), ask("p"), nil)
		if !fault.Is(err, fault.Unavailable) || len(resp.Message.ToolCalls)+len(resp.Message.Pieces) > 0 {
			t.Errorf("%s: %v, %+v", f, err, resp.Message)
		}
		server.Close()
	}
}

// T55: how the bytes come makes no difference; what is no answer is none.
func TestT55HowTheBytesCome(t *testing.T) {
	for _, f := range allFormats() {
		whole := answers()[f]
		want := answerOf(t, f)
		ways := map[string]io.Reader{
			"one byte at a time": iotest.OneByteReader(strings.NewReader(whole)), // characters are split, too
			"the end with data":  iotest.DataErrReader(strings.NewReader(whole)),
		}
		if f != llm.Bedrock { // which has no lines
			ways["CRLF"] = strings.NewReader(strings.ReplaceAll(whole, "\n", "\r\n"))
			ways["a comment of 1 MiB"] = strings.NewReader(": " + strings.Repeat("é", 1<<19) + "\n" + whole)
		}
		for name, r := range ways {
			got, err := modelOf(f, r).Generate(t.Context(), ask("p"), nil)
			got.Wire = actor.Wire{}
			if d := cmp.Diff(want, got); err != nil || d != "" {
				t.Errorf("%s, %s: %v %s", f, name, err, d)
			}
		}
		for name, s := range map[string]string{
			"nothing": "", "HTML": "<html>no</html>\n\n", "zeros": strings.Repeat("\x00", 64), "no JSON": "data: {\n\n", "a list": "data: []\n\n",
			"garbage before it": "data: \xff\xfe{]\n\n" + whole, "another's": answers()[map[bool]llm.Format{true: llm.Chat, false: llm.Bedrock}[f == llm.Bedrock]],
		} {
			resp, err := modelOf(f, strings.NewReader(s)).Generate(t.Context(), ask("p"), nil)
			if !fault.Is(err, fault.Unavailable) || len(resp.Message.ToolCalls) > 0 {
				t.Errorf("%s, %s: %v", f, name, err)
			}
		}
	}
}

// T54: silence before the headers and behind them, and a caller who gives up,
// in every format. The clock is virtual.
func TestT54SilenceInEveryFormat(t *testing.T) {
	for _, f := range allFormats() {
		for _, sent := range []int{-1, 0, len(answers()[f]) / 2} { // -1: not even headers
			synctest.Test(t, func(t *testing.T) {
				m := llm.New(llm.Config{FirstByte: 20 * time.Second, BetweenBytes: 5 * time.Second, Providers: map[string]llm.Provider{"p": {
					Format: f, BaseURL: "http://x.invalid", Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
						if sent < 0 {
							<-r.Context().Done()
							return nil, r.Context().Err()
						}
						in, out := io.Pipe()
						go func() { // and does not look at the context
							_, _ = io.WriteString(out, answers()[f][:sent])
						}()
						return &http.Response{StatusCode: 200, Header: http.Header{}, Body: in, Request: r}, nil
					})}}})
				start, want := time.Now(), 5*time.Second
				if sent < 0 {
					want = 20 * time.Second
				}
				if _, err := m.Generate(t.Context(), ask("p"), nil); !fault.Is(err, fault.Unavailable) || time.Since(start) != want {
					t.Errorf("%s, %d bytes: %v after %s, want %s", f, sent, err, time.Since(start), want)
				}
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				start = time.Now()
				if _, err := m.Generate(ctx, ask("p"), nil); !errors.Is(err, context.Canceled) || time.Since(start) > 1100*time.Millisecond {
					t.Errorf("%s, %d bytes: cancel gave %v after %s", f, sent, err, time.Since(start))
				}
			})
		}
	}
}

// A key that a provider repeats is neither told nor kept, wherever it stands.
func TestTheKeyDoesNotComeBack(t *testing.T) {
	event := map[llm.Format]string{
		llm.Messages: `{"type":"error","error":{"type":"authentication_error","message":"bad key ` + longKey + `"}}`,
		llm.Gemini:   `{"error":{"status":"UNAUTHENTICATED","message":"bad key ` + longKey + `"}}`,
	}
	for _, f := range allFormats() {
		e := event[f]
		if e == "" {
			e = `{"type":"error","error":{"type":"authentication_error","message":"bad key ` + longKey + `"}}`
		}
		stream := "data: " + e + "\n\n"
		if f == llm.Bedrock {
			stream = framed(stream)
		}
		reason := `data: {"type":"response.incomplete","response":{"incomplete_details":{"reason":"` + longKey + `"}}}` + "\n\n"
		for name, m := range map[string]*llm.Model{
			"in a reason":  answering(f, 200, http.Header{}, reason),
			"refused":      answering(f, 401, http.Header{}, `{"error":{"message":"Incorrect API key provided: `+longKey+`"}}`),
			"a text":       answering(f, 500, http.Header{}, "proxy: cannot send "+longKey),
			"sent on":      answering(f, 302, http.Header{"Location": {"http://y.invalid/?key=" + longKey}}, ""),
			"in a stream":  answering(f, 200, http.Header{}, stream),
			"said success": answering(f, 200, http.Header{}, `{"error":{"message":"bad key `+longKey+`"}}`),
		} {
			resp, err := m.Generate(t.Context(), ask("p"), nil)
			if err == nil {
				t.Errorf("%s, %s: no error", f, name)
			}
			said := fmt.Sprintf("%v %+v %#v %v", err, err, err, fault.As(err))
			for e := err; e != nil; e = errors.Unwrap(e) {
				said += e.Error()
			}
			if strings.Contains(said, longKey) || bytes.Contains(resp.Wire.Response, []byte(longKey)) || bytes.Contains(resp.Wire.Request, []byte(longKey)) {
				t.Errorf("%s, %s: the key is in %s or in %s", f, name, said, resp.Wire.Response)
			}
			if name == "said success" && f != llm.Bedrock && !strings.Contains(err.Error(), "bad key") {
				t.Errorf("%s: what is said with a success is lost: %v", f, err)
			}
			if name == "refused" && (!strings.Contains(err.Error(), "[key]") || len(resp.Wire.Response) == 0) {
				t.Errorf("%s: %v, kept %q", f, err, resp.Wire.Response)
			}
		}
	}
}

// An error inside a stream is of the kind that its words say.
func TestErrorsInsideTheStreams(t *testing.T) {
	for _, c := range []struct {
		f     llm.Format
		event string
		kind  fault.Kind
	}{
		{llm.Chat, `{"error":{"message":"x","code":502}}`, fault.Unavailable},
		{llm.Chat, `{"error":{"message":"x","code":403}}`, fault.Denied},
		{llm.Chat, `{"error":{"message":"x","code":"model_not_found"}}`, fault.NotFound},
		{llm.Chat, `{"error":{"message":"x","code":"insufficient_quota","type":"invalid_request_error"}}`, fault.Exhausted},
		{llm.Messages, `{"type":"error","error":{"type":"overloaded_error","message":"x"}}`, fault.Unavailable},
		{llm.Messages, `{"type":"error","error":{"type":"rate_limit_error","message":"x"}}`, fault.Unavailable},
		{llm.Messages, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long"}}`, fault.Invalid},
		{llm.Messages, `{"type":"error","error":{"type":"not_found_error","message":"x"}}`, fault.NotFound},
		{llm.Messages, `{"type":"error","error":{"type":"billing_error","message":"x"}}`, fault.Exhausted},
		{llm.Responses, `{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"x"}}}`, fault.Unavailable},
		{llm.Responses, `{"type":"response.failed","response":{}}`, fault.Unavailable},
		{llm.Responses, `{"type":"error","code":"context_length_exceeded","message":"x"}`, fault.Invalid},
		{llm.Responses, `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"something else"}}}`, fault.Unavailable},
		{llm.Responses, `{"type":"response.incomplete","response":{}}`, fault.Unavailable},
		{llm.Gemini, `{"error":{"code":503,"status":"UNAVAILABLE","message":"x"}}`, fault.Unavailable},
		{llm.Gemini, `{"error":{"code":403,"status":"PERMISSION_DENIED","message":"x"}}`, fault.Denied},
		{llm.Gemini, `{"error":{"status":"PERMISSION_DENIED","message":"x"}}`, fault.Denied},
		{llm.Gemini, `{"error":{"code":404,"status":"NOT_FOUND","message":"x"}}`, fault.NotFound},
	} {
		_, err := modelOf(c.f, strings.NewReader("data: "+c.event+"\n\n")).Generate(t.Context(), ask("p"), nil)
		if err == nil || !fault.Is(err, c.kind) {
			t.Errorf("%s %s: %v, want %s", c.f, c.event, err, c.kind)
		}
	}
	// Cut by its length limit is no error: the answer says so itself.
	for reason, stop := range map[string]actor.StopReason{"max_output_tokens": actor.StopLength, "content_filter": actor.StopRefused} {
		resp, err := modelOf(llm.Responses, strings.NewReader(`data: {"type":"response.incomplete","response":{"incomplete_details":{"reason":"`+reason+`"}}}`+"\n\n")).Generate(t.Context(), ask("p"), nil)
		if err != nil || resp.Stop != stop {
			t.Errorf("%s: %v, %s", reason, err, resp.Stop)
		}
	}
}

// What Anthropic and Amazon say with another status than the others.
func TestRefusalsByTheirWords(t *testing.T) {
	for body, kind := range map[string]fault.Kind{
		`{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`: fault.Exhausted,
		`{"message":"The provided model identifier is invalid."}`:                                                                           fault.NotFound,
		`{"error":{"message":"no such model","code":"model_not_found"}}`:                                                                    fault.NotFound,
		`{"error":{"message":"something is wrong"}}`:                                                                                        fault.Invalid,
	} {
		if _, err := answering(llm.Messages, 400, http.Header{}, body).Generate(t.Context(), ask("p"), nil); !fault.Is(err, kind) {
			t.Errorf("%s: %v, want %s", body, err, kind)
		}
	}
}
