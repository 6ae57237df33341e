package cli

import (
	"context"
	"errors"
	"time"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

// call does one operation that does not stream. --timeout and Ctrl-C end it.
func call[Q, R any](ctx context.Context, a *app, o a2a.Op[Q, R], q Q) (R, error) {
	return look(ctx, a, o, q, nil)
}

// look is call for an operation that tells events and carries nothing on: to
// end it changes no plan.
func look[Q, R any](ctx context.Context, a *app, o a2a.Op[Q, R], q Q, emit func(plan.Event)) (R, error) {
	return interruptible(ctx, a, func(opCtx context.Context) (R, error) {
		c, err := a.client(ctx) // the client outlives the operation
		if err != nil {
			var zero R
			return zero, err
		}
		return a2a.Call(opCtx, c, o, q, emit)
	})
}

// interruptible runs f until it is done, the time of --timeout runs out, or a
// person interrupts. It waits for f to stop; a second interrupt does not.
func interruptible[R any](ctx context.Context, a *app, f func(context.Context) (R, error)) (R, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if a.flags.timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, a.flags.timeout)
		defer stop()
	}
	type answer struct {
		r   R
		err error
	}
	done := make(chan answer, 1)
	go func() {
		r, err := f(ctx)
		done <- answer{r, err}
	}()
	var none R
	interrupted := false
	for {
		select {
		case got := <-done:
			switch {
			case got.err == nil:
				return got.r, nil
			case interrupted:
				return none, fault.New(fault.Interrupted, "interrupted")
			case errors.Is(ctx.Err(), context.DeadlineExceeded):
				return none, timedOut(a.flags.timeout)
			}
			return got.r, got.err
		case <-a.env.Signals:
			if interrupted {
				return none, fault.New(fault.Interrupted, "interrupted")
			}
			interrupted = true
			cancel()
		}
	}
}

func timedOut(after time.Duration) error {
	return fault.New(fault.Timeout, "not done after %s (--timeout)", after)
}
