package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/crash"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/tool"
)

// run carries one plan on while this process holds it. What it has in memory
// is a mirror of the records: it is loaded whole, and dropped after any error.
type run struct {
	*Engine
	emit Emit

	p         plan.Plan
	calls     []evidence.Call     // of the whole plan, by time
	toolCalls []evidence.ToolCall // of the whole plan, by time
	decisions []plan.Decision
	results   []evidence.ValidationResult
	gaps      []evidence.Gap
	changed   plan.ChangeSet // what p.Changed names
	box       Sandbox        // opened on first use
	seen      map[string]string
	messages  []message         // to the actor, as of this step
	cache     map[string][]byte // blobs read or written by this run
	cached    int
	answers   map[string]actor.Response // decoded, by the blob; read only
	turns     map[ident.CallID]*turn    // of the conversation, as composed
	advice    *[]advice                 // of the repository, once it was read
	due       map[string][]byte         // blobs to be stored before the next commit
	dueSize   int
	requests  evidence.Tracker // what was sent last
	loaded    bool
}

// Run carries the plan on until it ends, waits for a person, pauses or fails.
// Order, when set, is the phase that a person told the plan to enter; the gate
// before it is then passed. Only one process runs a plan: a living other one
// is fault.Busy, a dead one is taken over. The plan's own trouble (a failed
// validation, a moved base) is in its status and not an error of Run.
func (e *Engine) Run(ctx context.Context, id ident.PlanID, order plan.Phase, emit Emit) error {
	return e.carryOn(ctx, id, order, plan.Resume, nil, emit)
}

// Retry is Run of a plan that failed, with a new attempt of the step that did:
// a tool of a graph runs again, and a validation, without another round of
// fixing before it. Run goes on from the record instead, in which a tool that
// failed has failed. A plan in another state is fault.Conflict.
func (e *Engine) Retry(ctx context.Context, id ident.PlanID, emit Emit) error {
	return e.carryOn(ctx, id, "", plan.Retry, nil, emit)
}

func (e *Engine) carryOn(ctx context.Context, id ident.PlanID, order plan.Phase, how plan.Trigger, in *ApplyInput, emit Emit) error {
	if err := e.claim(ctx, id); err != nil {
		return err
	}
	defer e.release(context.WithoutCancel(ctx), id)
	r := &run{Engine: e, emit: emit}
	if err := r.begin(ctx, id, order, how, in); err != nil {
		return err
	}
	stepped, err := r.carry(ctx, id)
	if !stepped && ctx.Err() == nil && !heldElsewhere(err) {
		// The process died after the durable run had ended and before the plan
		// said so: that run only repeats its end.
		next := r.p
		next.Run++
		if err := r.commit(ctx, next, nil); err != nil {
			return err
		}
		_, err = r.carry(ctx, id)
	}
	if ctx.Err() != nil {
		return r.stopped(context.WithoutCancel(ctx), id, ctx.Err())
	}
	return r.end(ctx, id, err)
}

// stepsAtOnce bounds the steps that the runner records as one.
const stepsAtOnce = 8

// carry runs the durable loop and reports whether it took any step. What the
// runner records as one step is a model call with all that follows from it
// up to the next: our own rows say how far it got, so recording less often
// costs nothing but the question of them.
func (r *run) carry(ctx context.Context, id ident.PlanID) (stepped bool, err error) {
	key := fmt.Sprintf("%s.%d", id, r.p.Run)
	err = r.Runner.Run(ctx, key, func(ctx context.Context, _ int) (done bool, err error) {
		stepped = true
		for n := 0; n < stepsAtOnce && ctx.Err() == nil; n++ {
			crash.Point("engine.step")
			calls := len(r.calls)
			if done, err = r.step(ctx, id); done || err != nil || len(r.calls) != calls {
				return done, err
			}
		}
		return false, nil
	})
	return stepped, err
}

// heldElsewhere tells the Busy of a run that somebody holds from that of a
// store whose writers wait too long.
func heldElsewhere(err error) bool {
	return fault.Is(err, fault.Busy) && fault.As(err).Details["holder"] != nil
}

// claim makes this call of this process the plan's only runner.
func (e *Engine) claim(ctx context.Context, id ident.PlanID) error {
	if _, taken := e.held.LoadOrStore(id, true); taken {
		return fault.New(fault.Busy, "plan %s is being run by this process already", id)
	}
	err := e.claimStored(ctx, id)
	if err != nil {
		e.held.Delete(id)
	}
	return err
}

