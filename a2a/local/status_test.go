package local_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
)

func TestStatusTellsWhatRunsAndWhatWaits(t *testing.T) {
	f, _ := newFacade(t)
	if v := do(t, f, a2a.StatusShow(), a2a.Nothing{}); v.Project != "" || len(v.Running)+len(v.Waiting) > 0 || v.Today.ToolCalls != 0 {
		t.Errorf("at first: %+v", v)
	}
	out, dir := waiting(t, f, "echo x > a.txt")
	f.Dir = dir
	ref, open := gated(t, f, "ci")
	v := do(t, f, a2a.StatusShow(), a2a.Nothing{})
	if v.Project != out.Plan.Project || len(v.Running) != 1 || v.Running[0].Name != "local/"+ref || v.Running[0].Holder == "" {
		t.Errorf("running: %+v", v)
	}
	if len(v.Waiting) != 1 || v.Waiting[0].ID != out.Plan.ID || v.Waiting[0].Approvals != 1 ||
		v.Waiting[0].Next[0] != "agents plan apply "+string(out.Plan.ID) {
		t.Errorf("waiting: %+v", v.Waiting)
	}
	if v.Today.ToolCalls == 0 || v.Today.Since == "" {
		t.Errorf("today: %+v", v.Today)
	}
	open()
	do(t, f, a2a.PlanCancel(), a2a.PlanCancelRequest{Ref: string(out.Plan.ID)})
	if v := do(t, f, a2a.StatusShow(), a2a.Nothing{}); len(v.Running)+len(v.Waiting) > 0 {
		t.Errorf("in the end: %+v", v)
	}
}

func TestUsageIsGrouped(t *testing.T) {
	f, _ := newFacade(t)
	out, _ := waiting(t, f, "echo x > a.txt")
	by := func(by evidence.UsageBy) a2a.UsageView { return do(t, f, a2a.UsageShow(), a2a.UsageQuery{By: by}) }
	all := by("")
	if all.Total.ToolCalls == 0 || len(all.Rows) != 0 {
		t.Fatalf("in all: %+v", all)
	}
	for _, way := range strings.Fields(evidence.UsageWays) {
		v := by(evidence.UsageBy(way))
		var sum int64
		for _, r := range v.Rows {
			sum += r.ToolCalls
		}
		if sum != all.Total.ToolCalls || v.Total != all.Total {
			t.Errorf("by %s: %+v", way, v)
		}
	}
	if v := by(evidence.UsageByPlan); v.Rows[0].Name != out.Plan.Name || v.Rows[0].Key != string(out.Plan.ID) {
		t.Errorf("the plan: %+v", v.Rows)
	}
	if v := do(t, f, a2a.UsageShow(), a2a.UsageQuery{Since: time.Nanosecond}); v.Total.ToolCalls != 0 || v.Since == "" {
		t.Errorf("since now: %+v", v)
	}
	refused(t, f, a2a.UsageShow(), a2a.UsageQuery{By: "moon"}, fault.Invalid)
}
