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
	if r.called() {
		return false, r.reopen(ctx)
	}
	next := r.p
	to := nextPhase(next.Phase)
	if next.Phase == plan.PhaseExecute {
		if moved, err := r.sandboxMoved(ctx); moved || err != nil {
			return false, err
		}
		if r.ungated(r.changed.Hash()) != nil {
			return false, r.reopen(ctx)
		}
	}
	bound := r.gateHash(to)
	guard := r.p.Profile.Guard.Check(policy.GuardInput{Tool: "apply", Apply: to == plan.PhaseApply, Cost: r.cost()})
	guarded := to == plan.PhaseApply && !guard.Allowed
	ordered := r.p.Ordered == to && (to != plan.PhaseApply || r.p.OrderedFor == bound)
	auto := r.p.Profile.Auto(plan.GateTask(next.Phase), policy.Confidence{}) && !r.p.Profile.Safety.RequireHumanApproval
	free := ordered || auto
	if free && !guarded {
		return r.pass(ctx, to, nil)
	}
	granted, err := r.grant(ctx, plan.ApproveGate, string(to), bound)
	if err != nil {
		return false, err
	}
	if granted != nil {
		return r.pass(ctx, to, granted)
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

// pass goes through an open gate. Before Apply there is another one behind it.
func (r *run) pass(ctx context.Context, to plan.Phase, granted *plan.Approval) (bool, error) {
	if to == plan.PhaseApply {
		set, err := r.ordered(ctx)
		if err == nil && len(r.order().Only) > 0 {
			err = r.validatePart(ctx, set)
		}
		if err != nil {
			return false, err
		}
		if free, err := r.execGate(ctx); !free || err != nil {
			return err == nil, err
		}
	}
	return false, r.enterPhase(ctx, to, granted)
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
	ordered := next.Ordered == to
	if ordered {
		next.Ordered, next.OrderedFor, next.OrderedExec = "", "", ""
	}
	next.Turn, next.TurnFrom, next.ActorEnd, next.Repairs = 0, 0, false, 0
	next.Node, next.NodeOpen, next.NodeDone, next.NodeBad, next.NodeTurn = "", false, false, false, 0
	next.Steps, next.StepFrom, next.Visits, next.Vars = 0, 0, nil, ""
	return r.move(ctx, next, func(tx Tx) error {
		if err := spend(tx, granted); err != nil {
			return err
		}
		if ordered {
			if err := r.answerByOrder(tx, string(to)); err != nil {
				return err
			}
		}
		return r.lapseSame(tx, plan.ApproveGate, string(to))
	})
}

// answerByOrder closes the open question at a gate that a person passed by
// ordering the phase: the order is the yes.
func (r *run) answerByOrder(tx Tx, subject string) error {
	open, err := tx.Approvals(r.p.ID, true)
	if err != nil {
		return err
	}
	for _, a := range open {
		if a.Kind == plan.ApproveGate && a.Subject == subject {
			a.State, a.Decided, a.Note = plan.Used, r.finished(), "given by the order to enter the phase"
			if err := tx.UpdateApproval(a); err != nil {
				return err
			}
		}
	}
	return nil
}

// lapseSame closes the approvals of that kind and subject that could still be
// given or used.
func (r *run) lapseSame(tx Tx, kind plan.ApprovalKind, subject string) error {
	all, err := tx.Approvals(r.p.ID, false)
	if err != nil {
		return err
	}
	for _, a := range all {
		if a.Kind != kind || a.Subject != subject || (a.State != plan.Open && a.State != plan.Approved && a.State != plan.Answered) {
			continue
		}
		a.State = plan.Lapsed
		if err := tx.UpdateApproval(a); err != nil {
			return err
		}
	}
	return nil
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

// grant returns the unspent approval or answer of that kind, subject and hash,
// or nil.
func (r *run) grant(ctx context.Context, kind plan.ApprovalKind, subject, bound string) (*plan.Approval, error) {
	all, err := r.approvals(ctx)
	if err != nil {
		return nil, err
	}
	for _, a := range all {
		if a.Kind == kind && a.Subject == subject && a.Bound == bound && (a.State == plan.Approved || a.State == plan.Answered) {
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
// subject lapse, given or not: what they were bound to is gone. A question at a
// gate takes the place of an order that did not open it.
func (r *run) ask(ctx context.Context, a plan.Approval, also func(Tx) error) error {
	next := r.p
	to, err := plan.Next(next.Status, plan.Ask)
	if err != nil {
		return err
	}
	a = r.newApproval(a)
	a.State = plan.Open
	next.Status, next.Reason = to, a.Summary
	if a.Kind == plan.ApproveGate {
		next.Ordered, next.OrderedFor = "", ""
	}
	ev := r.event(r.p.ID, "approval.asked", fields{"id": a.ID, "kind": a.Kind, "summary": a.Summary})
	return r.move(ctx, next, func(tx Tx) error {
		if also != nil {
			if err := also(tx); err != nil {
				return err
			}
		}
		if err := r.lapseSame(tx, a.Kind, a.Subject); err != nil {
			return err
		}
		return tx.InsertApproval(a)
	}, ev)
}

// newApproval gives an approval what each has.
func (r *run) newApproval(a plan.Approval) plan.Approval {
	a.ID, a.Plan, a.Created = ident.ApprovalID(r.IDs.New()), r.p.ID, r.Now()
	return a
}

// stepWaiting goes on when the plan's question is answered, or when a person
// ordered the phase whose gate it waits at. A plan asks one question at a time,
// so the question is the newest one.
func (r *run) stepWaiting(ctx context.Context) (bool, error) {
	if r.p.WaitUntil != nil {
		return r.stepThrottled(ctx)
	}
	all, err := r.approvals(ctx)
	if err != nil {
		return false, err
	}
	if len(all) == 0 {
		return false, fault.New(fault.Corrupt, "plan %s waits, and there is no question", r.p.ID)
	}
	q := all[len(all)-1]
	gate := q.Kind == plan.ApproveGate || q.Kind == plan.ApproveExec
	switch {
	case q.State == plan.Open && r.called() && (gate || q.Kind == plan.ApproveFix):
		return false, r.withdraw(ctx, q)
	case q.State == plan.Open && q.Kind == plan.ApproveExec && r.p.Ordered == plan.PhaseApply:
		_, bound, err := r.execAsked(ctx)
		if err != nil || bound == q.Bound && r.p.OrderedExec != bound {
			return true, err
		}
	case q.State == plan.Open && gate && plan.Phase(q.Subject) == r.p.Ordered:
		// stepGate looks again, and lets the order or a guard decide.
	case q.State == plan.Open:
		return true, nil
	case q.State == plan.Rejected && q.Kind == plan.ApproveNode:
		return r.rejectedNode(ctx, q)
	case q.State == plan.Rejected && (gate || q.Kind == plan.ApproveFix):
		return r.rejected(ctx, q)
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
	return false, r.move(ctx, next, nil) // an open question is closed by what stepGate decides
}

// rejected handles a no at a gate or to a fix. Guidance becomes a decision of
// the person's and sends the actor back to work; without it, and for a graph,
// which cannot be told anything, the plan pauses.
func (r *run) rejected(ctx context.Context, a plan.Approval) (bool, error) {
	next := r.p
	a.State = plan.Lapsed
	var said *plan.Decision
	var events []plan.Event
	if a.Guidance != "" && next.Phase != plan.PhaseAction {
		d, err := r.intervention(ctx, a.Summary, a.Guidance)
		if err != nil {
			return false, err
		}
		said = &d
		events = append(events, r.decisionEvent(said))
	}
	also := func(tx Tx) error {
		if said != nil {
			if err := r.insertDecision(tx, said, nil); err != nil {
				return err
			}
		}
		return tx.UpdateApproval(a)
	}
	var err error
	if said == nil || !r.sendBack(&next, "guidance", "approval:"+string(a.ID), personSays+a.Guidance) {
		if next.Status, err = plan.Next(next.Status, plan.Pause); err != nil {
			return false, err
		}
		next.Reason, next.ActorEnd = "rejected: "+a.Summary, true
		if a.Guidance != "" {
			next.Reason += "; no model is at work that could follow the guidance"
		}
		return true, r.move(ctx, next, also, events...)
	}
	if next.Status, err = plan.Next(next.Status, plan.Resume); err != nil {
		return false, err
	}
	next.Reason = ""
	return false, r.move(ctx, next, also, events...)
}

// personSays begins what a person says to a model.
const personSays = "A person looked at this and says: "

// intervention is the decision that a person's guidance becomes.
func (r *run) intervention(ctx context.Context, question, guidance string) (plan.Decision, error) {
	known, err := r.context(ctx, "")
	return plan.Decision{
		ID: ident.DecisionID(r.IDs.New()), Plan: r.p.ID, Parent: r.root(), Attempt: r.p.Attempt, Phase: r.p.Phase,
		Type: plan.UserIntervention, Question: question, Chosen: guidance,
		Rationale: "said by a person", Context: known, Created: r.Now(),
	}, err
}

// ungated is the fault that keeps a plan from Apply: a required validation
// that has not passed for exactly the change set of that hash (T39 in docs/threats.txt).
func (r *run) ungated(hash string) error {
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
