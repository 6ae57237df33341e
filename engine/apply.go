package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cleveragents/agents/crash"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

// stepApply writes the change set into the real resources. It first looks at
// every target: when one is neither what the plan started from nor what it
// wants, nothing is written, both versions are kept and the plan is
// constrained. Each file is then written by itself; a step that runs again
// after a crash leaves the ones that are done alone.
//
// It does not promise that a reader never sees some files new and some old:
// that is the journal's work.
func (r *run) stepApply(ctx context.Context) (bool, error) {
	if why := r.ungated(); why != nil {
		return false, why
	}
	for _, b := range r.p.Bases {
		set := r.of(b)
		if b.ReadOnly && len(set) > 0 {
			return true, r.fail(ctx, fault.Denied, "%s is linked read-only, and the plan changes %s", b.Location, set[0].Path)
		}
		moved, err := r.moved(ctx, b, set)
		if err != nil {
			return false, err
		}
		if len(moved) > 0 {
			return true, r.collide(ctx, b, moved)
		}
	}
	for _, b := range r.p.Bases {
		for _, c := range r.of(b) {
			crash.Point("engine.apply.file")
			err := r.Target.Write(ctx, b.Location, c)
			if fault.Is(err, fault.Conflict) || fault.Is(err, fault.Denied) {
				return true, r.collide(ctx, b, []plan.Change{c})
			}
			if err != nil {
				return false, fmt.Errorf("apply: %w", err)
			}
			r.tell(r.event(r.p.ID, "apply.file", fields{"path": c.Path, "status": changeWord(c)}))
		}
	}
	crash.Point("engine.apply.written")
	next := r.p
	to, err := plan.Next(next.Status, plan.Arrive)
	if err != nil {
		return false, err
	}
	next.Status, next.Reason = to, ""
	if err := r.move(ctx, next, func(tx Tx) error { return lapse(tx, r.p.ID, r.Now()) }); err != nil {
		return false, err
	}
	if err := r.Sandboxes.Remove(ctx, r.p.ID); err != nil {
		r.Log.Warn("remove the sandbox of an applied plan", "plan", r.p.ID, "err", err)
	}
	return true, nil
}

// of is the changes that belong to one resource.
func (r *run) of(b plan.Base) plan.ChangeSet {
	var out plan.ChangeSet
	for _, c := range r.changed {
		if c.Resource == b.Resource {
			out = append(out, c)
		}
	}
	return out
}

// moved returns the changes whose target is neither what it was nor what it
// should become. One that is behind a link now is looked at no further.
func (r *run) moved(ctx context.Context, b plan.Base, set plan.ChangeSet) ([]plan.Change, error) {
	if len(set) == 0 {
		return nil, nil
	}
	paths := make([]string, len(set))
	for i, c := range set {
		paths[i] = c.Path
	}
	now, err := r.Target.States(ctx, b.Location, paths)
	if fault.Is(err, fault.Denied) && len(set) > 1 {
		half := len(set) / 2 // find those it is about
		out, err := r.moved(ctx, b, set[:half])
		if err != nil {
			return nil, err
		}
		rest, err := r.moved(ctx, b, set[half:])
		return append(out, rest...), err
	}
	if fault.Is(err, fault.Denied) {
		return set, nil
	}
	if err != nil {
		return nil, fmt.Errorf("apply: %w", err)
	}
	var out []plan.Change
	for _, c := range set {
		if s := now[c.Path]; !s.Same(c.Before) && !s.Same(c.After) {
			out = append(out, c)
		}
	}
	return out, nil
}

// collide keeps the plan's version of every target that moved beside the plan's
// data (the person's version stays where it is) and stops Apply.
func (r *run) collide(ctx context.Context, b plan.Base, moved []plan.Change) error {
	var lines []string
	for _, c := range moved {
		where := "the plan deletes it"
		if c.After.Kind != plan.Absent {
			kept, err := r.Target.Keep(ctx, r.p.ID, "plan", c.Path, c.After)
			if err != nil {
				return fmt.Errorf("keep the plan's version of %s: %w", c.Path, err)
			}
			where = "the plan's version is in " + kept
		}
		lines = append(lines, c.Path+" ("+where+")")
	}
	next := r.p
	to, err := plan.Next(next.Status, plan.Collide)
	if err != nil {
		return err
	}
	next.Status, next.Fault = to, fault.Conflict.String()
	next.Reason = "changed in " + b.Location + " since the plan began: " + strings.Join(lines, "; ") + "; nothing more was written"
	return r.move(ctx, next, nil)
}

// takeBack undoes an Apply that was cut short and is given up: every target
// that has the plan's bytes gets those that it had before. One that is neither
// was changed by somebody else and is left alone.
func (r *run) takeBack(ctx context.Context) error {
	if r.p.Phase != plan.PhaseApply {
		return nil
	}
	for _, b := range r.p.Bases {
		for _, c := range slices.Backward(r.of(b)) {
			c.Before, c.After = c.After, c.Before
			err := r.Target.Write(ctx, b.Location, c)
			if err != nil && !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.Denied) {
				return fmt.Errorf("take back what was applied: %w", err)
			}
		}
	}
	return nil
}
