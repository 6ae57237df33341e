package engine

import (
	"crypto/sha256"
	"testing"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/tool"
)

func keyOf(req actor.Request) string {
	k := newRequestKey(req)
	for _, m := range req.Messages {
		k.message(m)
	}
	return k.String()
}

// Every part of a request counts, and so does where it stands: no two of these
// have one key, and each has the same one twice.
func TestRequestKeyTellsRequestsApart(t *testing.T) {
	zero, one := 0.0, 1.0
	say := func(texts ...string) (ps []actor.Piece) {
		for _, s := range texts {
			ps = append(ps, actor.Piece{Text: s})
		}
		return ps
	}
	user := func(texts ...string) actor.Message { return actor.Message{Role: actor.User, Pieces: say(texts...)} }
	asks := func(cs ...actor.ToolCall) actor.Message {
		return actor.Message{Role: actor.Assistant, ToolCalls: cs}
	}
	seen := map[string]int{}
	for i, req := range []actor.Request{
		{},
		{Provider: "a"}, {Model: "a"}, {MaxTokens: 1}, {Temperature: &zero}, {Temperature: &one},
		{Tools: []tool.Spec{{Name: "a"}}}, {Tools: []tool.Spec{{Description: "a"}}}, {Tools: []tool.Spec{{Input: []byte("{}")}}},
		{Tools: []tool.Spec{{Name: "a"}, {Name: "b"}}}, {Tools: []tool.Spec{{Name: "ab"}}},
		{Messages: []actor.Message{user("a")}}, {Messages: []actor.Message{user("a", "b")}}, {Messages: []actor.Message{user("ab")}},
		{Messages: []actor.Message{user("a"), user("b")}}, {Messages: []actor.Message{user("b"), user("a")}},
		{Messages: []actor.Message{{Role: actor.System, Pieces: say("a")}}},
		{Messages: []actor.Message{{Role: actor.User, Pieces: []actor.Piece{{Slot: "a"}}}}},
		{Messages: []actor.Message{{Role: actor.User, Pieces: []actor.Piece{{Origin: "a"}}}}},
		{Messages: []actor.Message{{Role: actor.User, Pieces: []actor.Piece{{Reason: "a"}}}}},
		{Messages: []actor.Message{{Role: actor.Assistant, Thinking: "a"}}},
		{Output: []byte("{}")}, {Messages: []actor.Message{{Role: actor.Assistant, Sealed: []byte("a")}}},
		{Messages: []actor.Message{{Role: actor.ToolRole, ToolCallID: "a"}}},
		{Messages: []actor.Message{{Role: actor.ToolRole, ToolCallID: "a", IsError: true}}},
		{Messages: []actor.Message{asks(actor.ToolCall{ID: "a"})}}, {Messages: []actor.Message{asks(actor.ToolCall{Name: "a"})}},
		{Messages: []actor.Message{asks(actor.ToolCall{Arguments: "a"})}},
		{Messages: []actor.Message{asks(actor.ToolCall{ID: "a"}, actor.ToolCall{ID: "b"})}},
		{Messages: []actor.Message{asks(actor.ToolCall{ID: "a"}), asks(actor.ToolCall{ID: "b"})}},
	} {
		k := keyOf(req)
		if k != keyOf(req) {
			t.Errorf("request %d has two keys", i)
		}
		if j, ok := seen[k]; ok {
			t.Errorf("requests %d and %d have one key", j, i)
		}
		seen[k] = i
	}
	a, b := newRequestKey(actor.Request{}), newRequestKey(actor.Request{})
	a.sum(sha256.Sum256([]byte("a")))
	b.sum(sha256.Sum256([]byte("b")))
	if a.String() == b.String() {
		t.Error("two turns have one key")
	}
}