func (e *Engine) claimStored(ctx context.Context, id ident.PlanID) error {
	take := func(tx Tx) error {
		if err := imported(tx, id); err != nil {
			return err
		}
		if err := tx.Claim(id, e.Live.Self(), e.Now()); err != nil {
			return err
		}
		return forgetPause(tx, id)
	}
	err := e.Store.Update(ctx, take)
	if !fault.Is(err, fault.Busy) {
		return err
	}
	holder, _ := fault.As(err).Details["holder"].(string)
	if holder == "" || e.Live.Alive(ctx, holder) {
		return fault.New(fault.Busy, "plan %s is being run by another process (%s)", id, holder).
			WithHint("wait for it, or agents plan pause %s", id)
	}
	return e.Store.Update(ctx, func(tx Tx) error {
		if err := tx.Release(id, holder); err != nil {
			return err
		}
		return take(tx)
	})
}

func (e *Engine) release(ctx context.Context, id ident.PlanID) {
	defer e.held.Delete(id)
	err := e.Store.Update(ctx, func(tx Tx) error { return tx.Release(id, e.Live.Self()) })
	if err != nil {
		e.Log.Warn("release plan", "plan", id, "err", err)
	}
}

// end closes the durable run. An error of the loop becomes the plan's status,
// so that it is never left running with nobody carrying it.
func (r *run) end(ctx context.Context, id ident.PlanID, cause error) error {
	if err := r.load(ctx, id); err != nil {
		return err
	}
	if heldElsewhere(cause) && r.p.State == plan.Running {
		return cause // somebody else holds the run: leave it to them
	}
	next := r.p
	next.RunOpen = false
	if cause != nil && next.State == plan.Running {
		f := fault.As(cause)
		to, err := plan.Next(next.Status, plan.Fail)
		if err != nil {
			return err
		}
		next.Status, next.Reason, next.Fault, next.Hint = to, f.Msg, f.Kind.String(), f.Hint
		return r.move(ctx, next, nil)
	}
	if err := r.commit(ctx, next, nil); err != nil {
		return err
	}
	return cause
}

// stopped is the way out when the caller's context ended: the run stays open,
// the plan is paused, so that resume recovers it.
func (r *run) stopped(ctx context.Context, id ident.PlanID, cause error) error {
	if err := r.load(ctx, id); err != nil {
		return err
	}
	throttled := r.p.State == plan.Waiting && r.p.WaitUntil != nil
	if to, err := plan.Next(r.p.Status, plan.Pause); err == nil && (r.p.State == plan.Running || throttled) {
		next := r.p
		next.Status, next.Reason, next.WaitUntil = to, "interrupted", nil
		if err := r.move(ctx, next, nil); err != nil {
			return err
		}
	}
	return cause
}

// load reads the plan and its records in one view.
func (r *run) load(ctx context.Context, id ident.PlanID) error {
	err := r.Store.View(ctx, func(tx Tx) (err error) {
		if r.p, err = tx.Plan(id); err != nil {
			return err
		}
		if r.calls, err = tx.Calls(id); err != nil {
			return err
		}
		if r.toolCalls, err = tx.ToolCalls(id); err != nil {
			return err
		}
		if r.decisions, err = tx.Decisions(id); err != nil {
			return err
		}
		if r.results, err = tx.Results(id); err != nil {
			return err
		}
		r.gaps, err = tx.Gaps(id)
		return err
	})
	if err != nil {
		return err
	}
	if r.cache == nil {
		r.cache = map[string][]byte{}
	}
	r.requests = evidence.Tracker{} // it may know of a manifest that was never stored
	r.turns = nil
	r.seen = map[string]string{}
	for _, t := range r.toolCalls {
		maps.Copy(r.seen, t.Noted)
	}
	r.changed = nil
	if r.p.Changed != "" {
		b, err := r.blob(ctx, r.p.Changed)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(b, &r.changed); err != nil {
			return fault.New(fault.Corrupt, "change set %s: %w", r.p.Changed, err)
		}
	}
	r.loaded = true
	return nil
}

// step is one turn of the loop: it does the one next thing and records it. It
// returns true when there is nothing more that it may do.
func (r *run) step(ctx context.Context, id ident.PlanID) (done bool, err error) {
	if !r.loaded {
		if err := r.load(ctx, id); err != nil {
			return false, err
		}
	}
	defer func() {
		if err != nil {
			r.loaded = false // memory may be ahead of the records
		}
	}()
	if stop, err := r.asked(ctx); stop || err != nil {
		return stop, err
	}
	switch r.p.State {
	case plan.Waiting:
		return r.stepWaiting(ctx)
	case plan.Queued, plan.Complete:
		return r.stepGate(ctx)
	case plan.Running:
		switch r.p.Phase {
		case plan.PhaseStrategize, plan.PhaseExecute:
			return r.stepPhase(ctx)
		case plan.PhaseApply:
			return r.stepApply(ctx)
		}
	case plan.Applied:
		return true, r.Clear(ctx, r.p)
	}
	return true, nil
}

