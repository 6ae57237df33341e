package engine

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	udiff "github.com/aymanbagabas/go-udiff"

	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

// observation is everything that changed in the sandbox since the last record,
// ready to be stored in one transaction.
type observation struct {
	hunks       []evidence.Hunk
	gaps        []evidence.Gap
	implicit    *plan.Decision
	checkpoint  *plan.Checkpoint
	set         plan.ChangeSet
	changedBlob string
	events      []plan.Event
	insert      func(Tx, *plan.Decision) error
	seen        bool
}

// observe compares the sandbox with the last record. What changed is tied to
// the tool call (nil: it changed between calls, so a person or somebody else
// did it) and to the open decision; without one an implicit decision is made,
// so that every changed line has a decision (docs/evidence.md).
func (r *run) observe(ctx context.Context, t *evidence.ToolCall, reported []string) (observation, error) {
	box, err := r.sandbox(ctx)
	if err != nil {
		return observation{}, err
	}
	got, err := box.Changes(ctx)
	if err != nil {
		return observation{}, fmt.Errorf("look at the sandbox: %w", err)
	}
	ob := observation{set: got.Set, changedBlob: r.p.Changed, seen: true}
	ob.insert = func(tx Tx, d *plan.Decision) error { return r.insertDecision(tx, d, nil) }
	deltas := plan.Between(r.changed, got.Set)
	r.noteOdd(&ob, t, got)
	if len(deltas) == 0 {
		return ob, nil
	}
	under := ident.DecisionID("") // what a person changes is never the actor's decision
	if t != nil {
		under = r.openDecision()
	}
	if under == "" {
		if err := r.implicitDecision(ctx, &ob, t, deltas); err != nil {
			return observation{}, err
		}
		under = ob.implicit.ID
	} else if ob.changedBlob, err = r.putChanges(ctx, got.Set); err != nil {
		return observation{}, err
	}
	for _, c := range deltas {
		h, err := r.hunk(ctx, c, t, under, reported)
		if err != nil {
			return observation{}, err
		}
		ob.hunks = append(ob.hunks, h)
		if h.Origin == evidence.Untracked {
			ob.gaps = append(ob.gaps, r.gap(evidence.GapUntracked, t, c.Path, "changed while the tool ran, and the tool did not say so"))
		}
		ob.events = append(ob.events, r.event(r.p.ID, "change.recorded", fields{"path": c.Path, "status": changeWord(c), "origin": h.Origin}))
	}
	return ob, nil
}

// implicitDecision opens a decision that nobody recorded, with a checkpoint.
func (r *run) implicitDecision(ctx context.Context, ob *observation, t *evidence.ToolCall, deltas []plan.Change) error {
	d := plan.Decision{
		ID: ident.DecisionID(r.IDs.New()), Plan: r.p.ID, Parent: r.root(), Attempt: r.p.Attempt, Phase: r.p.Phase,
		Type: plan.ImplementationChoice, Implicit: true, Created: r.Now(),
		Question: "What was changed outside a recorded decision?",
		Chosen:   fmt.Sprintf("%d path(s), first %s", len(deltas), deltas[0].Path),
	}
	if t == nil {
		d.Type, d.Rationale = plan.UserIntervention, "the sandbox was changed between tool calls"
	} else {
		d.Rationale, d.Call, d.ToolCall = "made by "+t.Tool+" with no decision open", t.Call, t.ID
		t.Decision = d.ID
	}
	var err error
	if d.Context, err = r.context(ctx, d.Call); err != nil {
		return err
	}
	cp, err := r.checkpoint(ctx, d.ID, ob.set)
	if err != nil {
		return err
	}
	d.Checkpoint = cp.ID
	ob.implicit, ob.checkpoint, ob.changedBlob = &d, &cp, cp.Changes
	ob.events = append(ob.events, r.decisionEvent(&d))
	return nil
}

