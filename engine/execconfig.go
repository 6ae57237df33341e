package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/policy"
)

// ExecChange is a change of something that runs by itself later, with what runs
// it.
type ExecChange struct {
	plan.Change
	Why string
}

// Executable finds the changes of executable configuration and the hash that an
// approval of exactly these is bound to, "" when there are none.
func (e *Engine) Executable(ctx context.Context, set plan.ChangeSet) (out []ExecChange, bound string, err error) {
	return executable(set, func(s plan.FileState) ([]byte, error) { return e.Blobs.Get(ctx, s.Hash) })
}

func executable(set plan.ChangeSet, read func(plan.FileState) ([]byte, error)) (out []ExecChange, bound string, err error) {
	var found plan.ChangeSet
	for _, c := range set {
		why, err := plan.Executable(c, read)
		if err != nil {
			return nil, "", err
		}
		if why != "" {
			out = append(out, ExecChange{c, why})
			found = append(found, c)
		}
	}
	if len(found) == 0 {
		return nil, "", nil
	}
	return out, found.Hash(), nil
}

// execAsked is what has to be approved of what is to be applied, "" for nothing.
// The full-auto profile is the person's word that nothing has to be.
func (r *run) execAsked(ctx context.Context) (all []ExecChange, bound string, err error) {
	if r.p.Profile.Name == policy.FullAuto {
		return nil, "", nil
	}
	set, err := r.ordered(ctx)
	if err != nil {
		return nil, "", err
	}
	return executable(set, func(s plan.FileState) ([]byte, error) { return r.blob(ctx, s.Hash) })
}

// execApproved reports whether a person said yes to exactly that.
func (r *run) execApproved(ctx context.Context, bound string) (bool, error) {
	all, err := r.approvals(ctx)
	return bound == "" || slices.ContainsFunc(all, func(a plan.Approval) bool {
		return a.Kind == plan.ApproveExec && a.Bound == bound && (a.State == plan.Approved || a.State == plan.Used)
	}), err
}

// execGate stands before Apply, behind the gate: it lets executable
// configuration through that a person agreed to, and asks otherwise.
func (r *run) execGate(ctx context.Context) (free bool, err error) {
	all, bound, err := r.execAsked(ctx)
	if err != nil || bound == "" {
		return bound == "", err
	}
	ok, err := r.execApproved(ctx, bound)
	if ok || err != nil {
		return ok, err
	}
	if r.p.OrderedExec == bound {
		return true, r.noteExec(ctx, all, bound)
	}
	a := plan.Approval{Kind: plan.ApproveExec, Subject: string(plan.PhaseApply), Bound: bound, Summary: execSummary(all)}
	return false, r.ask(ctx, a, func(tx Tx) error {
		if r.p.Ordered != plan.PhaseApply {
			return nil
		}
		return r.answerByOrder(tx, string(plan.PhaseApply)) // that question is settled
	})
}

// noteExec records the yes that came with the order to apply.
func (r *run) noteExec(ctx context.Context, all []ExecChange, bound string) error {
	a := plan.Approval{
		Kind: plan.ApproveExec, Subject: string(plan.PhaseApply), Bound: bound, Summary: execSummary(all),
		State: plan.Approved, Decided: r.finished(), Note: "given with the order to apply",
	}
	return r.commit(ctx, r.p, func(tx Tx) error {
		if err := r.lapseSame(tx, a.Kind, a.Subject); err != nil {
			return err
		}
		return tx.InsertApproval(r.newApproval(a))
	})
}

// execShown is how many files a question names.
const execShown = 5

func execSummary(all []ExecChange) string {
	text := "apply what runs by itself: "
	for i, c := range all {
		if i == execShown {
			return text + fmt.Sprintf(" and %d more", len(all)-i)
		}
		if i > 0 {
			text += ", "
		}
		text += c.Path + " (" + c.Why + ")"
	}
	return text
}
