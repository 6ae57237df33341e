package local

import (
	"context"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

// marked does something to a plan and returns the plan as it is then.
func (f *Facade) marked(ctx context.Context, ref string, do func(ident.PlanID) error) (s a2a.PlanSummary, err error) {
	p, err := f.plan(ctx, ref)
	if err != nil {
		return s, err
	}
	if err := do(p.ID); err != nil {
		return s, err
	}
	err = f.view(ctx, func(tx engine.Tx) error {
		if p, err = tx.Plan(p.ID); err != nil {
			return err
		}
		s, err = f.summary(ctx, tx, p)
		return err
	})
	return s, err
}

func (f *Facade) planRename(ctx context.Context, q a2a.PlanRenameRequest, _ func(plan.Event)) (a2a.PlanSummary, error) {
	return f.marked(ctx, q.Ref, func(id ident.PlanID) error { return f.Engine.Rename(ctx, id, q.Name) })
}

func (f *Facade) planLabel(ctx context.Context, q a2a.PlanLabelRequest, _ func(plan.Event)) (a2a.PlanSummary, error) {
	return f.marked(ctx, q.Ref, func(id ident.PlanID) error {
		if len(q.Set)+len(q.Remove) == 0 {
			return nil
		}
		return f.Engine.Label(ctx, id, q.Set, q.Remove)
	})
}

func (f *Facade) planArchive(ctx context.Context, q a2a.PlanArchiveRequest, _ func(plan.Event)) (a2a.PlanSummary, error) {
	return f.marked(ctx, q.Ref, func(id ident.PlanID) error { return f.Engine.Archive(ctx, id, !q.Undo) })
}
