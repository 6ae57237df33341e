package engine

import (
	"context"
	"slices"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

// begin loads the plan, applies the order and names the durable run: the one
// that was cut short, or a new one.
func (r *run) begin(ctx context.Context, id ident.PlanID, order plan.Phase, how plan.Trigger, in *ApplyInput) error {
	if err := r.load(ctx, id); err != nil {
		return err
	}
	if how == plan.Retry {
		if err := r.retry(ctx); err != nil {
			return err
		}
	} else if err := r.enter(ctx, order, in); err != nil {
		return err
	}
	next := r.p
	if !next.RunOpen {
		next.Run++
		next.RunOpen = true
	}
	return r.commit(ctx, next, nil)
}

// enter brings the plan to where the loop can carry it on.
func (r *run) enter(ctx context.Context, order plan.Phase, in *ApplyInput) error {
	next := r.p
	if order != "" {
		phases := []plan.Phase{plan.PhaseAction, plan.PhaseStrategize, plan.PhaseExecute, plan.PhaseApply}
		at, want := slices.Index(phases, next.Phase), slices.Index(phases, order)
		switch {
		case next.Terminal():
			return fault.New(fault.Conflict, "plan %s is %s", next.ID, next.Status).WithCode("IllegalTransition")
		case want > at+1:
			return fault.New(fault.Conflict, "plan %s is %s; it cannot enter %s yet", next.ID, next.Status, order).
				WithCode("IllegalTransition").WithHint("agents plan %s %s", phases[at+1], next.ID)
		case want < at:
			return fault.New(fault.Conflict, "plan %s is %s, past %s", next.ID, next.Status, order).WithCode("IllegalTransition")
		}
		next.Ordered, next.OrderedFor = order, ""
		if order == plan.PhaseApply {
			next.OrderedFor = r.changed.Hash()
			if in == nil {
				in = &ApplyInput{}
			}
			if err := r.giveOrder(ctx, &next, in); err != nil {
				return err
			}
		}
	}
	switch next.State {
	case plan.Paused, plan.Blocked, plan.Errored, plan.Constrained:
		to, err := plan.Next(next.Status, plan.Resume)
		if err != nil {
			return err
		}
		if next.State == plan.Errored && next.Fault == fault.ValidationFailed.String() && next.Phase == plan.PhaseExecute {
			// Whoever resumes wants another look: the cause may be gone, or the
			// actor may try once more.
			next.Fixes++
			next.FixGiven = true
		}
		next.Status, next.Reason, next.Fault = to, "", ""
		next.TurnFrom, next.StepFrom, next.Repairs, next.ThrottledSince = next.Turn, next.Steps, 0, nil
		return r.move(ctx, next, nil)
	}
	return r.commit(ctx, next, nil)
}
