package sandbox

import (
	"context"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
)

// Stage tells how far an application of the plan got that is not forgotten.
func (t *Target) Stage(ctx context.Context, id ident.PlanID) (engine.Stage, error) {
	dir, err := t.journals()
	if err != nil {
		return "", err
	}
	defer dir.Close()
	j, err := disk{t.cfg.Fault}.readJournal(dir, id)
	if err != nil || j == nil {
		return "", err
	}
	switch j.Step {
	case committing, landed:
		return engine.StageHalf, nil
	case applied:
		return engine.StageApplied, nil
	case reverted:
		return engine.StageReverted, nil
	}
	return engine.StageNone, nil // nothing shows: the next look throws it away
}

// Settle carries what was cut short, or stopped at a person's edit, to one of
// its ends. The edits stay, and are named in the landing. Without anything to
// settle it is fault.NotFound.
func (t *Target) Settle(ctx context.Context, id ident.PlanID, back bool) (engine.Landing, error) {
	x, err := t.enter(ctx, id, nil)
	if err != nil {
		return engine.Landing{}, err
	}
	defer x.close()
	if x.j == nil {
		return engine.Landing{}, fault.New(fault.NotFound, "no apply of plan %s was cut short", id)
	}
	if back {
		return x.settleBack()
	}
	switch x.j.Step {
	case staging, reverting:
		if err := x.giveUp(); err != nil {
			return engine.Landing{}, err
		}
		return engine.Landing{}, fault.New(fault.NotFound, "nothing of plan %s had been written yet", id).
			WithHint("agents plan apply %s", id)
	case committing:
		if err := x.forward(true); err != nil {
			return engine.Landing{}, err
		}
		return x.land()
	case landed:
		return x.land()
	}
	return x.j.Result, nil
}

func (x *txn) settleBack() (engine.Landing, error) {
	if x.j.Step != reverted {
		x.j.Left = nil
		if err := x.back(); err != nil {
			return engine.Landing{}, err
		}
		x.j.Result = engine.Landing{Left: x.j.Left}
		if err := x.save(reverted); err != nil {
			return engine.Landing{}, err
		}
	}
	return x.j.Result, nil
}

// Forget drops the journal of an application that is recorded elsewhere. One
// that is not at an end stays.
func (t *Target) Forget(ctx context.Context, id ident.PlanID) error {
	dir, err := t.journals()
	if err != nil {
		return err
	}
	defer dir.Close()
	x := &txn{disk: disk{t.cfg.Fault}, t: t, ctx: ctx, dir: dir}
	if x.j, err = x.readJournal(dir, id); err != nil || x.j == nil || !x.j.done() {
		return err
	}
	return x.drop()
}

// quiet keeps applications away from a directory while it is being read, after
// what was cut short there has been ended.
func (t *Target) quiet(ctx context.Context, location string) (release func(), err error) {
	dir, err := t.journals()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	for range quietTries {
		// Whoever writes holds this lock, so what is unfinished then is of the dead.
		release, err := hold(ctx, dir, looking, []string{location}, true)
		if err != nil {
			return nil, err
		}
		left, err := disk{t.cfg.Fault}.unfinished(ctx, dir, "", []string{location})
		if err == nil && len(left) == 0 {
			return release, nil
		}
		release()
		if err != nil {
			return nil, err
		}
		x, err := t.enter(ctx, "", []string{location})
		if err == nil {
			x.close()
		} else if !fault.Is(err, fault.Busy) { // somebody else ends it
			return nil, err
		}
	}
	return nil, fault.New(fault.Busy, "the files in %s are being written all the time", location).WithHint("try again")
}

// quietTries bounds how often somebody else may be faster.
const quietTries = 20
