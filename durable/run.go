package durable

import (
	"context"
	"errors"
	"fmt"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"github.com/cleveragents/agents/crash"
	"github.com/cleveragents/agents/fault"
)

// maxKey bounds a key; a plan's id with a run number is about 30 bytes.
const maxKey = 200

// claimTries bounds how often Run asks for a key that changes hands meanwhile.
const claimTries = 4

// outcome is all that DBOS records of a step, and of a run.
type outcome struct {
	Done   bool    `json:"done,omitempty"`
	Failed *failed `json:"failed,omitempty"`
}

// failed is a fault as it is recorded: enough for a later Run of the key to
// return one of the same kind and text.
type failed struct {
	Kind fault.Kind `json:"kind"`
	Code string     `json:"code,omitempty"`
	Msg  string     `json:"msg"`
	Hint string     `json:"hint,omitempty"`
}

// verdict carries a step's error through DBOS. When it comes back as the
// workflow's result, the end is recorded.
type verdict struct{ err error }

func (v *verdict) Error() string { return v.err.Error() }
func (v *verdict) Unwrap() error { return v.err }

func describe(err error) *failed {
	f := fault.As(err)
	return &failed{Kind: f.Kind, Code: f.Code, Msg: f.Msg, Hint: f.Hint}
}

func (f *failed) fault() *fault.Error {
	return &fault.Error{Kind: f.Kind, Code: f.Code, Msg: f.Msg, Hint: f.Hint}
}

// run is one call of Run while it goes on.
type run struct {
	path string          // of the workflow file
	ctx  context.Context // the caller's, and done when the runner closes
	step func(ctx context.Context, n int) (bool, error)
	// release makes DBOS record the workflow as cancelled instead of ended,
	// and the step in progress not at all.
	release context.CancelFunc
	// err is what Run returns. It is written on the workflow's goroutine,
	// before ended or left is signalled.
	err   error
	ended chan error    // the workflow's end as DBOS has recorded it
	left  chan struct{} // closed when the workflow cannot be recorded any more
}

// Run calls step(ctx, 0), step(ctx, 1), … until one returns done, recording
// after each call. Steps that an earlier Run of the key recorded are not
// called again. When step fails its error is returned as it is, and the key has
// ended for good: a later Run returns an error of the same kind and text.
// When ctx is done Run returns after the current step, with the step's error or
// ctx's cause, and a later Run of the key goes on. A Run of a key that has
// ended well returns nil at once. While another process, or another call in
// this one, runs the key, Run returns fault.Busy; its detail "holder" names
// the process.
func (r *Runner) Run(ctx context.Context, key string, step func(ctx context.Context, n int) (done bool, err error)) error {
	if key == "" || len(key) > maxKey {
		return fault.New(fault.Internal, "run key %q: must be 1 to %d bytes", key, maxKey)
	}
	u, err := r.begin(ctx, key, step)
	if err != nil {
		return err
	}
	ended, err := r.carryOut(ctx, key, u)
	r.finish(key)
	if ended {
		// The verdict stands; room is made at the next end when this fails.
		if serr := r.settle(context.WithoutCancel(ctx), key); serr != nil {
			r.log.Warn("clean up after a run", "key", key, "error", serr)
		}
	}
	r.active.Done()
	return err
}

// begin takes the key within this process.
func (r *Runner) begin(ctx context.Context, key string, step func(context.Context, int) (bool, error)) (*run, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, fault.New(fault.Unavailable, "run %s: the runner is closed", key)
	}
	if r.runs[key] != nil {
		return nil, busy(key, r.live.Self())
	}
	u := &run{path: r.path, ctx: ctx, step: step, ended: make(chan error, 1), left: make(chan struct{})}
	r.runs[key] = u
	r.active.Add(1)
	return u, nil
}

func (r *Runner) finish(key string) {
	r.mu.Lock()
	delete(r.runs, key)
	r.mu.Unlock()
}

func busy(key, holder string) error {
	return fault.New(fault.Busy, "run %s is held by %s", key, holder).With("holder", holder)
}

