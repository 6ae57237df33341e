package local

import (
	"context"
	"strings"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

// lastRef stands for the newest thing of its kind.
const lastRef = "@last"

// find resolves what a person typed for an id of that table: the whole id or a
// unique end of it.
func find(tx engine.Tx, table, ref string) (string, error) {
	s, whole, err := ident.ParseRef(ref)
	if err != nil {
		return "", err
	}
	if whole {
		return s, nil
	}
	ids, err := tx.FindIDs(table, s, 5)
	switch {
	case err != nil:
		return "", err
	case len(ids) == 0:
		return "", fault.New(fault.NotFound, "no %s whose id ends with %s", table, s)
	case len(ids) > 1:
		return "", fault.New(fault.Invalid, "%s stands for more than one %s: %s", ref, table, strings.Join(ids, ", ")).
			With("candidates", ids)
	}
	return ids[0], nil
}

// lastPlan is the plan that was touched last in the project that counts here; in
// any project when none does. One that is archived does not count.
func (f *Facade) lastPlan(tx engine.Tx) (plan.Plan, error) {
	project, err := f.projectHere(tx)
	if err != nil {
		return plan.Plan{}, err
	}
	all, err := tx.Plans(engine.PlanFilter{Project: project, Without: engine.MarkArchived, Touched: true, Limit: 1})
	if err != nil {
		return plan.Plan{}, err
	}
	switch {
	case len(all) == 1:
		return all[0], nil
	case project != "":
		return plan.Plan{}, fault.New(fault.NotFound, "project %s has no plan yet", project).
			WithHint("agents plan use ACTION; the plans of all projects: agents plan list")
	}
	return plan.Plan{}, fault.New(fault.NotFound, "there is no plan yet").WithHint("agents plan use ACTION -p DIR")
}

// plan resolves a plan by id, end of id, name or @last.
func (f *Facade) plan(ctx context.Context, ref string) (p plan.Plan, err error) {
	err = f.view(ctx, func(tx engine.Tx) error {
		p, err = f.planIn(tx, ref)
		return err
	})
	return p, err
}

func (f *Facade) planIn(tx engine.Tx, ref string) (plan.Plan, error) {
	if ref == "" || ref == lastRef {
		return f.lastPlan(tx)
	}
	id, err := find(tx, "plan", ref)
	if err == nil {
		return tx.Plan(ident.PlanID(id))
	}
	name, bad := ident.Canonical(ref)
	if bad != nil {
		return plan.Plan{}, err
	}
	all, nerr := tx.Plans(engine.PlanFilter{Name: name, Limit: 2})
	switch {
	case nerr != nil:
		return plan.Plan{}, nerr
	case len(all) == 1:
		return all[0], nil
	case len(all) > 1:
		return plan.Plan{}, fault.New(fault.Invalid, "more than one plan is called %s", name).WithHint("use its id")
	}
	return plan.Plan{}, fault.New(fault.NotFound, "no plan %q", ref).WithHint("agents plan list shows those that exist")
}
