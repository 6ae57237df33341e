package llm_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/llm"
)

// recording is one streamed answer of a real provider.
type recording struct {
	name string
	body []byte
	want actor.Response // as the naive reader of its format reads it
}

// recordedFormat is where the answers of a format were recorded, and a reader
// that shares nothing with the code under test.
type recordedFormat struct {
	format llm.Format
	url    *regexp.Regexp
	naive  func(t *testing.T, body string) actor.Response
	least  int // so many recordings there have to be
}

func recordedFormats() []recordedFormat {
	return []recordedFormat{
		{llm.Chat, regexp.MustCompile(`/chat/completions$`), naiveChat, 150},
		{llm.Responses, regexp.MustCompile(`/responses$`), naiveResponses, 20},
		{llm.Messages, regexp.MustCompile(`/v1/messages$|:streamRawPredict`), naiveMessages, 15},
		{llm.Gemini, regexp.MustCompile(`:streamGenerateContent`), naiveGemini, 20},
		{llm.Bedrock, regexp.MustCompile(`/invoke-with-response-stream$`), naiveBedrock, 5},
	}
}

// recordings are the streamed answers of a format that fantasy's own tests
// recorded from real providers. The module is only read here.
func (f recordedFormat) recordings(t *testing.T) (out []recording) {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "charm.land/fantasy").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	root := filepath.Join(strings.TrimSpace(string(dir)), "providertests", "testdata")
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var c struct {
			Interactions []struct {
				Request struct {
					URL  string `yaml:"url"`
					Body string `yaml:"body"`
				} `yaml:"request"`
				Response struct {
					Code int    `yaml:"code"`
					Body string `yaml:"body"`
				} `yaml:"response"`
			} `yaml:"interactions"`
		}
		if err := yaml.Unmarshal(b, &c); err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		for _, i := range c.Interactions {
			var asked struct {
				Stream bool `json:"stream"`
			}
			address, _, _ := strings.Cut(i.Request.URL, "?")
			streamed := strings.Contains(address, "stream") || json.Unmarshal([]byte(i.Request.Body), &asked) == nil && asked.Stream
			if f.url.MatchString(address) && streamed && i.Response.Code == 200 {
				out = append(out, recording{rel, []byte(i.Response.Body), f.naive(t, i.Response.Body)})
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRecordedStreams plays every one over loopback: text, thinking, tool calls,
// usage, stop reason and model come out as they went in.
func TestRecordedStreams(t *testing.T) {
	for _, f := range recordedFormats() {
		name := string(f.format)
		if f.format == llm.Chat {
			name = "chat"
		}
		t.Run(name, func(t *testing.T) {
			all := f.recordings(t)
			calls, cached, thought := 0, 0, 0
			for _, r := range all {
				t.Run(r.name, func(t *testing.T) {
					got := play(t, f.format, r.body)
					got.Message.Sealed = nil // its own test looks at it
					if f.format == llm.Gemini {
						for i, c := range got.Message.ToolCalls { // the provider wrote a value, not a text
							got.Message.ToolCalls[i].Arguments = compacted(t, c.Arguments)
						}
					}
					if diff := cmp.Diff(r.want, got); diff != "" {
						t.Error(diff)
					}
				})
				if len(r.want.Message.ToolCalls) > 0 {
					calls++
				}
				if r.want.Usage.CacheRead > 0 {
					cached++
				}
				if r.want.Message.Thinking+r.want.Thoughts != "" {
					thought++
				}
			}
			t.Logf("%d streams, %d with tool calls, %d with cached tokens, %d with thinking", len(all), calls, cached, thought)
			if len(all) < f.least || calls < 3 {
				t.Errorf("only %d streams, %d with tool calls", len(all), calls)
			}
		})
	}
}

// TestT55RecordedStreamsCutAtEveryByte cuts the shortest answers of each
// format, one with a tool call among them, at every byte: each is an error and
// no call comes of it, until the last byte that counts is there.
func TestT55RecordedStreamsCutAtEveryByte(t *testing.T) {
	for _, f := range recordedFormats() {
		all := f.recordings(t)
		slices.SortStableFunc(all, func(a, b recording) int { return len(a.body) - len(b.body) })
		chosen := all[:2]
		for _, r := range all {
			if len(r.want.Message.ToolCalls) > 0 {
				chosen = append(chosen, r)
				break
			}
		}
		for _, r := range chosen {
			// A line end behind the last event is no part of it.
			needed := len(bytes.TrimRight(r.body, "\r\n"))
			cut := 0
			for n := range r.body[:needed] {
				resp, err := modelOf(f.format, bytes.NewReader(r.body[:n])).Generate(t.Context(), ask("p"), nil)
				if !fault.Is(err, fault.Unavailable) || len(resp.Message.ToolCalls) > 0 || len(resp.Message.Pieces) > 0 {
					t.Fatalf("%s %s cut at byte %d of %d: %v, %+v", f.format, r.name, n, len(r.body), err, resp.Message)
				}
				cut++
			}
			if _, err := modelOf(f.format, bytes.NewReader(r.body)).Generate(t.Context(), ask("p"), nil); err != nil {
				t.Errorf("%s %s whole: %v", f.format, r.name, err)
			}
			t.Logf("%s %s: cut at %d bytes", f.format, r.name, cut)
		}
	}
}

func play(t *testing.T, format llm.Format, body []byte) actor.Response {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		w.Write(body)
	}))
	defer s.Close()
	m := llm.New(llm.Config{Providers: map[string]llm.Provider{"p": {Format: format, BaseURL: s.URL}}})
	var told strings.Builder
	resp, err := m.Generate(t.Context(), ask("p"), func(s string) { told.WriteString(s) })
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(resp.Wire.Response, body) {
		t.Error("the record is not the body")
	}
	if text := resp.Message.Text(); text != "" && told.String() != text {
		t.Errorf("told %q of %q", told.String(), text)
	}
	resp.Wire = actor.Wire{}
	return resp
}

