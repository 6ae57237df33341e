package llm_test

import (
	"bytes"
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
