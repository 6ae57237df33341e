package engine

import (
	"context"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

// ApplyInput is how a person wants a plan applied. Executable is the hash of
// the executable configuration that they were shown and agreed to.
type ApplyInput struct {
	plan.ApplyOrder
	Executable string
}

// Apply is Run with the order to apply, in a way that a person chose. An order
// that was cut short goes on as it was given.
func (e *Engine) Apply(ctx context.Context, id ident.PlanID, in ApplyInput, emit Emit) error {
	return e.carryOn(ctx, id, plan.PhaseApply, plan.Resume, &in, emit)
}

// EndApply ends an Apply that was cut short or stopped at a person's edit: it
// writes the rest, or with back takes back what was written. Either way the
// person's edits stay.
func (e *Engine) EndApply(ctx context.Context, id ident.PlanID, back bool, emit Emit) error {
	if err := e.claim(ctx, id); err != nil {
		return err
	}
	defer e.release(context.WithoutCancel(ctx), id)
	r := &run{Engine: e, emit: emit}
	if err := r.load(ctx, id); err != nil {
		return err
	}
	if r.p.Phase != plan.PhaseApply || r.p.Terminal() {
		return fault.New(fault.Conflict, "plan %s is %s: no apply of it was cut short", id, r.p.Status)
	}
	l, err := r.Target.Settle(ctx, id, back)
	nothing := fault.Is(err, fault.NotFound)
	switch {
	case nothing && !back:
		return fault.New(fault.Conflict, "%w", err).WithHint("agents plan apply %s", id)
	case err != nil && !nothing:
		return err
	case back:
		return r.withdrawn(ctx, l)
	}
	if r.p.State != plan.Running {
		next := r.p
		if next.Status, err = plan.Next(next.Status, plan.Resume); err != nil {
			return err
		}
		next.Reason, next.Fault = "", ""
		if err := r.move(ctx, next, nil); err != nil {
			return err
		}
	}
	set, err := r.ordered(ctx)
	if err != nil {
		return err
	}
	return r.landed(ctx, set, l)
}

// order is how the plan is to be applied.
func (r *run) order() plan.ApplyOrder {
	if r.p.Order == nil {
		return plan.ApplyOrder{As: plan.AsFiles}
	}
	return *r.p.Order
}

// giveOrder stores how a person wants the plan applied. One that is under way
// is not changed.
func (r *run) giveOrder(ctx context.Context, next *plan.Plan, in *ApplyInput) error {
	at, err := r.Target.Stage(ctx, r.p.ID)
	if err != nil {
		return err
	}
	if at == StageHalf || at == StageApplied {
		return nil
	}
	o := in.ApplyOrder
	if o.As == "" {
		o.As = plan.AsFiles
	}
	o.When = r.Now()
	next.Order, next.OrderedExec = &o, in.Executable
	whole := r.p
	r.p = *next
	defer func() { r.p = whole }()
	_, err = r.ordered(ctx)
	return err
}

// rest is the changes that are not applied yet: from what was applied, or from
// the base, to what the plan wants.
func (r *run) rest(ctx context.Context) (plan.ChangeSet, error) {
	if len(r.p.Landed) == 0 {
		return r.changed, nil
	}
	there, err := r.standing(ctx, nil)
	if err != nil {
		return nil, err
	}
	out := plan.ChangeSet{}
	for _, c := range r.changed {
		k := spot{c.Resource, c.Path}
		if was, ok := there[k]; ok {
			c.Before = was.After
			delete(there, k)
		}
		if !c.Before.Same(c.After) {
			out = append(out, c)
		}
	}
	for c := range maps.Values(there) { // the plan does not want these any more
		c.Before, c.After = c.After, c.Before
		if !c.Before.Same(c.After) {
			out = append(out, c)
		}
	}
	out.Sort()
	return out, nil
}

// spot is a path of a resource.
type spot struct {
	res  ident.ResourceID
	path string
}

// standing is what differs from the base in the resources, once a set has been
// applied on top of what was.
func (r *run) standing(ctx context.Context, set plan.ChangeSet) (map[spot]plan.Change, error) {
	there := map[spot]plan.Change{}
	add := func(set plan.ChangeSet) {
		for _, c := range set {
			k := spot{c.Resource, c.Path}
			if was, ok := there[k]; ok {
				c.Before = was.Before
			}
			there[k] = c
		}
	}
	for _, l := range r.p.Landed {
		set, err := r.changeSet(ctx, l.Changes)
		if err != nil {
			return nil, err
		}
		add(set)
	}
	add(set)
	return there, nil
}

func (r *run) changeSet(ctx context.Context, blob string) (set plan.ChangeSet, err error) {
	if blob == "" {
		return nil, nil
	}
	b, err := r.blob(ctx, blob)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, &set); err != nil {
		return nil, fault.New(fault.Corrupt, "change set %s: %w", blob, err)
	}
	return set, nil
}

// ordered is the part of the rest that the order is about.
func (r *run) ordered(ctx context.Context) (plan.ChangeSet, error) {
	rest, err := r.rest(ctx)
	if err != nil {
		return nil, err
	}
	return only(rest, r.order().Only, r.p.ID)
}

// only narrows changes to those at or below the paths, with those that they
// cannot be made without: a file gives way to a directory of its name, and the
// other way round.
func only(all plan.ChangeSet, paths []string, id ident.PlanID) (plan.ChangeSet, error) {
	if len(paths) == 0 {
		return all, nil
	}
	in := map[int]bool{}
	for _, p := range paths {
		p = path.Clean(strings.TrimSuffix(p, "/"))
		found := false
		for i, c := range all {
			if p == "." || c.Path == p || strings.HasPrefix(c.Path, p+"/") {
				in[i], found = true, true
			}
		}
		if !found {
			return nil, fault.New(fault.NotFound, "plan %s changes nothing at %s that is not applied yet", id, p).
				WithHint("agents plan diff %s --name-only", id)
		}
	}
	for grew := true; grew; {
		grew = false
		for i, c := range all {
			if in[i] {
				continue
			}
			for k := range in {
				d := all[k]
				if d.Resource == c.Resource && (d.Before.Kind == plan.Other && strings.HasPrefix(c.Path, d.Path+"/") ||
					c.After.Kind == plan.Absent && strings.HasPrefix(d.Path, c.Path+"/")) {
					in[i], grew = true, true
				}
			}
		}
	}
	var out plan.ChangeSet
	for _, i := range slices.Sorted(maps.Keys(in)) {
		out = append(out, all[i])
	}
	return out, nil
}