// carryOut claims the key, runs the workflow and reports whether the key has
// now ended by this call.
func (r *Runner) carryOut(ctx context.Context, key string, u *run) (ended bool, err error) {
	var cancel context.CancelCauseFunc
	u.ctx, cancel = context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(r.base, func() { cancel(context.Cause(r.base)) })()
	if u.ctx.Err() != nil {
		return false, context.Cause(u.ctx)
	}
	var wctx dbos.Context
	wctx, u.release = dbos.WithCancel(r.dbos)
	defer u.release()

	handle, err := r.claim(context.WithoutCancel(ctx), wctx, key)
	if handle == nil {
		return false, err
	}
	go func() {
		_, err := handle.GetResult()
		u.ended <- err
	}()
	select {
	case err = <-u.ended:
	case <-u.left:
		// DBOS waits on for whoever has the key now, until Close; the caller
		// need not.
		return false, u.err
	}
	var v *verdict
	switch {
	case err == nil:
		return true, nil
	case errors.As(err, &v):
		return true, v.err
	case errors.Is(err, dbos.ErrWorkflowPanic):
		return true, fault.New(fault.Internal, "run %s: a step panicked: %w", key, err)
	case u.err != nil: // interrupted, or failed and that could not be recorded
		return false, u.err
	}
	return false, trouble(ctx, r.path, "record the end of run "+key, err)
}

// claim starts the workflow when the key is free. A nil handle means that
// there is nothing to run; err is then what Run returns.
func (r *Runner) claim(ctx context.Context, wctx dbos.Context, key string) (dbos.WorkflowHandle[outcome], error) {
	for range claimTries {
		h, err := dbos.RunWorkflow(wctx, r.carry, "", dbos.WithWorkflowID(key),
			dbos.WithWorkflowIDReusePolicy(dbos.WorkflowIDReusePolicyReject))
		if err == nil {
			return h, nil
		}
		if !errors.Is(err, dbos.ErrWorkflowIDInUse) {
			return nil, trouble(ctx, r.path, "claim run "+key, err)
		}
		c, err := r.readClaim(ctx, key)
		if err != nil {
			return nil, err
		}
		switch {
		case c == nil: // freed since
			continue
		case c.status == string(dbos.WorkflowStatusSuccess), c.status == string(dbos.WorkflowStatusError):
			return nil, c.verdict(key)
		case r.held(ctx, key, c):
			return nil, busy(key, c.holder)
		}
		if err := r.free(ctx, key, c); err != nil {
			return nil, err
		}
		crash.Point("durable.freed")
	}
	return nil, fault.New(fault.Busy, "run %s keeps changing hands", key)
}

// carry is the workflow. DBOS calls it on a goroutine of its own.
func (r *Runner) carry(c dbos.Context, _ string) (outcome, error) {
	key, err := dbos.GetWorkflowID(c)
	if err != nil {
		return outcome{}, err
	}
	r.mu.Lock()
	u := r.runs[key]
	r.mu.Unlock()
	if u == nil {
		// Nothing of ours puts a run on a queue.
		return outcome{}, fault.New(fault.Internal, "run %s was started from outside", key)
	}
	return u.loop(c)
}

func (u *run) loop(c dbos.Context) (outcome, error) {
	for n := 0; ; n++ {
		if u.ctx.Err() != nil {
			u.err = context.Cause(u.ctx)
			u.release()
			return outcome{}, u.err
		}
		out, err := dbos.RunAsStep(c, func(context.Context) (outcome, error) { return u.call(n) },
			dbos.WithStepName("step"))
		crash.Point("durable.recorded")
		switch {
		case err != nil && u.err != nil && u.ctx.Err() != nil: // interrupted and released
			return outcome{}, err
		case errors.Is(err, dbos.ErrConflictingWorkflowID):
			u.leave(fault.New(fault.Busy, "another process has taken the run over: %w", err))
			return outcome{}, err
		case err != nil:
			// The record failed, not the step. Released rather than ended, so
			// that a later Run can go on.
			u.release()
			u.leave(trouble(context.WithoutCancel(u.ctx), u.path, fmt.Sprintf("record step %d", n), err))
			return outcome{}, err
		case out.Failed != nil:
			if u.err == nil { // recorded by a process that died before the end
				u.err = out.Failed.fault()
			}
			return out, &verdict{u.err}
		case out.Done:
			return out, nil
		}
	}
}

func (u *run) leave(err error) {
	u.err = err
	close(u.left)
}

// call makes one call of the step. A failure is an outcome to record, unless
// the caller has given up: then it is most likely the echo of that.
func (u *run) call(n int) (outcome, error) {
	done, err := u.step(u.ctx, n)
	crash.Point("durable.stepped")
	switch {
	case err == nil:
		return outcome{Done: done}, nil
	case u.ctx.Err() != nil:
		u.err = err
		u.release()
		return outcome{}, fmt.Errorf("interrupted: %w", err)
	}
	u.err = err
	return outcome{Failed: describe(err)}, nil
}
