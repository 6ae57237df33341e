package local

import (
	"encoding/json"
	"testing"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/plan"
)

// What a plan was in between two looks counts.
func TestConditionsHoldInBetween(t *testing.T) {
	l := look{plan: plan.Plan{Status: plan.Status{Phase: plan.PhaseStrategize, State: plan.Running}}, events: []plan.Event{
		{Type: "plan.state", Data: json.RawMessage(`{"from":"action/queued","to":"execute/complete"}`)},
		{Type: "plan.state", Data: json.RawMessage(`"odd"`)},
	}}
	asked := look{events: []plan.Event{{Type: "approval.asked"}}}
	for _, c := range []struct {
		l    look
		q    a2a.PlanWaitQuery
		want bool
	}{
		{l, a2a.PlanWaitQuery{}, false},
		{l, a2a.PlanWaitQuery{State: plan.Complete}, true},
		{l, a2a.PlanWaitQuery{State: plan.Running}, true},
		{l, a2a.PlanWaitQuery{State: plan.Queued}, false},
		{l, a2a.PlanWaitQuery{Phase: plan.PhaseExecute}, true},
		{l, a2a.PlanWaitQuery{Phase: plan.PhaseApply}, false},
		{l, a2a.PlanWaitQuery{Approval: true}, false},
		{asked, a2a.PlanWaitQuery{Approval: true}, true},
		{look{asked: true}, a2a.PlanWaitQuery{Approval: true}, true},
	} {
		if got := holds(c.l, c.q); got != c.want {
			t.Errorf("%+v for %+v: %v", c.l, c.q, got)
		}
	}
}
