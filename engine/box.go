package engine

import (
	"context"
	"fmt"

	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/policy"
)

// place is where the plan's programs run.
func (r *run) place(box Sandbox) Place {
	return Place{
		Dir: box.Dir(), At: r.p.Bases[0].Location, Scratch: box.Scratch(),
		Network: r.network(), Confine: r.p.Profile.Safety.RequireSandbox,
	}
}

// network is what the plan's programs may reach; a plan that is older than the
// rule says nothing, and so they reach nothing.
func (r *run) network() policy.Network {
	if n := r.p.Profile.Safety.Network; n != nil {
		return *n
	}
	return policy.Network{}
}

// sandbox opens the plan's sandbox, taking the snapshot of every linked
// resource when none was taken yet. One that is gone although the plan has
// changed something is made again from the snapshot and the record; that it is
// being made is recorded first, so that a crash in between is not taken for a
// person who reverted the work.
func (r *run) sandbox(ctx context.Context) (Sandbox, error) {
	if r.box != nil {
		return r.box, nil
	}
	if len(r.p.Bases) == 0 {
		if err := r.takeBases(ctx); err != nil {
			return nil, err
		}
	}
	if len(r.changed) > 0 && !r.p.Rebuilding {
		has, err := r.Sandboxes.Has(ctx, r.p.ID)
		if err != nil {
			return nil, fmt.Errorf("look for the sandbox: %w", err)
		}
		if !has {
			next := r.p
			next.Rebuilding = true
			if err := r.commit(ctx, next, nil); err != nil {
				return nil, err
			}
		}
	}
	box, err := r.Sandboxes.Open(ctx, r.p.ID, r.p.Bases)
	if err != nil {
		return nil, fmt.Errorf("open sandbox: %w", err)
	}
	if r.p.Rebuilding {
		if err := r.rebuild(ctx, box); err != nil {
			return nil, err
		}
	}
	r.box = box
	return box, nil
}

// rebuild brings a sandbox that was made again to the last record.
func (r *run) rebuild(ctx context.Context, box Sandbox) error {
	g, err := r.putBack(ctx, box, evidence.GapTruncated, "the sandbox was gone and was made again")
	if err != nil {
		return err
	}
	next := r.p
	next.Rebuilding = false
	return r.commitGap(ctx, next, g)
}

func (r *run) takeBases(ctx context.Context) error {
	next := r.p
	err := r.Store.View(ctx, func(tx Tx) error {
		scope, err := tx.Project(r.p.Project)
		if err != nil {
			return err
		}
		for _, l := range scope.Links {
			res, err := tx.Resource(l.Resource)
			if err != nil {
				return err
			}
			next.Bases = append(next.Bases, plan.Base{Resource: res.ID, Location: res.Location, ReadOnly: l.ReadOnly})
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, b := range next.Bases {
		res, err := r.resource(ctx, b.Resource)
		if err != nil {
			return err
		}
		snap, err := r.Sandboxes.Snapshot(ctx, res)
		if err != nil {
			return fmt.Errorf("snapshot of %s: %w", res.Name, err)
		}
		snap.ReadOnly = b.ReadOnly
		next.Bases[i] = snap
	}
	return r.commit(ctx, next, nil, r.event(r.p.ID, "sandbox.snapshot", fields{"resources": len(next.Bases), "backend": next.Bases[0].Backend}))
}
