package local

import (
	"context"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

func (f *Facade) approvalHandlers() []a2a.Handler {
	return []a2a.Handler{
		a2a.Handle(a2a.ApprovalList(), f.approvalList),
		a2a.Handle(a2a.ApprovalShow(), f.approvalShow),
		a2a.Handle(a2a.ApprovalApprove(), f.approvalApprove),
		a2a.Handle(a2a.ApprovalReject(), f.approvalReject),
		a2a.Handle(a2a.ApprovalAnswer(), f.approvalAnswer),
	}
}

func (f *Facade) approvalList(ctx context.Context, q a2a.ApprovalListQuery, _ func(plan.Event)) (a2a.ApprovalsView, error) {
	out := a2a.ApprovalsView{Approvals: []plan.Approval{}}
	err := f.view(ctx, func(tx engine.Tx) error {
		var id ident.PlanID
		if q.Plan != "" {
			p, err := f.planIn(tx, q.Plan)
			if err != nil {
				return err
			}
			id = p.ID
		}
		all, err := tx.Approvals(id, !q.All)
		out.Approvals = append(out.Approvals, all...)
		if waiting := open(all); len(waiting) > 0 {
			out.Next = engine.AnswerCommand(waiting[0])
		}
		return err
	})
	return out, err
}

func (f *Facade) approval(ctx context.Context, ref string) (a plan.Approval, err error) {
	err = f.view(ctx, func(tx engine.Tx) error {
		if ref == lastRef {
			all, err := tx.Approvals("", true)
			if err != nil {
				return err
			}
			if len(all) == 0 {
				return fault.New(fault.NotFound, "nothing waits for a person")
			}
			a = all[len(all)-1]
			return nil
		}
		id, err := find(tx, "approval", ref)
		if err != nil {
			return err
		}
		a, err = tx.Approval(ident.ApprovalID(id))
		return err
	})
	return a, err
}

func (f *Facade) approvalShow(ctx context.Context, q a2a.RefQuery, _ func(plan.Event)) (a2a.ApprovalView, error) {
	a, err := f.approval(ctx, q.Ref)
	if err != nil {
		return a2a.ApprovalView{}, err
	}
	v := a2a.ApprovalView{Approval: a, Next: engine.AnswerCommand(a)}
	if a.State != plan.Open {
		v.Next = "agents plan resume " + string(a.Plan)
	}
	if a.Kind == plan.ApproveGate || a.Kind == plan.ApproveFix || a.Kind == plan.ApproveNode {
		p, err := f.plan(ctx, string(a.Plan))
		if err != nil {
			return v, err
		}
		d, err := f.diff(ctx, p, nil)
		if err != nil {
			return v, err
		}
		v.Diff = &d
	}
	if a.Kind == plan.ApproveExec {
		v.Diff, err = f.execDiff(ctx, a)
	}
	return v, err
}

// execDiff is what an approval of executable configuration is bound to, nil when
// that is no longer what would be applied.
func (f *Facade) execDiff(ctx context.Context, a plan.Approval) (*a2a.DiffView, error) {
	p, err := f.plan(ctx, string(a.Plan))
	if err != nil {
		return nil, err
	}
	var only []string
	if p.Order != nil {
		only = p.Order.Only
	}
	set, err := f.Engine.ToApply(ctx, p.ID, only)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	exec, bound, err := f.Engine.Executable(ctx, set)
	if err != nil || bound != a.Bound {
		return nil, err
	}
	var apart plan.ChangeSet
	for _, e := range exec {
		apart = append(apart, e.Change)
	}
	d, err := f.diff(ctx, p, nil)
	if err != nil {
		return nil, err
	}
	d, err = f.show(ctx, d, apart)
	return &d, err
}

func (f *Facade) approvalApprove(ctx context.Context, q a2a.ApproveRequest, _ func(plan.Event)) (a2a.ApprovalsView, error) {
	out := a2a.ApprovalsView{Approvals: []plan.Approval{}}
	var found []plan.Approval
	for _, ref := range q.Refs { // all of them are there, or none is decided
		a, err := f.approval(ctx, ref)
		if err != nil {
			return out, err
		}
		if err := engine.OnlyAnswered(a); err != nil {
			return out, err
		}
		found = append(found, a)
	}
	for _, a := range found {
		done, err := f.Engine.Decide(ctx, a.ID, true, q.Note)
		if err != nil {
			return out, err
		}
		out.Approvals = append(out.Approvals, done)
		out.Next = "agents plan resume " + string(done.Plan)
	}
	return out, nil
}

func (f *Facade) approvalReject(ctx context.Context, q a2a.RejectRequest, _ func(plan.Event)) (a2a.ApprovalView, error) {
	a, err := f.approval(ctx, q.Ref)
	if err != nil {
		return a2a.ApprovalView{}, err
	}
	done, err := f.Engine.Decide(ctx, a.ID, false, q.Guidance)
	return a2a.ApprovalView{Approval: done, Next: "agents plan resume " + string(a.Plan)}, err
}

func (f *Facade) approvalAnswer(ctx context.Context, q a2a.AnswerRequest, _ func(plan.Event)) (a2a.ApprovalView, error) {
	a, err := f.approval(ctx, q.Ref)
	if err != nil {
		return a2a.ApprovalView{}, err
	}
	done, err := f.Engine.Answer(ctx, a.ID, q.Choose, q.Text)
	return a2a.ApprovalView{Approval: done, Next: "agents plan resume " + string(a.Plan)}, err
}
