package engine_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/llm/scripted"
	"github.com/cleveragents/agents/plan"
)

// The first manifest of a phase is whole, every later one rests on the one
// before and holds only what the turn added; a text is stored once.
func TestAManifestRestsOnTheOneBefore(t *testing.T) {
	const turns = 6
	w, _ := modelWorld(t, t.TempDir(), t.TempDir(), reply(func(r scripted.Request) scripted.Reply {
		out := scripted.Reply{Text: fmt.Sprintf("Turn %d.", r.Turn)}
		kind := "implementation_choice"
		if r.Contains("system", "You are the strategist") {
			kind = "strategy_choice"
		}
		if r.Turn < turns {
			out.ToolCalls = []scripted.ToolCall{{Name: "builtin__record_decision", Arguments: fmt.Sprintf(
				`{"type":%q,"question":"%d?","chosen":"so","alternatives":[],"rationale":"it is short"}`, kind, r.Turn)}}
		}
		return out
	}), task())
	p := w.run(w.start("ci"), "")
	last := map[plan.Phase]string{}
	for _, c := range w.records(p.ID).calls {
		var m evidence.Manifest
		must(t, json.Unmarshal(w.blob(c.Manifest), &m))
		if m.Base != last[c.Phase] {
			t.Errorf("%s turn %d rests on %.12q, want %.12q", c.Phase, c.Turn, m.Base, last[c.Phase])
		}
		if m.Base != "" && (m.Keep < 4*(c.Turn-1) || len(m.Spans) > 10) {
			t.Errorf("%s turn %d keeps %d spans and holds %d", c.Phase, c.Turn, m.Keep, len(m.Spans))
		}
		last[c.Phase] = c.Manifest
	}
	if len(last) != 2 {
		t.Errorf("calls in %d phases", len(last))
	}
	w.audit()
}
