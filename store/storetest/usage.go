package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

func testUsage(t *testing.T, w *world) {
	day := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	turn := 0
	call := func(p ident.PlanID, at time.Time, who, model string, in, out int64, cost float64, fault string) evidence.Call {
		turn++
		return evidence.Call{
			ID: ident.CallID(w.ids.New()), Plan: p, Phase: plan.PhaseExecute, Attempt: 1, Turn: turn, Actor: who,
			Provider: "prov", Model: model, Usage: actor.Usage{Input: in, Output: out, CacheRead: in / 2}, Cost: cost,
			Error: fault, Started: at,
		}
	}
	tool := func(c evidence.Call, name string, at time.Time) evidence.ToolCall {
		turn++
		return evidence.ToolCall{
			ID: ident.ToolCallID(w.ids.New()), Plan: c.Plan, Phase: plan.PhaseExecute, Attempt: 1, Turn: turn,
			Call: c.ID, Tool: name, Started: at,
		}
	}
	a, b := w.plans[0].ID, w.plans[1].ID
	old := call(a, day.Add(-48*time.Hour), "planner", "small", 100, 10, 0.5, "")
	one := call(a, day, "coder", "big", 1000, 200, 2, "")
	bad := call(b, day.Add(time.Hour), "coder", "small", -1, -1, 0, "reset")
	foreign := w.plan(t)
	w.update(t, func(tx engine.Tx) error {
		if err := tx.InsertPlan(foreign); err != nil {
			return err
		}
		for _, c := range []evidence.Call{old, one, bad, call(foreign.ID, day, "coder", "big", 7, 7, 7, "")} {
			if err := tx.InsertCall(c); err != nil {
				return err
			}
		}
		graph := tool(evidence.Call{Plan: b}, "shell", day)
		for _, c := range []evidence.ToolCall{tool(one, "read", day), tool(one, "shell", day), graph} {
			if err := tx.InsertToolCall(c); err != nil {
				return err
			}
		}
		return tx.SetMark(foreign.ID, engine.MarkImported, "there")
	})
	all := evidence.UsageRow{Calls: 3, Failed: 1, Input: 1100, Output: 210, CacheRead: 550, Cost: 2.5, ToolCalls: 3}
	ones := evidence.UsageRow{Calls: 1, Input: 1000, Output: 200, CacheRead: 500, Cost: 2, ToolCalls: 2}
	olds := evidence.UsageRow{Calls: 1, Input: 100, Output: 10, CacheRead: 50, Cost: 0.5}
	under := func(key string, u evidence.UsageRow) evidence.UsageRow { u.Key = key; return u }
	for _, c := range []struct {
		by    evidence.UsageBy
		since time.Time
		want  []evidence.UsageRow
	}{
		{"", time.Time{}, []evidence.UsageRow{all}},
		{"", day, []evidence.UsageRow{{Calls: 2, Failed: 1, Input: 1000, Output: 200, CacheRead: 500, Cost: 2, ToolCalls: 3}}},
		{"", day.Add(24 * time.Hour), nil},
		{evidence.UsageByPlan, time.Time{}, []evidence.UsageRow{
			{Key: string(a), Calls: 2, Input: 1100, Output: 210, CacheRead: 550, Cost: 2.5, ToolCalls: 2},
			{Key: string(b), Calls: 1, Failed: 1, ToolCalls: 1}}},
		{evidence.UsageByActor, time.Time{}, []evidence.UsageRow{
			{Key: "coder", Calls: 2, Failed: 1, Input: 1000, Output: 200, CacheRead: 500, Cost: 2, ToolCalls: 2},
			under("planner", olds), {ToolCalls: 1}}},
		{evidence.UsageByModel, time.Time{}, []evidence.UsageRow{
			under("prov/big", ones),
			{Key: "prov/small", Calls: 2, Failed: 1, Input: 100, Output: 10, CacheRead: 50, Cost: 0.5}, {ToolCalls: 1}}},
		{evidence.UsageByDay, time.Time{}, []evidence.UsageRow{
			{Key: "2026-05-01", Calls: 2, Failed: 1, Input: 1000, Output: 200, CacheRead: 500, Cost: 2, ToolCalls: 3},
			under("2026-04-29", olds)}},
		{evidence.UsageByTool, time.Time{}, []evidence.UsageRow{{Key: "shell", ToolCalls: 2}, {Key: "read", ToolCalls: 1}}},
	} {
		w.view(t, func(tx engine.Tx) error {
			got, err := tx.Usage(c.by, c.since)
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("usage by %q since %s (-want +got):\n%s", c.by, c.since, d)
			}
			return err
		})
	}
	w.fails(t, fault.Invalid, func(tx engine.Tx) error { _, err := tx.Usage("moon", time.Time{}); return err })
}
