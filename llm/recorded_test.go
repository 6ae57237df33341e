package llm_test

import (
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/cleveragents/agents/actor"
)

// cassette is a recording of go-vcr.
type cassette struct {
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

// TestRecordedStreams plays every streamed chat completion that fantasy's own
// tests recorded from real providers.
func TestRecordedStreams(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "charm.land/fantasy").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	played, withCalls, cached, thought := 0, 0, 0, 0
	root := filepath.Join(strings.TrimSpace(string(out)), "providertests", "testdata")
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var c cassette
		if err := yaml.Unmarshal(b, &c); err != nil {
			return err
		}
		for _, i := range c.Interactions {
			var asked struct {
				Stream bool `json:"stream"`
			}
			if !strings.Contains(i.Request.URL, "/chat/completions") || json.Unmarshal([]byte(i.Request.Body), &asked) != nil || !asked.Stream || i.Response.Code != 200 {
				continue
			}
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			t.Run(rel, func(t *testing.T) {
				want := naive(t, i.Response.Body)
				got := play(t, i.Response.Body)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
				played++
				if len(want.Message.ToolCalls) > 0 {
					withCalls++
				}
				if want.Usage.CacheRead > 0 {
					cached++
				}
				if want.Message.Thinking != "" {
					thought++
				}
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d streams, %d with tool calls, %d with cached tokens, %d with thinking", played, withCalls, cached, thought)
	if played < 50 || withCalls < 20 || thought == 0 {
		t.Errorf("only %d streams, %d with tool calls, %d with thinking", played, withCalls, thought)
	}
}

func play(t *testing.T, body string) actor.Response {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		io.WriteString(w, body)
	}))
	defer s.Close()
	resp, err := at(s.URL).Generate(t.Context(), ask("p"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if string(resp.Wire.Response) != body {
		t.Error("the record is not the body")
	}
	resp.Wire = actor.Wire{}
	return resp
}

// naive reads a recording line by line, without any of the code under test.
func naive(t *testing.T, body string) actor.Response {
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
