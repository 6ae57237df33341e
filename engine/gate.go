package engine

import (
	"context"
	"fmt"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/policy"
)

// nextPhase is the phase after p.
func nextPhase(p plan.Phase) plan.Phase {
	switch p {
	case plan.PhaseAction:
		return plan.PhaseStrategize
	case plan.PhaseStrategize:
		return plan.PhaseExecute
	}
	return plan.PhaseApply
}

// stepGate stands between two phases. It goes through when the profile allows,
// when a person ordered the next phase, or when an approval bound to exactly
// this state says so; otherwise it asks.
func (r *run) stepGate(ctx context.Context) (bool, error) {
	next := r.p
	to := nextPhase(next.Phase)
	if next.Phase == plan.PhaseExecute {
		if moved, err := r.sandboxMoved(ctx); moved || err != nil {
			return false, err
		}
		if why := r.ungated(); why != nil {
			return true, why
		}
	}
	bound := r.gateHash(to)
	guard := r.p.Profile.Guard.Check(policy.GuardInput{Tool: "apply", Apply: to == plan.PhaseApply, Cost: r.cost()})
	guarded := to == plan.PhaseApply && !guard.Allowed
	free := r.p.Ordered == to || r.p.Profile.Auto(plan.GateTask(next.Phase), policy.Confidence{})
	if free && !guarded {
		return false, r.enterPhase(ctx, to, nil)
	}
	granted, err := r.grant(ctx, plan.ApproveGate, string(to), bound)
	if err != nil {
		return false, err
	}
	if granted != nil {
		return false, r.enterPhase(ctx, to, granted)
	}
	why := fmt.Sprintf("profile %s asks before %s", r.p.Profile.Name, to)
	if guarded {
		why = guard.Reason
	}
	return true, r.ask(ctx, plan.Approval{
		Kind: plan.ApproveGate, Subject: string(to), Bound: bound,
		Summary: fmt.Sprintf("enter %s: %s", to, why),
	}, nil)
}

// gateHash is what an approval to enter a phase is bound to: all that the
// person could have looked at before.
func (r *run) gateHash(to plan.Phase) string {
	switch to {
	case plan.PhaseApply:
		return r.changed.Hash()
	case plan.PhaseExecute:
		parts := []string{string(to)}
		for _, d := range r.decisions {
			if d.Superseded == "" {
				parts = append(parts, string(d.ID))
			}
		}
		return digest(parts...)
	}
	return digest(string(to), string(r.p.ID))
}

// enterPhase begins the next phase, spending the approval that allowed it.
func (r *run) enterPhase(ctx context.Context, to plan.Phase, granted *plan.Approval) error {
	next := r.p
	status, err := plan.Next(next.Status, plan.Begin)
	if err != nil {
		return err
	}
	next.Status, next.Reason = status, ""
	if next.Ordered == to {
		next.Ordered = ""
	}
	next.Turn, next.TurnFrom, next.Node, next.ActorEnd, next.Repairs = 0, 0, "", false, 0
	return r.move(ctx, next, func(tx Tx) error { return spend(tx, granted) })
}

// spend marks an approval as used.
func spend(tx Tx, a *plan.Approval) error {
	if a == nil {
		return nil
	}
	used := *a
	used.State = plan.Used
	return tx.UpdateApproval(used)
}

// grant returns the unspent approval of that kind, subject and hash, or nil.
func (r *run) grant(ctx context.Context, kind plan.ApprovalKind, subject, bound string) (*plan.Approval, error) {
	all, err := r.approvals(ctx)
	if err != nil {
		return nil, err
	}
	for _, a := range all {
		if a.Kind == kind && a.Subject == subject && a.State == plan.Approved && a.Bound == bound {
			return &a, nil
		}
	}
	return nil, nil
}

func (r *run) approvals(ctx context.Context) (all []plan.Approval, err error) {
	err = r.Store.View(ctx, func(tx Tx) error {
		all, err = tx.Approvals(r.p.ID, false)
		return err
	})
	return all, err
}

// ask stores an approval and makes the plan wait for it. Others of the same
// subject that are open lapse: what they were bound to is gone.
func (r *run) ask(ctx context.Context, a plan.Approval, also func(Tx) error) error {
	next := r.p
	to, err := plan.Next(next.Status, plan.Ask)
	if err != nil {
		return err
	}
	a.ID = ident.ApprovalID(r.IDs.New())
	a.Plan, a.State, a.Created = r.p.ID, plan.Open, r.Now()
	next.Status, next.Reason = to, a.Summary
	ev := r.event(r.p.ID, "approval.asked", fields{"id": a.ID, "kind": a.Kind, "summary": a.Summary})
	return r.move(ctx, next, func(tx Tx) error {
		if also != nil {
			if err := also(tx); err != nil {
				return err
			}
		}
		open, err := tx.Approvals(r.p.ID, true)
		if err != nil {
			return err
		}
		for _, old := range open {
			if old.Kind == a.Kind && old.Subject == a.Subject {
				old.State = plan.Lapsed
				if err := tx.UpdateApproval(old); err != nil {
					return err
				}
			}
		}
		return tx.InsertApproval(a)
	}, ev)
}

