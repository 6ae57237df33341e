package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cleveragents/agents/crash"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

// stepApply brings the changes into the real resources, all that were ordered
// or none: the target's journal sees to that, and this records what came of it.
// When something there is neither what the plan started from nor what it wants,
// both versions are kept and the plan is constrained.
//
// The journal stays until the plan says that it is applied, so that a process
// that dies between the two is caught up with by the next one.
func (r *run) stepApply(ctx context.Context) (bool, error) {
	at, err := r.Target.Stage(ctx, r.p.ID)
	if err != nil {
		return false, err
	}
	if at == StageReverted {
		return true, r.withdrawn(ctx, Landing{})
	}
	if at == StageNone { // from here on it goes on to its end
		hash, err := r.gatedHash(ctx)
		if err == nil {
			err = r.ungated(hash)
		}
		if err != nil {
			return false, err
		}
		_, bound, err := r.execAsked(ctx)
		if err != nil {
			return false, err
		}
		if ok, err := r.execApproved(ctx, bound); !ok || err != nil {
			return false, errors.Join(err, r.retreat(ctx, ""))
		}
	}
	a, set, err := r.application(ctx)
	if err != nil {
		return false, err
	}
	for _, b := range r.p.Bases {
		if i := slices.IndexFunc(set, func(c plan.Change) bool { return c.Resource == b.Resource }); b.ReadOnly && i >= 0 {
			return true, r.fail(ctx, fault.Denied, "%s is linked read-only, and the plan changes %s", b.Location, set[i].Path)
		}
	}
	landing, err := r.applyWhenFree(ctx, a)
	if fault.Is(err, fault.Conflict) {
		return true, r.collide(ctx, set, err)
	}
	if err != nil {
		return false, fmt.Errorf("apply: %w", err)
	}
	for _, c := range set {
		r.tell(r.event(r.p.ID, "apply.file", fields{"path": c.Path, "status": changeWord(c)}))
	}
	return true, r.landed(ctx, set, landing)
}

// gatedHash is of the changes that the required validations must have passed
// for: a part of them when only a part is applied.
func (r *run) gatedHash(ctx context.Context) (string, error) {
	if len(r.order().Only) == 0 {
		return r.changed.Hash(), nil
	}
	set, err := r.ordered(ctx)
	return set.Hash(), err
}

// An apply takes milliseconds, so one that finds another at work waits a
// little before it gives up.
const (
	busyTries = 60
	busyWait  = 50 * time.Millisecond
)

func (r *run) applyWhenFree(ctx context.Context, a Application) (l Landing, err error) {
	for range busyTries {
		l, err = r.Target.Apply(ctx, a)
		if !fault.Is(err, fault.Busy) {
			return l, err
		}
		if serr := r.sleep(ctx, busyWait); serr != nil {
			return l, serr
		}
	}
	return l, err
}

// application is what the plan's order asks for, with the changes that it is
// about.
func (r *run) application(ctx context.Context) (Application, plan.ChangeSet, error) {
	set, err := r.ordered(ctx)
	if err != nil {
		return Application{}, nil, err
	}
	a := Application{Plan: r.p.ID}
	for _, b := range r.p.Bases {
		p := Part{Location: b.Location, Changes: plan.ChangeSet{}}
		for _, c := range set {
			if c.Resource == b.Resource {
				p.Changes = append(p.Changes, c)
			}
		}
		a.Parts = append(a.Parts, p)
	}
	if o := r.order(); len(set) > 0 && (o.As == plan.AsCommit || o.As == plan.AsBranch) {
		a.Commit = &Commit{Branch: o.Branch, Message: o.Message, When: o.When}
		if a.Commit.Message == "" {
			a.Commit.Message = r.commitMessage(set)
		}
		if a.Parts, err = oneRepository(a.Parts); err != nil {
			return a, nil, err
		}
	}
	return a, set, nil
}

// oneRepository leaves the part that has changes: a commit is of one repository.
func oneRepository(parts []Part) ([]Part, error) {
	var out []Part
	for _, p := range parts {
		if len(p.Changes) > 0 {
			out = append(out, p)
		}
	}
	if len(out) > 1 {
		return nil, fault.New(fault.Invalid, "the plan changes %d resources, and a commit is of one", len(out)).
			WithHint("apply them one by one with --only, or --as files")
	}
	if len(out) == 0 {
		return parts[:min(1, len(parts))], nil
	}
	return out, nil
}

// commitMessage is what a commit says that nobody gave words for.
func (r *run) commitMessage(set plan.ChangeSet) string {
	title := strings.TrimSpace(r.p.Prompt)
	if line, _, ok := strings.Cut(title, "\n"); ok {
		title = line
	}
	if title == "" {
		title = r.p.Name
	}
	if runes := []rune(title); len(runes) > 72 {
		title = string(runes[:71]) + "…"
	}
	return fmt.Sprintf("%s\n\nPlan %s, %d changed.\n", title, r.p.ID, len(set))
}

