package engine

import (
	"context"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

// ApplyLook is what applying a plan would do, and what would stop it first.
type ApplyLook struct {
	Set   plan.ChangeSet // what would be applied
	Rest  int            // changes that would stay in the plan
	Exec  []ExecChange   // what of it runs by itself
	Bound string         // the hash that their approval is bound to
	Stop  error          // what would stop it, nil for nothing
}

// LookApply tells what Apply would do with that order, and changes nothing.
func (e *Engine) LookApply(ctx context.Context, id ident.PlanID, in ApplyInput) (ApplyLook, error) {
	var out ApplyLook
	r := &run{Engine: e}
	if err := r.load(ctx, id); err != nil {
		return out, err
	}
	if r.p.Phase != plan.PhaseApply && (r.p.Phase != plan.PhaseExecute || r.p.State == plan.Running) || r.p.Terminal() {
		return out, fault.New(fault.Conflict, "plan %s is %s; there is nothing to apply", id, r.p.Status).WithCode("IllegalTransition")
	}
	o := in.ApplyOrder
	r.p.Order = &o
	rest, err := r.rest(ctx)
	if err != nil {
		return out, err
	}
	a, set, err := r.application(ctx)
	if err != nil {
		return out, err
	}
	a.Dry = true
	out.Set, out.Rest = set, len(rest)-len(set)
	if out.Exec, out.Bound, err = r.execAsked(ctx); err != nil {
		return out, err
	}
	approved, err := r.execApproved(ctx, out.Bound)
	if err != nil {
		return out, err
	}
	if out.Stop = r.ungated(r.changed.Hash()); out.Stop != nil {
		return out, nil
	}
	for _, b := range r.p.Bases {
		for _, c := range set {
			if b.ReadOnly && c.Resource == b.Resource {
				out.Stop = fault.New(fault.Denied, "%s is linked read-only, and the plan changes %s", b.Location, c.Path)
				return out, nil
			}
		}
	}
	if _, out.Stop = e.Target.Apply(ctx, a); out.Stop == nil && !approved && in.Executable != out.Bound {
		out.Stop = fault.New(fault.Waiting, "%s", execSummary(out.Exec))
	}
	return out, nil
}

// ToApply is the changes of a plan that are not applied yet, at or below the
// paths (none for all).
func (e *Engine) ToApply(ctx context.Context, id ident.PlanID, paths []string) (plan.ChangeSet, error) {
	r := &run{Engine: e}
	if err := r.load(ctx, id); err != nil {
		return nil, err
	}
	rest, err := r.rest(ctx)
	if err != nil {
		return nil, err
	}
	return only(rest, paths, id)
}
