package local

import (
	"context"
	"slices"
	"strings"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

func (f *Facade) planHandlers() []a2a.Handler {
	return []a2a.Handler{
		a2a.Handle(a2a.PlanUse(), f.planUse),
		a2a.Handle(a2a.PlanList(), f.planList),
		a2a.Handle(a2a.PlanShow(), f.planShow),
		a2a.Handle(a2a.PlanStatus(), f.planStatus),
		a2a.Handle(a2a.PlanStrategize(), f.planStrategize),
		a2a.Handle(a2a.PlanExecute(), f.planExecute),
		a2a.Handle(a2a.PlanApply(), f.planApply),
		a2a.Handle(a2a.PlanResume(), f.planResume),
		a2a.Handle(a2a.PlanPause(), f.planPause),
		a2a.Handle(a2a.PlanCancel(), f.planCancel),
		a2a.Handle(a2a.PlanTree(), f.planTree),
		a2a.Handle(a2a.PlanExplain(), f.planExplain),
		a2a.Handle(a2a.PlanDiff(), f.planDiff),
		a2a.Handle(a2a.PlanLogs(), f.planLogs),
		a2a.Handle(a2a.PlanWatch(), f.planWatch),
		a2a.Handle(a2a.PlanWait(), f.planWait),
		a2a.Handle(a2a.PlanExport(), f.planExport),
		a2a.Handle(a2a.PlanImport(), f.planImport),
		a2a.Handle(a2a.PlanPrompt(), f.planPrompt),
		a2a.Handle(a2a.PlanRetry(), f.planRetry),
		a2a.Handle(a2a.PlanRename(), f.planRename),
		a2a.Handle(a2a.PlanLabel(), f.planLabel),
		a2a.Handle(a2a.PlanArchive(), f.planArchive),
	}
}

func (f *Facade) planUse(ctx context.Context, q a2a.PlanUseRequest, emit func(plan.Event)) (a2a.PlanOutcome, error) {
	project, err := f.projectToUse(ctx, q.Project, q.Force)
	if err != nil {
		return a2a.PlanOutcome{}, err
	}
	return f.usePlan(ctx, engine.UseInput{
		Action: q.Action, Project: project, Args: q.Args, Name: q.Name, Profile: q.Profile, Prompt: q.Prompt,
		Invariants: q.Invariants, StrategyActor: q.StrategyActor, ExecutionActor: q.ExecutionActor, NoInput: q.NoInput,
	}, q.Start, emit)
}

// usePlan makes a plan, tells that it is there, and carries it on at once where
// that is wanted.
func (f *Facade) usePlan(ctx context.Context, in engine.UseInput, start bool, emit func(plan.Event)) (a2a.PlanOutcome, error) {
	set, err := f.forPlans(ctx, in.Project)
	if err != nil {
		return a2a.PlanOutcome{}, err
	}
	in.Settings = set
	p, err := f.Engine.Use(ctx, in)
	if err != nil {
		return a2a.PlanOutcome{}, err
	}
	if err := f.tellMade(ctx, p.ID, emit); err != nil {
		return a2a.PlanOutcome{}, err
	}
	if !start {
		return f.outcome(ctx, p.ID)
	}
	return f.carry(ctx, p.ID, "", emit)
}

// tellMade tells that a new plan is there.
func (f *Facade) tellMade(ctx context.Context, id ident.PlanID, emit func(plan.Event)) error {
	var made []plan.Event
	err := f.view(ctx, func(tx engine.Tx) (err error) {
		made, err = tx.Events(id, 0, 0)
		return err
	})
	for _, ev := range made {
		emit(ev)
	}
	return err
}

// carry runs the plan and tells where it got to. When the caller's time ran
// out or it gave up, the outcome comes with that error.
func (f *Facade) carry(ctx context.Context, id ident.PlanID, order plan.Phase, emit func(plan.Event)) (a2a.PlanOutcome, error) {
	if err := f.Engine.Run(ctx, id, order, emit); err != nil {
		return a2a.PlanOutcome{}, err
	}
	return f.outcome(ctx, id)
}

func (f *Facade) ordered(ctx context.Context, ref string, order plan.Phase, emit func(plan.Event)) (a2a.PlanOutcome, error) {
	p, err := f.plan(ctx, ref)
	if err != nil {
		return a2a.PlanOutcome{}, err
	}
	return f.carry(ctx, p.ID, order, emit)
}

func (f *Facade) planStrategize(ctx context.Context, q a2a.RefQuery, emit func(plan.Event)) (a2a.PlanOutcome, error) {
	return f.ordered(ctx, q.Ref, plan.PhaseStrategize, emit)
}

func (f *Facade) planExecute(ctx context.Context, q a2a.RefQuery, emit func(plan.Event)) (a2a.PlanOutcome, error) {
	return f.ordered(ctx, q.Ref, plan.PhaseExecute, emit)
}

func (f *Facade) planResume(ctx context.Context, q a2a.RefQuery, emit func(plan.Event)) (a2a.PlanOutcome, error) {
	p, err := f.plan(ctx, q.Ref)
	if err != nil {
		return a2a.PlanOutcome{}, err
	}
	if p.Terminal() {
		return a2a.PlanOutcome{}, fault.New(fault.Conflict, "plan %s is %s; there is nothing to resume", p.ID, p.Status)
	}
	return f.carry(ctx, p.ID, "", emit)
}

func (f *Facade) planPause(ctx context.Context, q a2a.RefQuery, _ func(plan.Event)) (a2a.PlanOutcome, error) {
	p, err := f.plan(ctx, q.Ref)
	if err != nil {
		return a2a.PlanOutcome{}, err
	}
	if err := f.Engine.Pause(ctx, p.ID); err != nil {
		return a2a.PlanOutcome{}, err
	}
	return f.outcome(ctx, p.ID)
}

func (f *Facade) planCancel(ctx context.Context, q a2a.PlanCancelRequest, _ func(plan.Event)) (a2a.PlanOutcome, error) {
	p, err := f.plan(ctx, q.Ref)
	if err != nil {
		return a2a.PlanOutcome{}, err
	}
	if err := f.Engine.Cancel(ctx, p.ID, q.Reason, q.KeepSandbox); err != nil {
		return a2a.PlanOutcome{}, err
	}
	return f.outcome(ctx, p.ID)
}

func (f *Facade) planStatus(ctx context.Context, q a2a.RefQuery, _ func(plan.Event)) (a2a.PlanOutcome, error) {
	p, err := f.plan(ctx, q.Ref)
	if err != nil {
		return a2a.PlanOutcome{}, err
	}
	return f.outcome(ctx, p.ID)
}

func (f *Facade) planList(ctx context.Context, q a2a.PlanListQuery, _ func(plan.Event)) (a2a.PlansView, error) {
	out := a2a.PlansView{Plans: []a2a.PlanSummary{}}
	if err := known("phase", string(q.Phase), plan.Statuses(func(s plan.Status) string { return string(s.Phase) })); err != nil {
		return out, err
	}
	if err := known("state", string(q.State), plan.Statuses(func(s plan.Status) string { return string(s.State) })); err != nil {
		return out, err
	}
	filter := engine.PlanFilter{Phase: q.Phase, State: q.State, Limit: q.Limit, Marks: map[string]string{}}
	if !q.All {
		filter.Without = engine.MarkArchived
	}
	for key, value := range q.Labels {
		filter.Marks[engine.MarkLabel+key] = value
	}
	if q.Project != "" {
		name, err := f.projectName(ctx, q.Project)
		if err != nil {
			return out, err
		}
		filter.Project = name
	}
	err := f.view(ctx, func(tx engine.Tx) error {
		all, err := tx.Plans(filter)
		if err != nil {
			return err
		}
		for _, p := range all {
			s, err := f.summary(ctx, tx, p)
			if err != nil {
				return err
			}
			out.Plans = append(out.Plans, s)
		}
		return nil
	})
	return out, err
}

// known refuses a word that no plan can have.
func known(what, got string, all []string) error {
	if got == "" || slices.Contains(all, got) {
		return nil
	}
	return fault.New(fault.Invalid, "no plan has the %s %q", what, got).WithHint("one of: %s", strings.Join(all, ", "))
}

func (f *Facade) planShow(ctx context.Context, q a2a.RefQuery, _ func(plan.Event)) (v a2a.PlanView, err error) {
	var p plan.Plan
	err = f.view(ctx, func(tx engine.Tx) error {
		if p, err = f.planIn(tx, q.Ref); err != nil {
			return err
		}
		v.Plan = a2a.DetailOf(p)
		id := p.ID
		s, err := f.summary(ctx, tx, p)
		if err != nil {
			return err
		}
		v.Held, v.Labels, v.Imported = s.Held, s.Labels, s.Imported
		if v.Approvals, err = tx.Approvals(id, false); err != nil {
			return err
		}
		if v.Checkpoints, err = tx.Checkpoints(id); err != nil {
			return err
		}
		if v.Results, err = tx.Results(id); err != nil {
			return err
		}
		ds, err := tx.Decisions(id)
		if err != nil {
			return err
		}
		v.Decisions = len(ds)
		if v.Calls, err = tx.Calls(id); err != nil {
			return err
		}
		if v.ToolCalls, err = tx.ToolCalls(id); err != nil {
			return err
		}
		v.Gaps, err = tx.Gaps(id)
		return err
	})
	if err != nil {
		return v, err
	}
	for _, c := range v.Calls {
		v.Cost += c.Cost
		v.Usage.Input += max(c.Usage.Input, 0)
		v.Usage.Output += max(c.Usage.Output, 0)
		v.Usage.CacheRead += max(c.Usage.CacheRead, 0)
		v.Usage.CacheWrite += max(c.Usage.CacheWrite, 0)
		v.Usage.Reasoning += max(c.Usage.Reasoning, 0)
		if c.Finished != nil && !c.Priced && c.Answered() {
			v.Unpriced++
		}
	}
	if v.Changed, err = f.statsOf(ctx, p, v.Imported); err != nil {
		return v, err
	}
	set, err := f.changes(ctx, p)
	if err != nil && !v.Imported {
		return v, err
	}
	if err == nil {
		v.ChangeSet = set.Hash()
	}
	if !v.Imported {
		v.Next = f.next(ctx, p, open(v.Approvals))
	}
	return v, nil
}

func (f *Facade) planTree(ctx context.Context, q a2a.RefQuery, _ func(plan.Event)) (v a2a.TreeView, err error) {
	err = f.view(ctx, func(tx engine.Tx) error {
		p, err := f.planIn(tx, q.Ref)
		if err != nil {
			return err
		}
		if v.Plan, err = f.summary(ctx, tx, p); err != nil {
			return err
		}
		ds, err := tx.Decisions(p.ID)
		if err != nil {
			return err
		}
		v.Roots = plan.BuildTree(ds)
		v.Influences, err = tx.Influences(p.ID)
		return err
	})
	if v.Roots == nil {
		v.Roots = []*plan.Tree{}
	}
	return v, err
}

func (f *Facade) planExplain(ctx context.Context, q a2a.RefQuery, _ func(plan.Event)) (v a2a.ExplainView, err error) {
	v = a2a.ExplainView{Upstream: []plan.Decision{}, Downstream: []plan.Decision{}, Hunks: []evidence.Hunk{}}
	err = f.view(ctx, func(tx engine.Tx) error {
		if v.Decision, err = f.decisionIn(tx, q.Ref); err != nil {
			return err
		}
		p, err := tx.Plan(v.Decision.Plan)
		if err != nil {
			return err
		}
		if v.Plan, err = f.summary(ctx, tx, p); err != nil {
			return err
		}
		if v.Decision.Call != "" {
			c, err := tx.Call(v.Decision.Call)
			if err != nil {
				return err
			}
			v.Call = &c
		}
		hunks, err := tx.Hunks(p.ID)
		if err != nil {
			return err
		}
		for _, h := range hunks {
			if h.Decision == v.Decision.ID {
				v.Hunks = append(v.Hunks, h)
			}
		}
		return neighbours(tx, &v)
	})
	return v, err
}

// decisionIn resolves a decision by id, end of id or @last, which is the last
// one of the plan that was touched last.
func (f *Facade) decisionIn(tx engine.Tx, ref string) (plan.Decision, error) {
	if ref != lastRef {
		id, err := find(tx, "decision", ref)
		if err != nil {
			return plan.Decision{}, err
		}
		return tx.Decision(ident.DecisionID(id))
	}
	p, err := f.lastPlan(tx)
	if err != nil {
		return plan.Decision{}, err
	}
	ds, err := tx.Decisions(p.ID)
	if err != nil {
		return plan.Decision{}, err
	}
	if len(ds) == 0 {
		return plan.Decision{}, fault.New(fault.NotFound, "plan %s has no decision yet", p.ID)
	}
	return ds[len(ds)-1], nil
}

// neighbours fills in what a decision stands on and what stands on it.
func neighbours(tx engine.Tx, v *a2a.ExplainView) error {
	ds, err := tx.Decisions(v.Decision.Plan)
	if err != nil {
		return err
	}
	edges, err := tx.Influences(v.Decision.Plan)
	if err != nil {
		return err
	}
	byID := map[ident.DecisionID]plan.Decision{}
	for _, d := range ds {
		byID[d.ID] = d
	}
	for _, e := range edges {
		if e.Down == v.Decision.ID {
			v.Upstream = append(v.Upstream, byID[e.Up])
		}
	}
	for _, id := range plan.Downstream(v.Decision.ID, edges) {
		v.Downstream = append(v.Downstream, byID[id])
	}
	return nil
}
