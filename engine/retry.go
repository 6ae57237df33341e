package engine

import (
	"context"
	"maps"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

// retry brings a plan that failed to where the failed step is done once more.
// What is recorded of the failure stays: the new attempt gets a record of its
// own.
func (r *run) retry(ctx context.Context) (err error) {
	next := r.p
	if next.Status, err = plan.Next(next.Status, plan.Retry); err != nil {
		hint := "agents plan resume %s goes on with a plan that did not fail"
		if r.p.Terminal() {
			hint = "agents plan show %s tells how it ended"
		}
		return fault.As(err).WithHint(hint, next.ID)
	}
	switch {
	case next.ActorEnd && next.Phase == plan.PhaseExecute:
		// The work was done and a validation did not pass: it is asked anew in a
		// round that nobody fixed anything for.
		next.Fixes++
	case next.NodeOpen && r.nodeFailed(next):
		next.NodeOpen, next.Visits = false, maps.Clone(next.Visits)
		next.Visits[next.Node]--
	}
	next.Reason, next.Fault, next.FixGiven = "", "", false
	next.TurnFrom, next.StepFrom, next.Repairs, next.ThrottledSince = next.Turn, next.Steps, 0, nil
	return r.move(ctx, next, nil)
}

// nodeFailed reports whether the tool of the open node has run: the plan failed
// because of how that ended.
func (r *run) nodeFailed(p plan.Plan) bool {
	t, ok := r.toolCallAt(p.Turn, 0)
	return ok && t.Node == p.Node && t.Status.Done()
}
