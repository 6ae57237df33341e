package local

import (
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

// A plan may be run by any process. What it does is in the store, so whoever
// follows it reads there, again and again, and needs no line to the runner.

// lookEvery is how often the store is asked for news of a plan.
const lookEvery = 200 * time.Millisecond

// look is a plan at one moment, with what happened since an event.
type look struct {
	plan   plan.Plan
	held   bool // a living process carries it on
	asked  bool // a question to a person is open
	events []plan.Event
}

func (f *Facade) look(ctx context.Context, id ident.PlanID, after int64) (l look, err error) {
	err = f.view(ctx, func(tx engine.Tx) error {
		if l.plan, err = tx.Plan(id); err != nil {
			return err
		}
		holder, err := tx.Holder(id)
		if err != nil {
			return err
		}
		l.held = holder != "" && f.Engine.Live.Alive(ctx, holder)
		open, err := tx.Approvals(id, true)
		if err != nil {
			return err
		}
		l.asked = len(open) > 0
		l.events, err = tx.Events(id, after, 0)
		return err
	})
	return l, err
}

// looks follows one plan. A plan that has just been made is held by nobody for
// a moment, and so is one between two runs: it counts as stopped when two looks
// in a row find nobody.
type looks struct {
	f     *Facade
	id    ident.PlanID
	after int64 // the last event that was seen
	idle  bool  // the last look found nobody
}

// next takes a look and reports whether the plan has stopped.
func (s *looks) next(ctx context.Context) (l look, stopped bool, err error) {
	if l, err = s.f.look(ctx, s.id, s.after); err != nil {
		return l, false, err
	}
	if n := len(l.events); n > 0 {
		s.after = l.events[n-1].Seq
	}
	stopped = !l.held && (s.idle || l.plan.Terminal())
	s.idle = !l.held
	return l, stopped, nil
}

// rest waits for the next look.
func rest(ctx context.Context) error {
	t := time.NewTimer(lookEvery)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// follow tells the events of a plan after one, and those that come, until the
// plan has stopped.
func (f *Facade) follow(ctx context.Context, id ident.PlanID, after int64, tell func(plan.Event)) error {
	s := &looks{f: f, id: id, after: after}
	for {
		l, stopped, err := s.next(ctx)
		if err != nil {
			return err
		}
		for _, e := range l.events {
			tell(e)
		}
		if stopped {
			return nil
		}
		if err := rest(ctx); err != nil {
			return err
		}
	}
}

func (f *Facade) planLogs(ctx context.Context, q a2a.PlanLogsQuery, emit func(plan.Event)) (v a2a.LogsView, err error) {
	p, err := f.plan(ctx, q.Ref)
	if err != nil {
		return v, err
	}
	var from time.Time
	if q.Since > 0 {
		from = f.Engine.Now().Add(-q.Since)
	}
	tell := func(e plan.Event) {
		if e.At.Before(from) || q.Tool != "" && !aboutTool(e, q.Tool) {
			return
		}
		emit(e)
		if !q.Follow {
			v.Events = append(v.Events, e)
		}
	}
	if q.Follow {
		err = f.follow(ctx, p.ID, 0, tell)
	} else {
		var l look
		l, err = f.look(ctx, p.ID, 0)
		for _, e := range l.events {
			tell(e)
		}
	}
	if err != nil {
		return v, err
	}
	out, err := f.outcome(ctx, p.ID)
	v.Plan = out.Plan
	if q.Follow {
		v.Next = out.Next
	}
	return v, err
}

// aboutTool reports whether an event is about a call of that tool.
func aboutTool(e plan.Event, name string) bool {
	var d struct {
		Tool string `json:"tool"`
	}
	return strings.HasPrefix(e.Type, "tool.") && json.Unmarshal(e.Data, &d) == nil &&
		(d.Tool == name || strings.TrimPrefix(d.Tool, "builtin/") == name)
}

func (f *Facade) planWatch(ctx context.Context, q a2a.PlanWatchQuery, emit func(plan.Event)) (a2a.PlanOutcome, error) {
	if _, err := path.Match(q.Events, ""); err != nil {
		return a2a.PlanOutcome{}, fault.New(fault.Invalid, "%q is not a pattern of event types", q.Events).WithHint("such as tool.* or plan.state")
	}
	p, err := f.plan(ctx, q.Ref)
	if err != nil {
		return a2a.PlanOutcome{}, err
	}
	l, err := f.look(ctx, p.ID, 0)
	if err != nil {
		return a2a.PlanOutcome{}, err
	}
	var after int64
	for _, e := range slices.Backward(l.events) {
		if e.Type == "plan.state" {
			after = e.Seq - 1
			break
		}
	}
	err = f.follow(ctx, p.ID, after, func(e plan.Event) {
		if ok, _ := path.Match(q.Events, e.Type); ok || q.Events == "" { // the pattern was tried above
			emit(e)
		}
	})
	if err != nil {
		return a2a.PlanOutcome{}, err
	}
	return f.outcome(ctx, p.ID)
}

func (f *Facade) planWait(ctx context.Context, q a2a.PlanWaitQuery, _ func(plan.Event)) (a2a.WaitView, error) {
	v := a2a.WaitView{Plans: []a2a.WaitedPlan{}}
	if err := known("phase", string(q.Phase), plan.Statuses(func(s plan.Status) string { return string(s.Phase) })); err != nil {
		return v, err
	}
	if err := known("state", string(q.State), plan.Statuses(func(s plan.Status) string { return string(s.State) })); err != nil {
		return v, err
	}
	var ids []ident.PlanID
	for _, ref := range q.Refs { // all of them are there before any is waited for
		p, err := f.plan(ctx, ref)
		if err != nil {
			return v, err
		}
		ids = append(ids, p.ID)
	}
	for _, id := range ids {
		reached, err := f.await(ctx, id, q)
		if err != nil {
			return v, err
		}
		out, err := f.outcome(ctx, id)
		if err != nil {
			return v, err
		}
		v.Plans = append(v.Plans, a2a.WaitedPlan{Reached: reached, Outcome: out})
	}
	return v, nil
}

// await waits for one plan and reports whether it is where it was waited for.
// What was reached and left between two looks is in the events.
func (f *Facade) await(ctx context.Context, id ident.PlanID, q a2a.PlanWaitQuery) (bool, error) {
	s := &looks{f: f, id: id}
	for first := true; ; first = false {
		l, stopped, err := s.next(ctx)
		if err != nil {
			return false, err
		}
		if first {
			l.events = nil // they were before
		}
		if holds(l, q) {
			return true, nil
		}
		if stopped {
			return q.State == "" && q.Phase == "" && !q.Approval && l.plan.State == plan.Applied, nil
		}
		if err := rest(ctx); err != nil {
			return false, err
		}
	}
}

// holds reports whether the condition of q holds, or did since the last look.
func holds(l look, q a2a.PlanWaitQuery) bool {
	at := []plan.Status{l.plan.Status}
	asked := l.asked
	for _, e := range l.events {
		var d struct {
			To string `json:"to"`
		}
		switch {
		case e.Type == "approval.asked":
			asked = true
		case e.Type == "plan.state" && json.Unmarshal(e.Data, &d) == nil:
			phase, state, _ := strings.Cut(d.To, "/")
			at = append(at, plan.Status{Phase: plan.Phase(phase), State: plan.State(state)})
		}
	}
	switch {
	case q.State != "":
		return slices.ContainsFunc(at, func(s plan.Status) bool { return s.State == q.State })
	case q.Phase != "":
		return slices.ContainsFunc(at, func(s plan.Status) bool { return phaseRank(s.Phase) >= phaseRank(q.Phase) })
	}
	return q.Approval && asked
}

func phaseRank(p plan.Phase) int {
	return slices.Index([]plan.Phase{plan.PhaseAction, plan.PhaseStrategize, plan.PhaseExecute, plan.PhaseApply}, p)
}