// asked looks whether somebody wants the plan to pause or to be given up, and
// what they have to say to its actor.
func (r *run) asked(ctx context.Context) (bool, error) {
	var want string
	err := r.Store.View(ctx, func(tx Tx) (err error) {
		if r.messages, err = messages(tx, r.p.ID); err != nil {
			return err
		}
		want, err = tx.Setting(wishKey(r.p.ID))
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		return err
	})
	if err != nil || want == "" {
		return false, err
	}
	var w wish
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		return false, fault.New(fault.Corrupt, "wish for plan %s: %w", r.p.ID, err)
	}
	next := r.p
	to, err := plan.Next(next.Status, w.Trigger)
	if err != nil { // nothing to stop any more
		return false, r.Store.Update(ctx, func(tx Tx) error { return tx.PutSetting(wishKey(r.p.ID), "") })
	}
	if w.Trigger == plan.Cancel {
		if err := r.takeBack(ctx); err != nil {
			return true, err
		}
	}
	next.Status, next.Reason, next.WaitUntil = to, w.Reason, nil
	err = r.move(ctx, next, func(tx Tx) error {
		if w.Trigger == plan.Cancel {
			if err := lapse(tx, r.p.ID, r.Now()); err != nil {
				return err
			}
		}
		return tx.PutSetting(wishKey(r.p.ID), "")
	})
	if err != nil || w.Trigger != plan.Cancel || w.Keep {
		return true, err
	}
	if err := r.Sandboxes.Remove(ctx, r.p.ID); err != nil {
		r.Log.Warn("remove the sandbox of a cancelled plan", "plan", r.p.ID, "err", err)
	}
	return true, nil
}

// commit stores the blobs that are due and next as the plan, with whatever f
// adds, in one transaction; then it tells the events. A nil f adds nothing.
func (r *run) commit(ctx context.Context, next plan.Plan, f func(Tx) error, events ...plan.Event) error {
	return r.commitBy(ctx, r.Store.Update, next, f, events...)
}

// commitRelaxed is commit for what can be done again without a loss: that a
// call or a tool that only reads was begun or has ended. A decision, an answer
// that was paid for, a change and a person's word are never stored so.
func (r *run) commitRelaxed(ctx context.Context, next plan.Plan, f func(Tx) error, events ...plan.Event) error {
	return r.commitBy(ctx, r.Store.UpdateRelaxed, next, f, events...)
}

func (r *run) commitBy(ctx context.Context, update func(context.Context, func(Tx) error) error,
	next plan.Plan, f func(Tx) error, events ...plan.Event) error {
	next.Updated = r.Now()
	version := next.Version
	small, err := r.Blobs.Split(ctx, r.due)
	if err != nil {
		r.loaded = false
		return err
	}
	err = update(ctx, func(tx Tx) error {
		next.Version = version // the function may run again
		if err := putBlobs(tx, small); err != nil {
			return err
		}
		if f != nil {
			if err := f(tx); err != nil {
				return err
			}
		}
		if err := tx.UpdatePlan(&next); err != nil {
			return err
		}
		for i := range events {
			if err := tx.AppendEvent(&events[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		r.loaded = false
		return err
	}
	r.flushed()
	r.p = next
	for _, ev := range events {
		r.tell(ev)
	}
	return nil
}

// move is commit for a change of status.
func (r *run) move(ctx context.Context, next plan.Plan, f func(Tx) error, events ...plan.Event) error {
	data := fields{"from": r.p.Status.String(), "to": next.Status.String()}
	if next.Reason != "" {
		data["reason"] = next.Reason
	}
	return r.commit(ctx, next, f, append(events, r.event(r.p.ID, "plan.state", data))...)
}

func (r *run) tell(ev plan.Event) {
	if r.emit != nil {
		r.emit(ev)
	}
}

// elapsed is the whole milliseconds from then to now, for events.
func (e *Engine) elapsed(from time.Time) int64 { return e.Now().Sub(from).Milliseconds() }

// finished is a pointer to now, for records that end.
func (e *Engine) finished() *time.Time { t := e.Now(); return &t }

// phaseToolCalls returns the tool calls of the running phase and attempt.
func (r *run) phaseToolCalls() []evidence.ToolCall {
	var out []evidence.ToolCall
	for _, t := range r.toolCalls {
		if t.Phase == r.p.Phase && t.Attempt == r.p.Attempt {
			out = append(out, t)
		}
	}
	return out
}

// setToolCall keeps the mirror in step with a stored tool call.
func (r *run) setToolCall(t evidence.ToolCall) {
	for i := range r.toolCalls {
		if r.toolCalls[i].ID == t.ID {
			r.toolCalls[i] = t
			return
		}
	}
	r.toolCalls = append(r.toolCalls, t)
}

// capability of a tool; one that is not known is taken to write.
func (e *Engine) capability(name string) tool.Capability {
	if s, ok := e.specs[name]; ok {
		return s.Capability
	}
	return tool.Capability{Writes: true}
}
