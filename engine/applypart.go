package engine

import (
	"context"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

// validatePart runs the required validations over a part of the changes: over
// the tree as it will be when only that part is applied. What passed for all
// changes says nothing about some of them. The sandbox holds the part meanwhile
// and is put back before the result is recorded.
func (r *run) validatePart(ctx context.Context, set plan.ChangeSet) error {
	hash := set.Hash()
	if hash == r.changed.Hash() {
		return nil
	}
	for _, v := range r.p.Action.Validations {
		if !required(v) {
			continue
		}
		if res, ok := r.lastResult(v.Name, hash); ok && passes(res.Verdict) {
			continue
		}
		there, err := r.standing(ctx, set)
		if err != nil {
			return err
		}
		part, whole := plan.ChangeSet{}, r.changed
		for _, c := range there {
			if !c.Before.Same(c.After) {
				part = append(part, c)
			}
		}
		part.Sort()
		box, err := r.sandbox(ctx)
		if err != nil {
			return err
		}
		next := r.p
		next.Checking = true // whatever is in the sandbox now is ours
		if err := r.commit(ctx, next, nil); err != nil {
			return err
		}
		if err := box.Restore(ctx, part); err != nil {
			return err
		}
		r.changed = part
		err = r.validateThen(ctx, v, hash, func() error {
			r.changed = whole
			return box.Restore(context.WithoutCancel(ctx), whole)
		})
		r.changed = whole
		if err != nil {
			return err
		}
		if res, ok := r.lastResult(v.Name, hash); !ok || !passes(res.Verdict) {
			return fault.New(fault.ValidationFailed, "required validation %s does not pass for these changes alone: %s", v.Name, res.Message).
				WithHint("agents plan apply %s applies all changes, for which it passed", r.p.ID)
		}
	}
	return nil
}
