package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/cleveragents/agents/crash"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

// RollbackPreview is what a rollback would do.
type RollbackPreview struct {
	Checkpoint plan.Checkpoint
	Tier       plan.Tier
	Changes    []plan.Change   // of the sandbox, from what it holds to what it will
	Decisions  []plan.Decision // that would be superseded
}

// Tier tells how far a plan can be taken back (spec, Behavior, "Rollback
// Tiers"): what its resources are sandboxed by, and whether it has checkpoints.
func (e *Engine) Tier(p plan.Plan, checkpoints int) plan.Tier {
	some := func(b plan.Base) bool { return b.Backend == "none" }
	recorded := checkpoints > 0 || p.Profile.Safety.RequireCheckpoints
	switch {
	case recorded && !slices.ContainsFunc(p.Bases, some):
		return plan.TierFull
	case !recorded && slices.ContainsFunc(p.Bases, some):
		return plan.TierNone
	}
	return plan.TierPhase
}

// PreviewRollback tells what Rollback would do, after the same checks. It
// changes nothing in the plan.
func (e *Engine) PreviewRollback(ctx context.Context, id ident.PlanID, cp ident.CheckpointID) (out RollbackPreview, err error) {
	r := &run{Engine: e}
	if err := r.load(ctx, id); err != nil {
		return out, err
	}
	out, _, err = r.previewRollback(ctx, cp)
	return out, err
}

func (r *run) previewRollback(ctx context.Context, id ident.CheckpointID) (out RollbackPreview, want plan.ChangeSet, err error) {
	if _, err := plan.Next(r.p.Status, plan.Rollback); err != nil {
		f := fault.As(err)
		if r.p.Phase == plan.PhaseApply && !r.p.Terminal() {
			f = f.WithHint("agents plan apply %s --abort takes the plan back to before Apply", r.p.ID)
		}
		return out, nil, f
	}
	var all int
	err = r.Store.View(ctx, func(tx Tx) error {
		if out.Checkpoint, err = tx.Checkpoint(id); err != nil {
			return err
		}
		list, err := tx.Checkpoints(r.p.ID)
		all = len(list)
		return err
	})
	if err == nil && out.Checkpoint.Plan != r.p.ID {
		err = fault.New(fault.Invalid, "checkpoint %s is of another plan", id).WithHint("agents plan checkpoints %s", r.p.ID)
	}
	if err != nil {
		return out, nil, err
	}
	out.Tier = r.Tier(r.p, all)
	if out.Tier != plan.TierFull {
		return out, nil, fault.New(fault.Conflict, "plan %s can be taken back %s, not to a checkpoint", r.p.Name, out.Tier.Means())
	}
	if want, err = r.ChangesAt(ctx, out.Checkpoint); err != nil {
		return out, nil, err
	}
	if err := r.intact(ctx, out.Checkpoint, want); err != nil {
		return out, nil, err
	}
	box, err := r.sandbox(ctx)
	if err != nil {
		return out, nil, err
	}
	got, err := box.Changes(ctx)
	if err != nil {
		return out, nil, fmt.Errorf("look at the sandbox: %w", err)
	}
	out.Changes = plan.Between(got.Set, want)
	seq := 0
	for _, d := range r.decisions {
		if d.ID == out.Checkpoint.Decision {
			seq = d.Seq
		}
	}
	for _, d := range r.decisions {
		if d.Seq > seq && d.Superseded == "" && d.Phase == plan.PhaseExecute && d.Attempt == r.p.Attempt {
			out.Decisions = append(out.Decisions, d)
		}
	}
	return out, want, nil
}

// ChangesAt reads what a checkpoint holds: the changes from the base.
func (e *Engine) ChangesAt(ctx context.Context, c plan.Checkpoint) (set plan.ChangeSet, err error) {
	b, err := e.Blobs.Get(ctx, c.Changes)
	if err == nil {
		if err = json.Unmarshal(b, &set); err != nil {
			err = fault.New(fault.Corrupt, "%w", err)
		}
	}
	if err != nil {
		return nil, damaged(c, err)
	}
	return set, nil
}

// intact reads every byte that a checkpoint names. Nothing is begun with one
// that is damaged.
func (r *run) intact(ctx context.Context, c plan.Checkpoint, set plan.ChangeSet) error {
	for _, f := range set {
		if f.After.Kind != plan.Regular && f.After.Kind != plan.Symlink {
			continue
		}
		if _, err := r.Blobs.Get(ctx, f.After.Hash); err != nil {
			return damaged(c, fmt.Errorf("%s: %w", f.Path, err))
		}
	}
	return nil
}

// damaged is the error of a checkpoint that cannot be restored.
func damaged(c plan.Checkpoint, cause error) error {
	kind := fault.KindOf(cause)
	if kind == fault.NotFound {
		kind = fault.Corrupt
	}
	return fault.New(kind, "checkpoint %s cannot be restored, and nothing was changed: %w", c.ID, cause).
		WithHint("agents plan checkpoints %s shows the others", c.Plan)
}