// events are the JSON objects of a stream's data lines.
func dataLines(t *testing.T, body string) (out []map[string]any) {
	t.Helper()
	for line := range strings.Lines(body) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data:")
		if data = strings.TrimSpace(data); !ok || data == "[DONE]" {
			continue
		}
		var m map[string]any
		if err := json.Unmarshal([]byte(data), &m); err != nil {
			t.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}

func compacted(t *testing.T, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func unsaid() actor.Response {
	return actor.Response{Message: actor.Message{Role: actor.Assistant},
		Usage: actor.Usage{Input: -1, Output: -1, CacheRead: -1, CacheWrite: -1, Reasoning: -1}}
}

func said(r *actor.Response, text string) {
	if text != "" {
		r.Message.Pieces = []actor.Piece{{Slot: "message", Text: text}}
	}
}

// has sets a count where the provider gave one.
func has(m map[string]any, key string, to *int64) bool {
	v, ok := m[key].(float64)
	if ok {
		*to = int64(v)
	}
	return ok
}

func child(m map[string]any, keys ...string) map[string]any {
	for _, k := range keys {
		m, _ = m[k].(map[string]any)
	}
	return m
}

func naiveMessages(t *testing.T, body string) actor.Response {
	t.Helper()
	return naiveEvents(dataLines(t, body))
}

// naiveBedrock finds the events of the binary answer by the look of them.
func naiveBedrock(t *testing.T, body string) actor.Response {
	t.Helper()
	var events []map[string]any
	for _, m := range regexp.MustCompile(`"bytes":"([A-Za-z0-9+/=]+)"`).FindAllStringSubmatch(body, -1) {
		b, err := base64.StdEncoding.DecodeString(m[1])
		if err != nil {
			t.Fatal(err)
		}
		var e map[string]any
		if err := json.Unmarshal(b, &e); err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return naiveEvents(events)
}

func naiveEvents(events []map[string]any) actor.Response {
	r := unsaid()
	kinds, texts, signed := []string{}, []string{}, true
	count := func(u map[string]any) {
		has(u, "input_tokens", &r.Usage.Input)
		has(u, "output_tokens", &r.Usage.Output)
		has(u, "cache_read_input_tokens", &r.Usage.CacheRead)
		has(u, "cache_creation_input_tokens", &r.Usage.CacheWrite)
	}
	stop := ""
	signatures := map[int]string{}
	for _, e := range events {
		switch e["type"] {
		case "message_start":
			r.Model = str(child(e, "message")["model"])
			count(child(e, "message", "usage"))
		case "content_block_start":
			b := child(e, "content_block")
			kinds, texts = append(kinds, str(b["type"])), append(texts, str(b["text"]))
			if b["type"] == "tool_use" {
				r.Message.ToolCalls = append(r.Message.ToolCalls, actor.ToolCall{ID: str(b["id"]), Name: str(b["name"])})
			}
		case "content_block_delta":
			i, d := int(num(e["index"])), child(e, "delta")
			texts[i] += str(d["text"]) + str(d["thinking"]) + str(d["partial_json"])
			signatures[i] += str(d["signature"])
		case "message_delta":
			stop = str(child(e, "delta")["stop_reason"])
			count(child(e, "usage"))
		}
	}
	text, thinking, n := "", "", 0
	for i, k := range kinds {
		switch k {
		case "text":
			text += texts[i]
		case "thinking":
			thinking += texts[i]
			signed = signed && signatures[i] != ""
		case "tool_use":
			if r.Message.ToolCalls[n].Arguments = texts[i]; texts[i] == "" {
				r.Message.ToolCalls[n].Arguments = "{}"
			}
			n++
		}
	}
	said(&r, text)
	if signed {
		r.Message.Thinking = thinking
	} else {
		r.Thoughts = thinking
	}
	r.Stop = map[string]actor.StopReason{"end_turn": actor.StopEnd, "tool_use": actor.StopTools, "max_tokens": actor.StopLength}[stop]
	return r
}

// naiveResponses reads the whole answer that the terminal event repeats.
func naiveResponses(t *testing.T, body string) actor.Response {
	t.Helper()
	r := unsaid()
	for _, e := range dataLines(t, body) {
		if e["type"] != "response.completed" && e["type"] != "response.incomplete" {
			continue
		}
		end := child(e, "response")
		r.Model, r.Stop = str(end["model"]), actor.StopEnd
		text, thinking, sealed := "", "", false
		for _, it := range list(end["output"]) {
			switch it["type"] {
			case "function_call":
				r.Message.ToolCalls = append(r.Message.ToolCalls, actor.ToolCall{ID: str(it["call_id"]), Name: str(it["name"]), Arguments: str(it["arguments"])})
				r.Stop = actor.StopTools
			case "reasoning":
				sealed = str(it["encrypted_content"]) != ""
				for _, s := range list(it["summary"]) {
					thinking += str(s["text"])
				}
			case "message":
				for _, c := range list(it["content"]) {
					text += str(c["text"])
				}
			}
		}
		said(&r, text)
		if sealed {
			r.Message.Thinking = thinking
		} else {
			r.Thoughts = thinking
		}
		u := child(end, "usage")
		has(u, "input_tokens", &r.Usage.Input)
		has(u, "output_tokens", &r.Usage.Output)
		if has(child(u, "input_tokens_details"), "cached_tokens", &r.Usage.CacheRead) {
			r.Usage.Input -= r.Usage.CacheRead
		}
		has(child(u, "output_tokens_details"), "reasoning_tokens", &r.Usage.Reasoning)
	}
	return r
}

func naiveGemini(t *testing.T, body string) actor.Response {
	t.Helper()
	r := unsaid()
	text, finish := "", ""
	for _, e := range dataLines(t, body) {
		r.Model = str(e["modelVersion"])
		if u := child(e, "usageMetadata"); u != nil {
			r.Usage = unsaid().Usage
			r.Usage.Output = 0 // where only thoughts are told so far
			has(u, "promptTokenCount", &r.Usage.Input)
			has(u, "candidatesTokenCount", &r.Usage.Output)
			if has(u, "cachedContentTokenCount", &r.Usage.CacheRead) {
				r.Usage.Input -= r.Usage.CacheRead
			}
			if has(u, "thoughtsTokenCount", &r.Usage.Reasoning) {
				r.Usage.Output += r.Usage.Reasoning
			}
		}
		for _, c := range list(e["candidates"]) {
			for _, p := range list(child(c, "content")["parts"]) {
				call := child(p, "functionCall")
				switch {
				case call != nil:
					args, err := json.Marshal(child(call, "args"))
					if err != nil {
						t.Fatal(err)
					}
					id := str(call["id"])
					if id == "" {
						id = "call-" + string(rune('0'+len(r.Message.ToolCalls)))
					}
					r.Message.ToolCalls = append(r.Message.ToolCalls, actor.ToolCall{ID: id, Name: str(call["name"]), Arguments: string(args)})
				case p["thought"] == true:
					r.Thoughts += str(p["text"])
				default:
					text += str(p["text"])
				}
			}
			if s := str(c["finishReason"]); s != "" {
				finish = s
			}
		}
	}
	said(&r, text)
	r.Stop = map[string]actor.StopReason{"STOP": actor.StopEnd, "MAX_TOKENS": actor.StopLength}[finish]
	if len(r.Message.ToolCalls) > 0 && r.Stop == actor.StopEnd {
		r.Stop = actor.StopTools
	}
	return r
}

// naiveChat reads a recording of Chat Completions.
func naiveChat(t *testing.T, body string) actor.Response {
	t.Helper()
	r := actor.Response{Message: actor.Message{Role: actor.Assistant}, Usage: actor.Usage{Input: -1, Output: -1, CacheRead: -1, CacheWrite: -1, Reasoning: -1}}
	text, finish := "", ""
	for line := range strings.Lines(body) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var c map[string]any
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			t.Fatal(err)
		}
		if u, ok := c["usage"].(map[string]any); ok {
			r.Usage = actor.Usage{Input: num(u["prompt_tokens"]), Output: num(u["completion_tokens"]), CacheRead: -1, CacheWrite: -1, Reasoning: -1}
			if d, ok := u["prompt_tokens_details"].(map[string]any); ok && d["cached_tokens"] != nil {
				r.Usage.CacheRead = num(d["cached_tokens"])
				r.Usage.Input -= r.Usage.CacheRead
			}
			if has(child(u, "prompt_tokens_details"), "cache_write_tokens", &r.Usage.CacheWrite) {
				r.Usage.Input -= r.Usage.CacheWrite
			}
			has(child(u, "completion_tokens_details"), "reasoning_tokens", &r.Usage.Reasoning)
		}
		if m, ok := c["model"].(string); ok && m != "" {
			r.Model = m
		}
		for _, ch := range list(c["choices"]) {
			d, _ := ch["delta"].(map[string]any)
			text += str(d["content"])
			r.Message.Thinking += thinking(d)
			for _, tc := range list(d["tool_calls"]) {
				f, _ := tc["function"].(map[string]any)
				i := int(num(tc["index"]))
				for len(r.Message.ToolCalls) <= i {
					r.Message.ToolCalls = append(r.Message.ToolCalls, actor.ToolCall{})
				}
				call := &r.Message.ToolCalls[i]
				if call.ID == "" {
					call.ID = str(tc["id"])
				}
				if call.Name == "" {
					call.Name = str(f["name"])
				}
				call.Arguments += str(f["arguments"])
			}
			if s := str(ch["finish_reason"]); s != "" {
				finish = s
			}
		}
	}
	if text != "" {
		r.Message.Pieces = []actor.Piece{{Slot: "message", Text: text}}
	}
	r.Stop = map[string]actor.StopReason{"stop": actor.StopEnd, "tool_calls": actor.StopTools, "length": actor.StopLength}[finish]
	return r
}

func thinking(d map[string]any) string {
	if s := str(d["reasoning_content"]); s != "" {
		return s
	}
	return str(d["reasoning"])
}

func list(v any) (out []map[string]any) {
	l, _ := v.([]any)
	for _, e := range l {
		m, _ := e.(map[string]any)
		out = append(out, m)
	}
	return out
}

func str(v any) string { s, _ := v.(string); return s }

func num(v any) int64 { f, _ := v.(float64); return int64(f) }