// stepWaiting goes on when every question of the plan is answered, or when a
// person ordered the phase whose gate it waits at.
func (r *run) stepWaiting(ctx context.Context) (bool, error) {
	all, err := r.approvals(ctx)
	if err != nil {
		return false, err
	}
	var rejected *plan.Approval
	gate := false
	for _, a := range all {
		switch {
		case a.State == plan.Open && a.Kind == plan.ApproveGate && plan.Phase(a.Subject) == r.p.Ordered:
			gate = true // stepGate looks again, and lets the order or a guard decide
		case a.State == plan.Open:
			return true, nil
		case a.State == plan.Approved && a.Kind == plan.ApproveGate:
			gate = true
		case a.State == plan.Rejected:
			rejected = &a
		}
	}
	if rejected != nil && rejected.Kind != plan.ApproveToolCall && rejected.Kind != plan.ApproveDecision {
		return r.rejected(ctx, *rejected, all)
	}
	next := r.p
	on := plan.Resume
	if gate {
		on = plan.Answer
	}
	if next.Status, err = plan.Next(next.Status, on); err != nil {
		return false, err
	}
	next.Reason = ""
	for _, a := range all {
		if a.Kind == plan.ApproveFix && a.State == plan.Approved {
			next.FixGiven = true
		}
	}
	return false, r.move(ctx, next, func(tx Tx) error {
		for _, a := range all {
			switch {
			case a.Kind == plan.ApproveFix && a.State == plan.Approved:
				a.State = plan.Used
			case a.Kind == plan.ApproveGate && a.State == plan.Open:
				a.State = plan.Lapsed
			default:
				continue
			}
			if err := tx.UpdateApproval(a); err != nil {
				return err
			}
		}
		return nil
	})
}

// rejected handles a no at a gate or to a fix. Guidance becomes a decision of
// the person's and sends the actor back to work; without it the plan pauses.
func (r *run) rejected(ctx context.Context, a plan.Approval, all []plan.Approval) (bool, error) {
	next := r.p
	spent := func(tx Tx) error {
		a.State = plan.Lapsed
		return tx.UpdateApproval(a)
	}
	if a.Guidance == "" || next.Phase == plan.PhaseAction {
		to, err := plan.Next(next.Status, plan.Pause)
		if err != nil {
			return false, err
		}
		next.Status, next.Reason, next.ActorEnd = to, "rejected: "+a.Summary, true
		return true, r.move(ctx, next, spent)
	}
	to, err := plan.Next(next.Status, plan.Resume)
	if err != nil {
		return false, err
	}
	d := r.intervention(a.Summary, a.Guidance)
	next.Status, next.Reason, next.ActorEnd, next.Node = to, "", false, ""
	next.Inputs = append(append([]plan.Input{}, next.Inputs...), plan.Input{
		Phase: next.Phase, Attempt: next.Attempt, After: next.Turn,
		Slot: "guidance", Origin: "approval:" + string(a.ID), Text: "A person looked at this and says: " + a.Guidance,
	})
	return false, r.move(ctx, next, func(tx Tx) error {
		if err := r.insertDecision(tx, &d, nil); err != nil {
			return err
		}
		return spent(tx)
	}, r.decisionEvent(&d))
}

// intervention is the decision that a person's guidance becomes.
func (r *run) intervention(question, guidance string) plan.Decision {
	return plan.Decision{
		ID: ident.DecisionID(r.IDs.New()), Plan: r.p.ID, Parent: r.root(), Attempt: r.p.Attempt, Phase: r.p.Phase,
		Type: plan.UserIntervention, Question: question, Chosen: guidance,
		Rationale: "said by a person", Context: r.context(""), Created: r.Now(),
	}
}

// ungated is the fault that keeps a plan from Apply: a required validation
// that has not passed for exactly this change set (safety.md T39).
func (r *run) ungated() error {
	hash := r.changed.Hash()
	for _, v := range r.p.Action.Validations {
		if !required(v) {
			continue
		}
		if res, ok := r.lastResult(v.Name, hash); !ok || !passes(res.Verdict) {
			return fault.New(fault.ValidationFailed, "required validation %s has not passed for these changes", v.Name).
				WithHint("agents plan resume %s", r.p.ID)
		}
	}
	return nil
}
