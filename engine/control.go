package engine

import (
	"context"
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/resource"
)

// wish is what somebody asks of a plan from outside. It is kept apart from the
// plan's row, which only the process that holds the plan changes, and is read
// at every safe point.
type wish struct {
	Trigger plan.Trigger `json:"trigger"`
	Reason  string       `json:"reason"`
	Keep    bool         `json:"keep,omitempty"` // the sandbox of a cancelled plan
}

func wishKey(id ident.PlanID) string { return "wish/" + string(id) }

// Pause asks the plan to stop at its next safe point. A plan that nobody runs
// is paused at once.
func (e *Engine) Pause(ctx context.Context, id ident.PlanID) error {
	return e.want(ctx, id, wish{Trigger: plan.Pause, Reason: "paused on request"})
}

// Cancel gives the plan up; its sandbox is deleted unless keep is set. What it
// recorded stays.
func (e *Engine) Cancel(ctx context.Context, id ident.PlanID, reason string, keep bool) error {
	if reason == "" {
		reason = "cancelled on request"
	}
	if err := e.want(ctx, id, wish{plan.Cancel, reason, keep}); err != nil {
		return err
	}
	var p plan.Plan
	err := e.Store.View(ctx, func(tx Tx) (err error) { p, err = tx.Plan(id); return err })
	if err != nil || keep || p.State != plan.Cancelled {
		return err // one that runs elsewhere is cleaned up by its runner
	}
	return e.Sandboxes.Remove(ctx, id)
}

func (e *Engine) want(ctx context.Context, id ident.PlanID, w wish) error {
	for range wantTries {
		held, err := e.leave(ctx, id, w)
		if held || err != nil {
			return err
		}
		// Nobody runs it: take it, and do what the runner would do.
		err = e.claim(ctx, id)
		if fault.Is(err, fault.Busy) {
			continue // somebody does now
		}
		if err != nil {
			return err
		}
		defer e.release(context.WithoutCancel(ctx), id)
		return e.grantWish(ctx, id, w)
	}
	return fault.New(fault.Busy, "plan %s changes hands all the time", id).WithHint("try again")
}

// wantTries bounds how often a plan may change hands while a wish is brought.
const wantTries = 5

// leave leaves the wish for the process that runs the plan; false when none
// does.
func (e *Engine) leave(ctx context.Context, id ident.PlanID, w wish) (held bool, err error) {
	b, err := json.Marshal(w)
	if err != nil {
		return false, fault.New(fault.Internal, "encode wish: %w", err)
	}
	err = e.Store.Update(ctx, func(tx Tx) error {
		p, err := tx.Plan(id)
		if err != nil {
			return err
		}
		if _, err := plan.Next(p.Status, w.Trigger); err != nil {
			return err
		}
		holder, err := tx.Holder(id)
		if err != nil {
			return err
		}
		if held = e.holds(ctx, id, holder); !held {
			return nil
		}
		return tx.PutSetting(wishKey(id), string(b))
	})
	return held, err
}

// holds reports whether that holder carries the plan on now.
func (e *Engine) holds(ctx context.Context, id ident.PlanID, holder string) bool {
	if holder == e.Live.Self() {
		_, held := e.held.Load(id)
		return held
	}
	return holder != "" && e.Live.Alive(ctx, holder)
}

// forgetPause drops a wish to pause that the last runner did not see any more:
// whoever runs the plan again wants it to go on. One to cancel stays.
func forgetPause(tx Tx, id ident.PlanID) error {
	old, err := tx.Setting(wishKey(id))
	if fault.Is(err, fault.NotFound) || err == nil && old == "" {
		return nil
	}
	if err != nil {
		return err
	}
	var w wish
	if json.Unmarshal([]byte(old), &w) != nil || w.Trigger != plan.Pause {
		return nil // asked reports what cannot be read
	}
	return tx.PutSetting(wishKey(id), "")
}

// grantWish moves a plan that nobody runs and that this process has claimed.
func (e *Engine) grantWish(ctx context.Context, id ident.PlanID, w wish) (err error) {
	r := &run{Engine: e}
	if err := r.load(ctx, id); err != nil {
		return err
	}
	next := r.p
	if next.Status, err = plan.Next(r.p.Status, w.Trigger); err != nil {
		return err
	}
	next.Reason = w.Reason
	if w.Trigger == plan.Cancel {
		if err := r.takeBack(ctx); err != nil {
			return err
		}
	}
	return r.move(ctx, next, func(tx Tx) error {
		if w.Trigger == plan.Cancel {
			return lapse(tx, id, e.Now())
		}
		return nil
	})
}

// lapse closes the approvals of a plan that ended.
func lapse(tx Tx, id ident.PlanID, at time.Time) error {
	all, err := tx.Approvals(id, false)
	if err != nil {
		return err
	}
	for _, a := range all {
		switch a.State {
		case plan.Open:
			a.Decided = &at
		case plan.Approved, plan.Answered:
		default:
			continue
		}
		a.State = plan.Lapsed
		if err := tx.UpdateApproval(a); err != nil {
			return err
		}
	}
	return nil
}

// Decide records a person's answer to an approval; the plan goes on with its
// next run. An approval that was decided already is fault.Conflict.
func (e *Engine) Decide(ctx context.Context, id ident.ApprovalID, yes bool, text string) (plan.Approval, error) {
	var a plan.Approval
	if !utf8.ValidString(text) {
		return a, fault.New(fault.Invalid, "the text is not UTF-8")
	}
	err := e.Store.Update(ctx, func(tx Tx) error {
		var err error
		if a, err = tx.Approval(id); err != nil {
			return err
		}
		if a.State != plan.Open {
			return fault.New(fault.Conflict, "approval %s is already %s", id, a.State)
		}
		if err := OnlyAnswered(a); err != nil {
			return err
		}
		now := e.Now()
		a.Decided = &now
		if yes {
			a.State, a.Note = plan.Approved, text
		} else {
			a.State, a.Guidance = plan.Rejected, text
		}
		if err := tx.UpdateApproval(a); err != nil {
			return err
		}
		ev := e.event(a.Plan, "approval.decided", fields{"id": a.ID, "state": a.State, "kind": a.Kind})
		return tx.AppendEvent(&ev)
	})
	return a, err
}

// resource reads one resource.
func (r *run) resource(ctx context.Context, id ident.ResourceID) (res resource.Resource, err error) {
	err = r.Store.View(ctx, func(tx Tx) error {
		res, err = tx.Resource(id)
		return err
	})
	return res, err
}
