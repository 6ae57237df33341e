package local

import (
	"context"
	"fmt"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

func (f *Facade) checkpointHandlers() []a2a.Handler {
	return []a2a.Handler{
		a2a.Handle(a2a.CheckpointList(), f.checkpointList),
		a2a.Handle(a2a.CheckpointShow(), f.checkpointShow),
		a2a.Handle(a2a.CheckpointDiff(), f.checkpointDiff),
		a2a.Handle(a2a.CheckpointGC(), f.checkpointGC),
		a2a.Handle(a2a.PlanRollback(), f.planRollback),
	}
}

func (f *Facade) checkpointList(ctx context.Context, q a2a.CheckpointListQuery, _ func(plan.Event)) (v a2a.CheckpointsView, err error) {
	var p plan.Plan
	var all []plan.Checkpoint
	var ds []plan.Decision
	only := ""
	err = f.view(ctx, func(tx engine.Tx) error {
		if p, err = f.planIn(tx, q.Plan); err != nil {
			return err
		}
		if q.Decision != "" {
			if only, err = find(tx, "decision", q.Decision); err != nil {
				return err
			}
		}
		if v.Plan, err = f.summary(ctx, tx, p); err != nil {
			return err
		}
		if all, err = tx.Checkpoints(p.ID); err != nil {
			return err
		}
		ds, err = tx.Decisions(p.ID)
		return err
	})
	if err != nil {
		return v, err
	}
	v.Tier = f.Engine.Tier(p, len(all))
	v.Checkpoints = []a2a.CheckpointView{}
	for _, c := range all {
		if only != "" && string(c.Decision) != only {
			continue
		}
		// One that cannot be read is listed nevertheless: rollback says what is wrong.
		set, _ := f.Engine.ChangesAt(ctx, c)
		v.Checkpoints = append(v.Checkpoints, checkpointView(c, ds, set))
	}
	if n := len(v.Checkpoints); n > 0 && !p.Terminal() {
		v.Next = []string{fmt.Sprintf("agents plan rollback %s --checkpoint %s --dry-run", p.ID, v.Checkpoints[n-1].ID)}
	}
	return v, nil
}

// checkpointView is a checkpoint with its decision, and what it holds of each
// resource.
func checkpointView(c plan.Checkpoint, ds []plan.Decision, set plan.ChangeSet) a2a.CheckpointView {
	v := a2a.CheckpointView{ID: c.ID, Plan: c.Plan, Decision: c.Decision, Files: c.Files, Created: c.Created, Resources: []a2a.CheckpointResource{}}
	for _, d := range ds {
		if d.ID == c.Decision {
			v.Question, v.Chosen, v.Superseded = d.Question, d.Chosen, d.Superseded != ""
		}
	}
	of := map[ident.ResourceID]plan.ChangeSet{}
	var order []ident.ResourceID
	for _, ch := range set {
		if of[ch.Resource] == nil {
			order = append(order, ch.Resource)
		}
		of[ch.Resource] = append(of[ch.Resource], ch)
	}
	for _, r := range order {
		v.Resources = append(v.Resources, a2a.CheckpointResource{Resource: r, Files: len(of[r]), Hash: of[r].Hash()})
	}
	return v
}

// checkpoint resolves what a person gave for a checkpoint.
func (f *Facade) checkpoint(ctx context.Context, ref string) (c plan.Checkpoint, ds []plan.Decision, err error) {
	err = f.view(ctx, func(tx engine.Tx) error {
		id, err := find(tx, "checkpoint", ref)
		if err != nil {
			return err
		}
		if c, err = tx.Checkpoint(ident.CheckpointID(id)); err != nil {
			return err
		}
		ds, err = tx.Decisions(c.Plan)
		return err
	})
	return c, ds, err
}

func (f *Facade) checkpointShow(ctx context.Context, q a2a.RefQuery, _ func(plan.Event)) (v a2a.CheckpointDiffView, err error) {
	c, ds, err := f.checkpoint(ctx, q.Ref)
	if err != nil {
		return v, err
	}
	set, err := f.Engine.ChangesAt(ctx, c)
	if err != nil {
		return v, err
	}
	v.Checkpoint, v.To = checkpointView(c, ds, set), "base"
	v.Files, err = f.render(ctx, set)
	return v, err
}

func (f *Facade) checkpointDiff(ctx context.Context, q a2a.CheckpointDiffQuery, _ func(plan.Event)) (v a2a.CheckpointDiffView, err error) {
	c, ds, err := f.checkpoint(ctx, q.From)
	if err != nil {
		return v, err
	}
	from, err := f.Engine.ChangesAt(ctx, c)
	if err != nil {
		return v, err
	}
	v.Checkpoint, v.To = checkpointView(c, ds, from), "now"
	var to plan.ChangeSet
	if q.To != "" {
		other, _, err := f.checkpoint(ctx, q.To)
		if err != nil {
			return v, err
		}
		if other.Plan != c.Plan {
			return v, fault.New(fault.Invalid, "checkpoints %s and %s are of different plans", c.ID, other.ID)
		}
		if to, err = f.Engine.ChangesAt(ctx, other); err != nil {
			return v, err
		}
		v.To = string(other.ID)
	} else {
		p, err := f.plan(ctx, string(c.Plan))
		if err != nil {
			return v, err
		}
		if to, err = f.changes(ctx, p); err != nil {
			return v, err
		}
	}
	v.Files, err = f.render(ctx, plan.Between(from, to))
	return v, err
}

func (f *Facade) checkpointGC(ctx context.Context, r a2a.CheckpointGCRequest, _ func(plan.Event)) (v a2a.CheckpointGCView, err error) {
	if r.OlderThan < 0 {
		return v, fault.New(fault.Invalid, "the age is negative")
	}
	v.DryRun = r.DryRun
	v.Plans, v.Checkpoints, err = f.Engine.ForgetCheckpoints(ctx, f.Engine.Now().Add(-r.OlderThan), r.DryRun)
	return v, err
}

func (f *Facade) planRollback(ctx context.Context, r a2a.RollbackRequest, _ func(plan.Event)) (v a2a.RollbackView, err error) {
	p, err := f.plan(ctx, r.Plan)
	if err != nil {
		return v, err
	}
	c, _, err := f.checkpoint(ctx, r.Checkpoint)
	if err != nil {
		return v, err
	}
	var out engine.RollbackPreview
	if r.DryRun {
		out, err = f.Engine.PreviewRollback(ctx, p.ID, c.ID)
	} else {
		var before plan.Checkpoint
		out, before, err = f.Engine.Rollback(ctx, p.ID, c.ID)
		v.Before = before.ID
	}
	if err != nil {
		return v, err
	}
	v.Checkpoint, v.Tier, v.DryRun, v.Decisions = c.ID, out.Tier, r.DryRun, []a2a.RolledBack{}
	for _, d := range out.Decisions {
		v.Decisions = append(v.Decisions, a2a.RolledBack{ID: d.ID, Question: d.Question, Chosen: d.Chosen})
	}
	files, err := f.render(ctx, out.Changes)
	if err != nil {
		return v, err
	}
	v.Files = stats(a2a.DiffView{Files: files})
	err = f.view(ctx, func(tx engine.Tx) error {
		p, err := tx.Plan(p.ID)
		if err == nil {
			v.Plan, err = f.summary(ctx, tx, p)
		}
		return err
	})
	if r.DryRun {
		v.Next = []string{fmt.Sprintf("agents plan rollback %s --checkpoint %s", p.ID, c.ID)}
	} else {
		v.Next = []string{fmt.Sprintf("agents plan resume %s", p.ID), fmt.Sprintf("agents plan rollback %s --checkpoint %s", p.ID, v.Before)}
	}
	return v, err
}