// noteOdd records special files and changes to ignored paths, which are never
// part of the change set.
func (r *run) noteOdd(ob *observation, t *evidence.ToolCall, got Changes) {
	found := func(kind evidence.GapKind, path, detail string) {
		for _, g := range r.gaps {
			if g.Kind == kind && g.Path == path && g.Detail == detail {
				return // told when it appeared
			}
		}
		g := r.gap(kind, t, path, detail)
		ob.gaps = append(ob.gaps, g)
		ob.events = append(ob.events, r.event(r.p.ID, "gap.found", fields{"kind": g.Kind, "path": g.Path, "detail": g.Detail}))
	}
	for _, path := range got.Special {
		found(evidence.GapOther, path, "neither a file nor a link; it is never followed and never applied")
	}
	if len(got.Ignored) > 0 {
		found(evidence.GapIgnored, got.Ignored[0],
			fmt.Sprintf("%d changed path(s) are ignored by the resource's own rules and are not applied", len(got.Ignored)))
	}
}

func (r *run) gap(kind evidence.GapKind, t *evidence.ToolCall, path, detail string) evidence.Gap {
	g := evidence.Gap{Plan: r.p.ID, Kind: kind, Path: path, Detail: detail, At: r.Now()}
	if t != nil {
		g.ToolCall = t.ID
	}
	return g
}

// hunk is the record of one changed path.
func (r *run) hunk(ctx context.Context, c plan.Change, t *evidence.ToolCall, under ident.DecisionID, reported []string) (evidence.Hunk, error) {
	h := evidence.Hunk{
		ID: ident.HunkID(r.IDs.New()), Plan: r.p.ID, Decision: under, Origin: evidence.Human,
		Resource: c.Resource, Path: c.Path, Before: c.Before, After: c.After, Ranges: []evidence.LineRange{}, Created: r.Now(),
	}
	if t != nil {
		h.ToolCall, h.Call, h.Origin = t.ID, t.Call, evidence.Untracked
		if slices.Contains(reported, c.Path) {
			h.Origin = evidence.Reported
		}
	}
	before, err := r.content(ctx, c.Before)
	if err != nil {
		return evidence.Hunk{}, err
	}
	after, err := r.content(ctx, c.After)
	if err != nil {
		return evidence.Hunk{}, err
	}
	h.Ranges = newLines(before, after)
	return h, nil
}

// content is the bytes of a state; nil for what is not a file.
func (r *run) content(ctx context.Context, f plan.FileState) ([]byte, error) {
	if f.Kind != plan.Regular || f.Size > maxRangeBytes {
		return nil, nil
	}
	return r.blob(ctx, f.Hash)
}

// maxRangeBytes is the largest file whose changed lines are worked out; a
// larger one counts as changed whole.
const maxRangeBytes = 1 << 20

// newLines returns the line intervals of after that are not in before.
func newLines(before, after []byte) []evidence.LineRange {
	out := []evidence.LineRange{}
	if len(after) == 0 || !utf8.Valid(after) || bytes.IndexByte(after, 0) >= 0 {
		return out
	}
	if !utf8.Valid(before) {
		before = nil
	}
	shift := 0
	text := string(after)
	for _, e := range udiff.Lines(string(before), text) {
		if n := len(e.New); n > 0 {
			from := strings.Count(text[:e.Start+shift], "\n")
			lines := strings.Count(e.New, "\n")
			if !strings.HasSuffix(e.New, "\n") {
				lines++
			}
			out = append(out, evidence.LineRange{From: from, To: from + lines})
		}
		shift += len(e.New) - (e.End - e.Start)
	}
	return out
}

func changeWord(c plan.Change) string {
	switch {
	case c.Before.Kind == plan.Absent:
		return "added"
	case c.After.Kind == plan.Absent:
		return "deleted"
	case c.Before.Hash == c.After.Hash && c.Before.Kind == c.After.Kind:
		return "mode"
	}
	return "modified"
}

// store writes the observation.
func (ob observation) store(tx Tx) error {
	if !ob.seen {
		return nil
	}
	if ob.implicit != nil {
		if err := ob.insert(tx, ob.implicit); err != nil {
			return err
		}
		if err := tx.InsertCheckpoint(*ob.checkpoint); err != nil {
			return err
		}
	}
	for i := range ob.hunks {
		if err := tx.InsertHunk(&ob.hunks[i]); err != nil {
			return err
		}
	}
	for i := range ob.gaps {
		if err := tx.InsertGap(&ob.gaps[i]); err != nil {
			return err
		}
	}
	return nil
}

