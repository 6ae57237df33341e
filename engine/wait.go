package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/policy"
)

// A provider that is busy says how long to wait. A short wait is slept where
// the call is made; a longer one is a status of the plan, waiting, with the
// time in the record: others see it, a restart goes on waiting, and the plan
// goes on by itself when the time has come.

const (
	// shortWait is the longest wait that is no status of its own.
	shortWait = 2 * time.Second
	// maxThrottle is how long a plan waits for a provider, one wait after the
	// other without an answer between, before a person has to look.
	maxThrottle = time.Hour
	// lookEvery is how often a waiting plan looks whether somebody wants it to
	// pause or to end.
	lookEvery = 500 * time.Millisecond
)

// sleep waits for d, or for the end of ctx.
func (e *Engine) sleep(ctx context.Context, d time.Duration) error {
	if e.Sleep != nil {
		return e.Sleep(ctx, d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// backoff is how long to wait after the n-th failure in a row: what the
// provider asked for, else twice as long each time; a part of it is left to
// chance, so that plans that failed together do not come back together.
func backoff(n int, err error) time.Duration {
	if d, ok := askedWait(err); ok {
		return d + rand.N(d/10+1)
	}
	d := 250 * time.Millisecond << min(n, 7)
	return d/2 + rand.N(d/2+1)
}

// askedWait is the wait that the provider named in its refusal.
func askedWait(err error) (time.Duration, bool) {
	if err == nil {
		return 0, false
	}
	s, ok := fault.As(err).Details["retry_after"].(float64)
	if !ok || !(s >= 0) {
		return 0, false
	}
	return time.Duration(min(s, 7*24*60*60) * float64(time.Second)), true
}

// retries is how often a call may be made again after a transient failure.
func (r *run) retries() int {
	if !r.p.Profile.Auto(policy.RetryTransient, policy.Confidence{}) {
		return 0
	}
	return r.p.Profile.Safety.MaxRetriesPerStep
}

// longWait reports whether a failed call is to be made again by itself, and
// after how long a wait.
func (r *run) longWait(err error) (time.Duration, bool) {
	d, ok := askedWait(err)
	return d, ok && d > shortWait && fault.Is(err, fault.Unavailable) && r.retries() > 0
}

// throttle makes the plan wait for its provider. The call stays open and is
// made again, under its own number, when the time has come.
func (r *run) throttle(ctx context.Context, c evidence.Call, d time.Duration, f *fault.Error) (bool, error) {
	now := r.Now()
	until := now.Add(d + rand.N(d/10+1))
	next := r.p
	if next.ThrottledSince == nil {
		next.ThrottledSince = &now
	}
	if until.Sub(*next.ThrottledSince) > maxThrottle {
		next.ThrottledSince = nil
		return true, r.pauseAt(ctx, next, fault.Unavailable, "%s asks to wait until %s, which is longer than a plan waits by itself: %s",
			c.Provider, until.UTC().Format(time.RFC3339), f.Msg)
	}
	var err error
	if next.Status, err = plan.Next(next.Status, plan.Throttle); err != nil {
		return false, err
	}
	next.WaitUntil = &until
	next.Reason = fmt.Sprintf("rate_limit: %s asks to wait until %s", c.Provider, until.UTC().Format(time.RFC3339))
	return false, r.move(ctx, next, nil, r.event(next.ID, "call.waiting", fields{
		"provider": c.Provider, "turn": c.Turn, "until": until.UTC().Format(time.RFC3339), "wait_ms": d.Milliseconds(), "error": f.Msg,
	}))
}

// stepThrottled waits until the plan may go on, or somebody stops it.
func (r *run) stepThrottled(ctx context.Context) (bool, error) {
	for {
		left := r.p.WaitUntil.Sub(r.Now())
		if left <= 0 {
			break
		}
		if err := r.sleep(ctx, min(left, lookEvery)); err != nil {
			return false, err
		}
		if stop, err := r.asked(ctx); stop || err != nil {
			return stop, err
		}
	}
	next := r.p
	var err error
	if next.Status, err = plan.Next(next.Status, plan.Resume); err != nil {
		return false, err
	}
	next.Reason, next.WaitUntil = "", nil
	return false, r.move(ctx, next, nil)
}