// landed records what was applied, and ends the plan unless a part of its
// changes is left.
func (r *run) landed(ctx context.Context, set plan.ChangeSet, l Landing) error {
	crash.Point("engine.apply.written")
	kept, err := r.putChanges(ctx, set)
	if err != nil {
		return err
	}
	o := r.order()
	next := r.p
	next.Landed = append(slices.Clone(next.Landed), plan.Landed{
		At: r.Now(), As: o.As, Changes: kept, Files: l.Files, Left: l.Left, Commit: l.Commit, Ref: l.Ref, Notes: l.Notes,
	})
	next.Order = nil
	whole := r.p
	r.p = next
	rest, err := r.rest(ctx)
	r.p = whole
	if err != nil {
		return err
	}
	on, reason := plan.Arrive, ""
	if len(l.Left) > 0 {
		reason = "applied, but for what you have changed meanwhile: " + strings.Join(l.Left, ", ")
	}
	if len(rest) > 0 {
		on, reason = plan.Retreat, fmt.Sprintf("applied in part: %d of %d changed files stay in the plan", len(rest), len(set)+len(rest))
	}
	if next.Status, err = plan.Next(next.Status, on); err != nil {
		return err
	}
	next.Reason, next.Fault = reason, ""
	data := fields{"files": l.Files, "as": o.As, "rest": len(rest)}
	if l.Commit != "" {
		data["commit"], data["ref"] = l.Commit, l.Ref
	}
	if len(l.Left) > 0 {
		data["left"] = l.Left
	}
	ev := r.event(r.p.ID, "apply.landed", data)
	err = r.move(ctx, next, func(tx Tx) error {
		if on == plan.Arrive {
			return lapse(tx, r.p.ID, r.Now())
		}
		return nil
	}, ev)
	if err != nil {
		return err
	}
	crash.Point("engine.apply.recorded")
	if err := r.Clear(ctx, r.p); err != nil {
		r.Log.Warn("clear up after an apply", "plan", r.p.ID, "err", err)
	}
	return nil
}

// Clear removes what only an apply under way needs: the journal of one that is
// recorded, and the sandbox of a plan that is applied. Doing it again is no
// error.
func (e *Engine) Clear(ctx context.Context, p plan.Plan) error {
	err := e.Target.Forget(ctx, p.ID)
	if p.State == plan.Applied {
		err = errors.Join(err, e.Sandboxes.Remove(ctx, p.ID))
	}
	return err
}

// collide keeps the plan's version of every target that moved beside the plan's
// data (the person's version stays where it is) and stops Apply.
func (r *run) collide(ctx context.Context, set plan.ChangeSet, cause error) error {
	f := fault.As(cause)
	paths, _ := f.Details["paths"].([]string)
	var lines []string
	compare := ""
	for _, p := range paths {
		i := slices.IndexFunc(set, func(c plan.Change) bool { return c.Path == p })
		if i < 0 {
			lines = append(lines, p)
			continue
		}
		where := "the plan deletes it"
		if after := set[i].After; after.Kind != plan.Absent {
			kept, err := r.Target.Keep(ctx, r.p.ID, "plan", p, after)
			if err != nil {
				return fmt.Errorf("keep the plan's version of %s: %w", p, err)
			}
			where = "the plan's version is in " + kept
			if yours := r.target(set[i]); compare == "" && yours != "" {
				compare = "; to see both: diff -u " + shellWord(yours) + " " + shellWord(kept)
			}
		}
		lines = append(lines, p+" ("+where+")")
	}
	next := r.p
	to, err := plan.Next(next.Status, plan.Collide)
	if err != nil {
		return err
	}
	next.Status, next.Fault = to, fault.Conflict.String()
	switch {
	case f.Code == ApplyStopped:
		next.Reason = "changed while it was being applied: " + strings.Join(lines, "; ") + "; it stopped there, your version stays" + compare
	case len(lines) == 0 || f.Code == "SameName":
		next.Reason = f.Msg + "; nothing was written"
	default:
		next.Reason = "changed in " + r.locations() + " since the plan began: " + strings.Join(lines, "; ") + "; your version is where it was, and nothing was written" + compare
	}
	return r.move(ctx, next, nil)
}

// target is where a change goes in the file system.
func (r *run) target(c plan.Change) string {
	for _, b := range r.p.Bases {
		if b.Resource == c.Resource {
			return b.Location + "/" + c.Path
		}
	}
	return ""
}

// shellWord is a path as one word of a shell.
func shellWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func (r *run) locations() string {
	var out []string
	for _, b := range r.p.Bases {
		out = append(out, b.Location)
	}
	return strings.Join(out, ", ")
}

// retreat brings a plan whose Apply has written nothing back before it.
func (r *run) retreat(ctx context.Context, reason string) error {
	next := r.p
	to, err := plan.Next(next.Status, plan.Retreat)
	if err != nil {
		return err
	}
	next.Status, next.Reason, next.Fault = to, reason, ""
	return r.move(ctx, next, nil)
}

// withdrawn records that what was applied has been put back.
func (r *run) withdrawn(ctx context.Context, l Landing) error {
	r.p.Order = nil
	reason := "taken back: your files are as they were before"
	if len(l.Left) > 0 {
		reason += ", but for what you have changed meanwhile: " + strings.Join(l.Left, ", ")
	}
	if err := r.retreat(ctx, reason); err != nil {
		return err
	}
	return r.Target.Forget(ctx, r.p.ID)
}

// takeBack undoes an Apply that was cut short and is given up. What somebody
// changed meanwhile is left alone.
func (r *run) takeBack(ctx context.Context) error {
	if r.p.Phase != plan.PhaseApply {
		return nil
	}
	_, err := r.Target.Settle(ctx, r.p.ID, true)
	if err == nil {
		err = r.Target.Forget(ctx, r.p.ID)
	}
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("take back what was applied: %w", err)
	}
	return nil
}