// keep brings the mirror up to what was stored.
func (ob observation) keep(r *run) {
	if ob.seen {
		r.changed = ob.set
		r.gaps = append(r.gaps, ob.gaps...)
	}
}

// noteHumanEdits records what changed in the sandbox since the last tool call.
func (r *run) noteHumanEdits(ctx context.Context, box Sandbox) error {
	ob, err := r.observe(ctx, nil, nil)
	if err != nil || len(ob.hunks) == 0 {
		return err
	}
	next := r.p
	next.Changed = ob.changedBlob
	if err := r.commit(ctx, next, ob.store, ob.events...); err != nil {
		return err
	}
	ob.keep(r)
	return nil
}

// sandboxMoved looks for edits made after the actor was done. They are recorded
// and the work is checked again, so that what is approved and applied is what
// was validated.
func (r *run) sandboxMoved(ctx context.Context) (bool, error) {
	box, err := r.sandbox(ctx)
	if err != nil {
		return false, err
	}
	before := r.changed.Hash()
	if err := r.noteHumanEdits(ctx, box); err != nil {
		return false, err
	}
	if r.changed.Hash() == before {
		return false, nil
	}
	if r.p.State != plan.Complete {
		return true, nil
	}
	return true, r.reopen(ctx)
}

// reopen goes back from a phase that seemed done to checking its work.
func (r *run) reopen(ctx context.Context) (err error) {
	next := r.p
	if next.Status, err = plan.Next(next.Status, plan.Reopen); err != nil {
		return err
	}
	next.Reason, next.ActorEnd = "", true
	return r.move(ctx, next, nil)
}

// restoreAfterCrash puts the sandbox back to the last recorded state, because a
// tool was running when the process died and may have done anything. What it
// left is kept in the blob store and named in a gap.
func (r *run) restoreAfterCrash(ctx context.Context, box Sandbox, t evidence.ToolCall) error {
	g, err := r.putBack(ctx, box, evidence.GapTruncated, "the tool did not come to its end")
	if err != nil || g == nil {
		return err
	}
	g.ToolCall = t.ID
	return r.commitGap(ctx, r.p, g)
}

// restoreAfterCheck does the same when a validation was running.
func (r *run) restoreAfterCheck(ctx context.Context) error {
	box, err := r.sandbox(ctx)
	if err != nil {
		return err
	}
	g, err := r.putBack(ctx, box, evidence.GapTruncated, "a validation did not come to its end")
	if err != nil {
		return err
	}
	next := r.p
	next.Checking = false
	return r.commitGap(ctx, next, g)
}

// putBack makes the sandbox what was last recorded. When it was something else
// that is kept, and the gap, which is not stored yet, says where.
func (r *run) putBack(ctx context.Context, box Sandbox, kind evidence.GapKind, why string) (*evidence.Gap, error) {
	got, err := box.Changes(ctx)
	if err != nil {
		return nil, fmt.Errorf("look at the sandbox: %w", err)
	}
	if got.Set.Hash() == r.changed.Hash() {
		return nil, nil
	}
	kept, err := r.putChanges(ctx, got.Set)
	if err != nil {
		return nil, err
	}
	if err := box.Restore(ctx, r.changed); err != nil {
		return nil, fmt.Errorf("restore the sandbox: %w", err)
	}
	g := r.gap(kind, nil, "", why+"; the sandbox was put back, what it held is in blob "+kept)
	return &g, nil
}

// commitGap stores next with a gap, if there is one.
func (r *run) commitGap(ctx context.Context, next plan.Plan, g *evidence.Gap) error {
	if g == nil {
		return r.commit(ctx, next, nil)
	}
	err := r.commit(ctx, next, func(tx Tx) error { return tx.InsertGap(g) },
		r.event(r.p.ID, "gap.found", fields{"kind": g.Kind, "detail": g.Detail}))
	if err == nil {
		r.gaps = append(r.gaps, *g)
	}
	return err
}
