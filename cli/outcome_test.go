package cli

import (
	"testing"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

func TestVerdict(t *testing.T) {
	gate := []plan.Approval{{Kind: plan.ApproveGate}}
	call := []plan.Approval{{Kind: plan.ApproveGate}, {Kind: plan.ApproveToolCall}}
	for _, c := range []struct {
		goal      goal
		phase     plan.Phase
		state     plan.State
		approvals []plan.Approval
		fault     string
		exit      int
	}{
		{toStop, plan.PhaseAction, plan.Queued, nil, "", 0},
		{toStop, plan.PhaseStrategize, plan.Waiting, gate, "", 0},
		{toStop, plan.PhaseStrategize, plan.Waiting, call, "", 4},
		{toStop, plan.PhaseApply, plan.Applied, nil, "", 0},
		{toStop, plan.PhaseExecute, plan.Paused, nil, "", 4},

		{toStrategize, plan.PhaseStrategize, plan.Complete, nil, "", 0},
		{toStrategize, plan.PhaseStrategize, plan.Waiting, gate, "", 0},
		{toStrategize, plan.PhaseStrategize, plan.Waiting, nil, "", 4},
		{toStrategize, plan.PhaseExecute, plan.Waiting, call, "", 0},
		{toStrategize, plan.PhaseExecute, plan.Errored, nil, "Internal", 1},
		{toStrategize, plan.PhaseExecute, plan.Blocked, nil, "", 6},
		{toStrategize, plan.PhaseAction, plan.Queued, nil, "", 4},

		{toExecute, plan.PhaseExecute, plan.Complete, nil, "", 0},
		{toExecute, plan.PhaseExecute, plan.Waiting, gate, "", 0},
		{toExecute, plan.PhaseExecute, plan.Errored, nil, "ValidationFailed", 5},
		{toExecute, plan.PhaseExecute, plan.Blocked, nil, "Exhausted", 6},
		{toExecute, plan.PhaseExecute, plan.Paused, nil, "Unavailable", 8},
		{toExecute, plan.PhaseApply, plan.Applied, nil, "", 0},

		{toApplied, plan.PhaseExecute, plan.Complete, nil, "", 4},
		{toApplied, plan.PhaseExecute, plan.Waiting, gate, "", 4},
		{toApplied, plan.PhaseApply, plan.Applied, nil, "", 0},
		{toApplied, plan.PhaseApply, plan.Constrained, nil, "Conflict", 7},
		{toApplied, plan.PhaseApply, plan.Constrained, nil, "", 7},
		{toApplied, plan.PhaseExecute, plan.Cancelled, nil, "", 9},
		{toApplied, plan.PhaseExecute, plan.Errored, nil, "NoSuchKind", 1},
	} {
		o := a2a.PlanOutcome{Plan: summary(c.phase, c.state), Approvals: c.approvals}
		if c.fault != "" {
			o.Fault = &a2a.FaultView{Kind: c.fault, Message: "why", Hint: "how"}
		}
		err := verdict(o, c.goal)
		if got := fault.Exit(err); got != c.exit {
			t.Errorf("goal %d, %s/%s, %d approvals, fault %q: exit %d (%v), want %d", c.goal, c.phase, c.state, len(c.approvals), c.fault, got, err, c.exit)
		}
		if c.fault != "" && err != nil && fault.As(err).Hint != "how" {
			t.Errorf("%s/%s: the hint is lost: %v", c.phase, c.state, err)
		}
	}
}
