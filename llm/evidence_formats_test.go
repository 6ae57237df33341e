package llm

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"charm.land/fantasy/providers/openai"
	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/tool"
)

// The wire check holds for the body that fantasy makes of the same call for
// OpenAI's Responses, but for the thinking, which fantasy leaves out there.
func TestWireCheckOfResponses(t *testing.T) {
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		http.Error(w, `{"error":{"message":"no"}}`, http.StatusBadRequest)
	}))
	defer server.Close()
	p, err := openai.New(openai.WithBaseURL(server.URL), openai.WithAPIKey("k"), openai.WithUseResponsesAPI())
	if err != nil {
		t.Fatal(err)
	}
	lm, err := p.LanguageModel(t.Context(), "gpt-5")
	if err != nil {
		t.Fatal(err)
	}
	say := func(role actor.Role, call string, texts ...string) actor.Message {
		m := actor.Message{Role: role, ToolCallID: call}
		for _, s := range texts {
			m.Pieces = append(m.Pieces, actor.Piece{Slot: "context", Text: s})
		}
		return m
	}
	asks := say(actor.Assistant, "", " I look. ")
	asks.Thinking = "Where is it?"
	asks.ToolCalls = []actor.ToolCall{{ID: "c1", Name: "builtin/read", Arguments: `{ "n": 1.50, "path":"a<b>" }`}, {ID: "c2", Name: "builtin/read", Arguments: `{}`}}
	r := actor.Request{
		Messages: []actor.Message{
			say(actor.System, "", "  Be <exact>.", "\u2028"), say(actor.User, "", "Mend it.\n", "🙂"), asks,
			say(actor.ToolRole, "c1", " 1: x\r\n"), say(actor.ToolRole, "c2", "error: \"no\" path"), say(actor.User, "", "Go on."),
		},
		Tools: []tool.Spec{{Name: "builtin/read", Description: "Reads a <file>.", Input: json.RawMessage(
			`{"type":"object","properties":{"n":{"maximum":9007199254740993,"description":"<&>"}},"required":["n"]}`)}},
	}
	names, err := newToolNames(r)
	if err != nil {
		t.Fatal(err)
	}
	call, err := newCall(r, names)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lm.Generate(t.Context(), call); err == nil || body == nil {
		t.Fatalf("%v, sent %q", err, body)
	}
	parts := evidence.Parts(r)
	_, bad, err := evidence.Build(body, parts)
	if err != nil {
		t.Fatal(err)
	}
	var slots []string
	for _, b := range bad {
		slots = append(slots, parts[max(b.Part, 0)].Slot)
	}
	if diff := cmp.Diff([]string{"thinking"}, slots); diff != "" {
		t.Errorf("%s\n%+v\n%s", diff, bad, body)
	}
}
