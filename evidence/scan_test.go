package evidence_test

import (
	"testing"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/evidence"
)

func TestAnswered(t *testing.T) {
	if (evidence.Call{}).Answered() || (evidence.Call{Response: "h"}).Answered() || !(evidence.Call{Message: "h"}).Answered() {
		t.Error("a call is answered when its message is stored, and not before")
	}
}

// A writer may escape what no encoder of ours would: the pieces are found in
// their characters and the body is rebuilt in its bytes.
func TestManifestOfUnusualEscapes(t *testing.T) {
	m := actor.Message{Role: actor.User}
	for _, text := range []string{"\u00eba", "\U0001f600\n", "/b"} {
		m.Pieces = append(m.Pieces, actor.Piece{Slot: "context", Text: text})
	}
	parts := evidence.Parts(actor.Request{Messages: []actor.Message{m}})
	body := `{"messages":[{"role":"user","content":"\u00EB\u0061\ud83d\uDE00\n\/b"}]}`
	got, bad, err := evidence.Build([]byte(body), parts)
	if err != nil || len(bad) > 0 {
		t.Fatalf("%v, %+v", err, bad)
	}
	if b, err := got.Assemble(blobs(parts)); err != nil || string(b) != body {
		t.Errorf("assembled %q, %v", b, err)
	}
}