// Rollback puts the sandbox of a plan that nobody runs back to a checkpoint. A
// decision of the person's says so; it stands for what was decided since, which
// it supersedes, and has a checkpoint of its own. What the sandbox held is a
// checkpoint, too, so that the rollback can be undone. The plan is paused: when
// it goes on its work is validated anew, and an actor in the middle of its work
// is told.
//
// That all is recorded before the sandbox is touched, with a mark that it is
// being rebuilt: whoever opens it after a crash in between brings it to the
// record.
func (e *Engine) Rollback(ctx context.Context, id ident.PlanID, cp ident.CheckpointID) (out RollbackPreview, safety plan.Checkpoint, err error) {
	if err := e.claim(ctx, id); err != nil {
		return out, safety, err
	}
	defer e.release(context.WithoutCancel(ctx), id)
	r := &run{Engine: e}
	if err := r.load(ctx, id); err != nil {
		return out, safety, err
	}
	if _, err := plan.Next(r.p.Status, plan.Rollback); err == nil { // else the preview says it
		box, err := r.sandbox(ctx)
		if err != nil {
			return out, safety, err
		}
		if err := r.noteHumanEdits(ctx, box); err != nil {
			return out, safety, err
		}
	}
	out, want, err := r.previewRollback(ctx, cp)
	if err != nil {
		return out, safety, err
	}
	held := r.changed // a person's edits are in it now
	d := plan.Decision{
		ID: ident.DecisionID(r.IDs.New()), Plan: r.p.ID, Parent: r.root(), Attempt: r.p.Attempt, Phase: plan.PhaseExecute,
		Type: plan.UserIntervention, Created: r.Now(),
		Question:  "Which state does the work go on from?",
		Chosen:    "checkpoint " + string(cp),
		Rationale: "the sandbox was put back on request",
	}
	if safety, err = r.checkpoint(ctx, d.ID, held); err != nil {
		return out, safety, err
	}
	d.Checkpoint = safety.ID
	var hunks []evidence.Hunk
	for _, c := range out.Changes {
		h, err := r.hunk(ctx, c, nil, d.ID, nil)
		if err != nil {
			return out, safety, err
		}
		hunks = append(hunks, h)
	}
	next := r.p
	if next.Status, err = plan.Next(next.Status, plan.Rollback); err != nil {
		return out, safety, err
	}
	next.Reason, next.Fault, next.Hint, next.WaitUntil = "put back to checkpoint "+short(string(cp)), "", "", nil
	next.Changed, next.Rebuilding = out.Checkpoint.Changes, true
	note := message{ID: r.IDs.New(), At: r.Now(), Text: fmt.Sprintf(
		"The files were put back to how they were at checkpoint %s. What was changed after it is undone; look at a file again before you change it.", short(string(cp)))}
	err = r.move(ctx, next, func(tx Tx) error {
		if err := r.insertDecision(tx, &d, nil); err != nil {
			return err
		}
		if err := tx.InsertCheckpoint(safety); err != nil {
			return err
		}
		for _, old := range out.Decisions {
			old.Superseded = d.ID
			if err := tx.UpdateDecision(old); err != nil {
				return err
			}
		}
		for i := range hunks {
			if err := tx.InsertHunk(&hunks[i]); err != nil {
				return err
			}
		}
		if next.ActorEnd || !modelAhead(next) {
			return nil
		}
		waiting, err := messages(tx, id)
		if err != nil {
			return err
		}
		return putMessages(tx, id, append(waiting, note))
	}, r.decisionEvent(&d), r.event(id, "plan.rollback", fields{"checkpoint": cp, "files": len(out.Changes), "superseded": len(out.Decisions), "before": safety.ID}))
	if err != nil {
		return out, safety, err
	}
	crash.Point("engine.rollback.recorded")
	if err := r.box.Restore(ctx, want); err != nil {
		return out, safety, fmt.Errorf("restore the sandbox: %w", err)
	}
	crash.Point("engine.rollback.restored")
	next = r.p
	next.Rebuilding = false
	return out, safety, r.commit(ctx, next, nil)
}

// ForgetCheckpoints forgets the checkpoints of plans that have ended before a
// time: nobody can go back to them. The decisions stay. It returns the names of
// the plans.
func (e *Engine) ForgetCheckpoints(ctx context.Context, before time.Time, dryRun bool) (plans []string, checkpoints int, err error) {
	forget := func(tx Tx) error {
		plans, checkpoints = []string{}, 0
		all, err := tx.Plans(PlanFilter{})
		if err != nil {
			return err
		}
		for _, p := range all {
			if !p.Terminal() || p.Updated.After(before) {
				continue
			}
			list, err := tx.Checkpoints(p.ID)
			if err != nil {
				return err
			}
			if len(list) == 0 {
				continue
			}
			plans, checkpoints = append(plans, p.Name), checkpoints+len(list)
			if dryRun {
				continue
			}
			if err := tx.DeleteCheckpoints(p.ID); err != nil {
				return err
			}
		}
		return nil
	}
	if dryRun {
		err = e.Store.View(ctx, forget)
	} else {
		err = e.Store.Update(ctx, forget)
	}
	return plans, checkpoints, err
}
