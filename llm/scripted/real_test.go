package scripted_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"charm.land/fantasy"
	"charm.land/fantasy/providers/openaicompat"
	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/llm/scripted"
)

// A client that nobody here wrote reads the scripted model's answers as it
// reads those of a real provider: text, thinking, tool calls, usage and the
// reason to stop.
func TestAnotherClientReadsTheScriptedModel(t *testing.T) {
	s, err := scripted.Parse("real.yaml", []byte(`
rules:
  - when: {turn: 0}
    reply:
      thinking: Where is it?
      text: I look at two files.
      tool_calls:
        - {name: look, args: {path: "a<b>.go"}}
        - {name: look, args: {path: "🙂"}}
      usage: {input: 11, output: 7}
`))
	if err != nil {
		t.Fatal(err)
	}
	transport := scripted.Provider(scripted.Config{Scripts: map[string]scripted.Script{"m": s}}).Transport
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		resp, err := transport.RoundTrip(r)
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
		w.WriteHeader(resp.StatusCode)
		io.Copy(w, resp.Body)
	}))
	defer server.Close()
	p, err := openaicompat.New(openaicompat.WithBaseURL(server.URL+"/v1"), openaicompat.WithAPIKey("k"))
	if err != nil {
		t.Fatal(err)
	}
	model, err := p.LanguageModel(t.Context(), "m")
	if err != nil {
		t.Fatal(err)
	}
	parts, err := model.Stream(t.Context(), fantasy.Call{
		Prompt: fantasy.Prompt{fantasy.NewUserMessage("Look.")},
		Tools:  []fantasy.Tool{fantasy.FunctionTool{Name: "look", InputSchema: map[string]any{"type": "object"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var text, thinking string
	var calls []string
	var usage fantasy.Usage
	var finish fantasy.FinishReason
	for part := range parts {
		switch part.Type {
		case fantasy.StreamPartTypeTextDelta:
			text += part.Delta
		case fantasy.StreamPartTypeReasoningDelta:
			thinking += part.Delta
		case fantasy.StreamPartTypeToolCall:
			calls = append(calls, part.ToolCallName+part.ToolCallInput)
		case fantasy.StreamPartTypeFinish:
			usage, finish = part.Usage, part.FinishReason
		case fantasy.StreamPartTypeError:
			t.Error(part.Error)
		}
	}
	if text != "I look at two files." || thinking != "Where is it?" || finish != fantasy.FinishReasonToolCalls ||
		usage.InputTokens != 11 || usage.OutputTokens != 7 {
		t.Errorf("text %q, thinking %q, %s, %+v", text, thinking, finish, usage)
	}
	if d := cmp.Diff([]string{`look{"path":"a<b>.go"}`, `look{"path":"🙂"}`}, calls); d != "" {
		t.Error(d)
	}
}
