package cli

import (
	"context"
	"sync"
	"time"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

// stopping is who wanted a running plan to stop.
type stopping int

const (
	running   stopping = iota
	ranOut             // --timeout: the plan pauses
	pressed            // Ctrl-C once: the plan pauses
	abandoned          // Ctrl-C twice: the plan is given up
)

// grace is how long a plan whose time ran out may take to its next safe point.
const grace = 10 * time.Second

// followed is one running operation that streams. The plan's id is known from
// the first event on; before it, stopping means cancelling the context.
type followed struct {
	app    *app
	client a2a.Client
	show   *progress
	cancel context.CancelFunc
	why    stopping
	asking sync.WaitGroup

	mu   sync.Mutex
	plan ident.PlanID
}

// follow does an operation that streams, shows what happens, and turns where
// the plan stopped into a result and an error (outcome.go).
func follow[Q any](ctx context.Context, a *app, o a2a.Op[Q, a2a.PlanOutcome], q Q, g goal) error {
	c, err := interruptible(ctx, a, func(context.Context) (a2a.Client, error) { return a.client(ctx) })
	if err != nil {
		return err
	}
	f := &followed{app: a, client: c, show: a.progress()}
	runCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	f.cancel = cancel
	type answer struct {
		out a2a.PlanOutcome
		err error
	}
	done := make(chan answer, 1)
	go func() {
		out, err := a2a.Call(runCtx, f.client, o, q, f.event)
		done <- answer{out, err}
	}()
	clock := time.NewTimer(a.flags.timeout)
	defer clock.Stop()
	if a.flags.timeout == 0 {
		clock.Stop()
	}
	for {
		select {
		case r := <-done:
			f.asking.Wait()
			if err := f.show.close(); err != nil && r.err == nil {
				r.err = fault.New(fault.Internal, "write an event: %w", err)
			}
			return f.conclude(ctx, r.out, r.err, g)
		case <-a.env.Signals:
			if f.why == abandoned {
				return fault.New(fault.Interrupted, "interrupted before the plan had stopped").
					WithHint("agents plan status %s tells how it is", f.ref())
			}
			f.signal(ctx)
		case <-clock.C:
			switch f.why {
			case running:
				f.why = ranOut
				f.show.note("the time is up: pausing at the next safe point")
				f.pause(ctx)
				clock.Reset(grace)
			case ranOut:
				f.cancel() // the safe point is too far away: what runs now is cut short
			}
		}
	}
}

func (f *followed) event(e plan.Event) {
	f.mu.Lock()
	f.plan = e.Plan
	f.mu.Unlock()
	f.show.event(e)
}

// ref returns the id of the plan, "" before the first event.
func (f *followed) ref() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return string(f.plan)
}

// signal handles one more Ctrl-C.
func (f *followed) signal(ctx context.Context) {
	if f.why == pressed {
		f.why = abandoned
		f.show.note("giving the plan up")
		f.cancel() // not at a safe point: whatever it does now is cut short
		return
	}
	f.why = pressed
	f.show.note("pausing at the next safe point; Ctrl-C again gives the plan up")
	f.pause(ctx)
}

// pause asks the plan to stop. A plan that cannot be asked is interrupted.
func (f *followed) pause(ctx context.Context) {
	ref := f.ref()
	if ref == "" {
		f.cancel()
		return
	}
	f.asking.Go(func() {
		if _, err := a2a.Call(context.WithoutCancel(ctx), f.client, a2a.PlanPause(), a2a.RefQuery{Ref: ref}, nil); err != nil {
			f.cancel()
		}
	})
}

// conclude is the result and the error for where the plan stopped.
func (f *followed) conclude(ctx context.Context, out a2a.PlanOutcome, err error, g goal) error {
	switch {
	case err == nil:
		f.app.put(outcomeOutput(out))
		err = verdict(out, g)
		if err == nil || f.why == running || out.Plan.State != plan.Paused {
			return err
		}
	case f.why == running, !fault.Is(err, fault.Cancelled) && !fault.Is(err, fault.Timeout):
		return err // it has trouble of its own
	}
	ref := f.ref()
	switch {
	case f.why == abandoned && ref != "":
		return f.giveUp(ctx, ref)
	case f.why == ranOut:
		err = timedOut(f.app.flags.timeout)
	case ref == "":
		return fault.New(fault.Interrupted, "interrupted")
	default:
		err = fault.New(fault.Waiting, "the plan is paused").WithCode("Paused")
	}
	if f.app.out == nil {
		f.app.put(output{})
	}
	if ref != "" && len(f.app.out.next) == 0 {
		f.app.out.next = []string{"agents plan resume " + ref}
	}
	return err
}

// giveUp cancels a plan that nobody runs any more.
func (f *followed) giveUp(ctx context.Context, ref string) error {
	q := a2a.PlanCancelRequest{Ref: ref, Reason: "given up by Ctrl-C"}
	out, err := a2a.Call(context.WithoutCancel(ctx), f.client, a2a.PlanCancel(), q, nil)
	if err != nil {
		return err
	}
	f.app.put(outcomeOutput(out))
	return fault.New(fault.Cancelled, "the plan is given up")
}
