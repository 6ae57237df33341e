package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/policy"
	"github.com/cleveragents/agents/resource"
)

// Programs runs a program that a person asks for, confined as those of plans.
type Programs interface {
	Exec(ctx context.Context, in Place, x Exec) (ExecOutcome, error)
}

// Exec is a program to run.
type Exec struct {
	Argv     []string
	ReadOnly bool // it may not change the tree
	Timeout  time.Duration
	Out      io.Writer // gets its output as it comes
}

// ExecOutcome is how it ended.
type ExecOutcome struct {
	Exit    int
	Backend string   // what confined it
	Stopped string   // why it was ended; "" when it ended by itself
	Refused []string // what it may not reach
}

// Try runs a program in a throw-away copy of a resource, which is gone when it
// returns: nothing is recorded, and nothing of it reaches the resource. Under
// Exec.ReadOnly there is no copy; the program sees the resource itself and
// cannot change it. The changes that it made to the copy are returned.
func (e *Engine) Try(ctx context.Context, r resource.Resource, n policy.Network, x Exec) (out ExecOutcome, set plan.ChangeSet, err error) {
	in := Place{Dir: r.Location, At: r.Location, Network: n, Confine: true}
	if x.ReadOnly {
		out, err = e.Programs.Exec(ctx, in, x)
		return out, nil, err
	}
	base, err := e.Sandboxes.Snapshot(ctx, r)
	if err != nil {
		return out, nil, fmt.Errorf("snapshot of %s: %w", r.Name, err)
	}
	id := ident.PlanID(e.IDs.New())
	// What a person broke off is removed, too.
	defer func() { err = errors.Join(err, e.Sandboxes.Remove(context.WithoutCancel(ctx), id)) }()
	box, err := e.Sandboxes.Open(ctx, id, []plan.Base{base})
	if err != nil {
		return out, nil, fmt.Errorf("open sandbox: %w", err)
	}
	in.Dir, in.Scratch = box.Dir(), box.Scratch()
	if out, err = e.Programs.Exec(ctx, in, x); err != nil {
		return out, nil, err
	}
	changes, err := box.Changes(ctx)
	return out, changes.Set, err
}

// Look runs a program over a plan's sandbox, which it cannot change.
func (e *Engine) Look(ctx context.Context, p plan.Plan, n policy.Network, x Exec) (ExecOutcome, error) {
	has, err := e.Sandboxes.Has(ctx, p.ID)
	if err != nil {
		return ExecOutcome{}, err
	}
	if !has {
		return ExecOutcome{}, fault.New(fault.NotFound, "plan %s has no sandbox now", p.Name).
			WithHint("agents plan show %s tells how far it is", p.ID)
	}
	box, err := e.Sandboxes.Open(ctx, p.ID, p.Bases)
	if err != nil {
		return ExecOutcome{}, err
	}
	x.ReadOnly = true
	return e.Programs.Exec(ctx, Place{Dir: box.Dir(), At: p.Bases[0].Location, Network: n, Confine: true}, x)
}
