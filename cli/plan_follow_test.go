package cli

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/plan"
)

func TestLogs(t *testing.T) {
	list := answers()
	list["plan/logs"] = streaming(list["plan/logs"], someEvents()...)
	w := newWorld(list)
	w.want(t, 0, "plan", "logs", "-f", "--since", "7d", "--tool", "shell")
	if q := w.reqs["plan/logs"].(a2a.PlanLogsQuery); !q.Follow || q.Since != 7*24*time.Hour || q.Tool != "shell" || q.Ref != "@last" {
		t.Errorf("asked %+v", q)
	}
	if got := strings.Count(w.out.String(), "2026-03-04 05:06:07Z"); got < len(someEvents()) {
		t.Errorf("%d of %d events on standard output:\n%s", got, len(someEvents()), &w.out)
	}
	w.want(t, 2, "plan", "logs", "-f", "--format", "json")
	w.want(t, 0, "--format", "jsonl", "plan", "logs")
	lines := strings.Split(strings.TrimSpace(w.out.String()), "\n")
	if len(lines) != len(someEvents())+1 {
		t.Errorf("%d lines:\n%s", len(lines), &w.out)
	}
	var end struct {
		Type string
		Data struct{ Events []any }
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &end); err != nil || end.Type != "result" || len(end.Data.Events) > 0 {
		t.Errorf("the last line is %s (%v)", lines[len(lines)-1], err)
	}
}

// Interrupting a view does not touch the plan.
func TestViewsLeaveThePlanAlone(t *testing.T) {
	for _, args := range [][]string{{"plan", "watch"}, {"plan", "logs", "-f"}, {"plan", "wait", "@last"}} {
		list := answers()
		hang := answerer(func(ctx context.Context, _ any, _ func(plan.Event)) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		list["plan/watch"], list["plan/logs"], list["plan/wait"] = hang, hang, hang
		w := newWorld(list)
		w.want(t, 124, append(args, "--timeout", "1ms")...)
		if len(w.asked) != 1 {
			t.Errorf("%v asked for %v", args, w.asked)
		}
	}
}

func TestWaitTellsWhereAPlanIsOtherwise(t *testing.T) {
	at := func(p plan.Phase, s plan.State, reached bool) a2a.WaitedPlan {
		return a2a.WaitedPlan{Reached: reached, Outcome: a2a.PlanOutcome{Plan: summary(p, s), Next: []string{"agents plan show x"}}}
	}
	for _, c := range []struct {
		what  string
		plans []a2a.WaitedPlan
		exit  int
	}{
		{"state=waiting", []a2a.WaitedPlan{at(plan.PhaseExecute, plan.Waiting, true)}, 0},
		{"approval", []a2a.WaitedPlan{at(plan.PhaseExecute, plan.Paused, false)}, 4},
		{"phase=apply", []a2a.WaitedPlan{at(plan.PhaseApply, plan.Constrained, false)}, 7},
		{"state=paused", []a2a.WaitedPlan{at(plan.PhaseApply, plan.Applied, false)}, 7},
		{"state=applied", []a2a.WaitedPlan{at(plan.PhaseApply, plan.Applied, true), at(plan.PhaseExecute, plan.Cancelled, false)}, 9},
		{"state=applied", []a2a.WaitedPlan{at(plan.PhaseExecute, plan.Blocked, false), at(plan.PhaseExecute, plan.Cancelled, false)}, 6},
	} {
		list := answers()
		list["plan/wait"] = a2a.WaitView{Plans: c.plans}
		w := newWorld(list)
		w.want(t, c.exit, "plan", "wait", "a", "b", "--for", c.what)
		if !strings.Contains(w.err.String(), "next: agents plan show x") {
			t.Errorf("%s: no way on: %s", c.what, &w.err)
		}
	}
}
