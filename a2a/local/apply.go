package local

import (
	"context"
	"strings"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

func (f *Facade) planApply(ctx context.Context, q a2a.PlanApplyRequest, emit func(plan.Event)) (a2a.PlanOutcome, error) {
	p, err := f.plan(ctx, q.Ref)
	if err == nil {
		err = applyAsked(q)
	}
	if err != nil {
		return a2a.PlanOutcome{}, err
	}
	in := engine.ApplyInput{
		ApplyOrder: plan.ApplyOrder{As: q.As, Only: q.Only, Branch: q.Branch, Message: q.Message},
		Executable: q.Executable,
	}
	switch {
	case p.State == plan.Applied && q.Abort:
		return a2a.PlanOutcome{}, fault.New(fault.Conflict, "plan %s is applied: there is nothing left to take back", p.ID)
	case p.State == plan.Applied: // a second apply says so and changes nothing
		if err := f.Engine.Clear(ctx, p); err != nil {
			return a2a.PlanOutcome{}, err
		}
		out, err := f.outcome(ctx, p.ID)
		out.Already = true
		return out, err
	case q.DryRun:
		return f.lookApply(ctx, p, in)
	case q.Recover || q.Abort:
		if err := f.Engine.EndApply(ctx, p.ID, q.Abort, emit); err != nil {
			return a2a.PlanOutcome{}, err
		}
		return f.applied(ctx, p)
	}
	if q.Expect != "" {
		set, err := f.changes(ctx, p)
		if err != nil {
			return a2a.PlanOutcome{}, err
		}
		if set.Hash() != q.Expect {
			return a2a.PlanOutcome{}, fault.New(fault.Conflict, "the changes are no longer those that were shown").
				WithHint("look again: agents plan diff %s", p.ID)
		}
	}
	if q.As == plan.AsCommit || q.As == plan.AsBranch {
		// What git would not have is no failure of the plan.
		look, err := f.Engine.LookApply(ctx, p.ID, in)
		if err != nil {
			return a2a.PlanOutcome{}, err
		}
		if e := look.Stop; e != nil && !fault.Is(e, fault.Waiting) && (!fault.Is(e, fault.Conflict) || fault.As(e).Code != "") {
			return a2a.PlanOutcome{}, e
		}
	}
	if err := f.Engine.Apply(ctx, p.ID, in, emit); err != nil {
		return a2a.PlanOutcome{}, err
	}
	return f.applied(ctx, p)
}

// applied is the outcome of an apply of p, as it was before.
func (f *Facade) applied(ctx context.Context, p plan.Plan) (a2a.PlanOutcome, error) {
	out, err := f.outcome(ctx, p.ID)
	if err != nil {
		return out, err
	}
	now, err := f.plan(ctx, string(p.ID))
	out.Partial = len(now.Landed) > len(p.Landed) && out.Plan.State != plan.Applied
	return out, err
}

// applyAsked refuses an order that contradicts itself.
func applyAsked(q a2a.PlanApplyRequest) error {
	switch q.As {
	case "", plan.AsFiles, plan.AsCommit:
		if q.Branch != "" {
			return fault.New(fault.Invalid, "a branch belongs to --as branch:NAME")
		}
	case plan.AsBranch:
		if q.Branch == "" {
			return fault.New(fault.Invalid, "--as branch needs a name").WithHint("--as branch:NAME")
		}
	default:
		return fault.New(fault.Invalid, "a plan cannot be applied as %q", q.As).WithHint("files, commit, branch:NAME or patch:FILE")
	}
	if q.Message != "" && q.As != plan.AsCommit && q.As != plan.AsBranch {
		return fault.New(fault.Invalid, "a message belongs to a commit").WithHint("--as commit or --as branch:NAME")
	}
	if q.Recover && q.Abort {
		return fault.New(fault.Invalid, "give either --recover or --abort")
	}
	if (q.Recover || q.Abort) && (q.DryRun || len(q.Only) > 0 || q.As != "") {
		return fault.New(fault.Invalid, "--recover and --abort end an apply as it was begun, and take no other order")
	}
	return nil
}

// lookApply tells what an apply would do. What would stop it is in the answer
// and decides the exit status.
func (f *Facade) lookApply(ctx context.Context, p plan.Plan, in engine.ApplyInput) (a2a.PlanOutcome, error) {
	look, err := f.Engine.LookApply(ctx, p.ID, in)
	if err != nil {
		return a2a.PlanOutcome{}, err
	}
	out, err := f.outcome(ctx, p.ID)
	if err != nil {
		return out, err
	}
	d, err := f.render(ctx, look.Set)
	if err != nil {
		return out, err
	}
	out.DryRun = &a2a.ApplyLook{Files: stats(a2a.DiffView{Files: d}), Rest: look.Rest}
	if look.Stop != nil {
		e := fault.As(look.Stop)
		v := a2a.FaultView{Kind: e.Kind.String(), Message: e.Msg, Hint: e.Hint}
		if paths, ok := e.Details["paths"].([]string); ok {
			v.Message += ": " + strings.Join(paths, ", ")
		}
		out.DryRun.Stop = &v
	}
	return out, nil
}
