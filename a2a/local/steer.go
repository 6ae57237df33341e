package local

import (
	"context"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/plan"
)

func (f *Facade) planPrompt(ctx context.Context, q a2a.PlanPromptRequest, _ func(plan.Event)) (v a2a.PromptView, err error) {
	p, err := f.plan(ctx, q.Ref)
	if err != nil {
		return v, err
	}
	if err := f.Engine.Prompt(ctx, p.ID, q.Text, q.Now); err != nil {
		return v, err
	}
	err = f.view(ctx, func(tx engine.Tx) error {
		if p, err = tx.Plan(p.ID); err != nil {
			return err
		}
		if v.Plan, err = f.summary(ctx, tx, p); err != nil {
			return err
		}
		v.Messages, err = engine.Messages(tx, p.ID)
		return err
	})
	v.Next = []string{"agents plan resume " + string(p.ID)}
	switch {
	case v.Plan.Held:
		v.Next = []string{"agents plan watch " + string(p.ID)}
	case p.Phase == plan.PhaseAction:
		v.Next = []string{"agents plan strategize " + string(p.ID)}
	}
	return v, err
}

func (f *Facade) planRetry(ctx context.Context, q a2a.RefQuery, emit func(plan.Event)) (a2a.PlanOutcome, error) {
	p, err := f.plan(ctx, q.Ref)
	if err != nil {
		return a2a.PlanOutcome{}, err
	}
	if err := f.Engine.Retry(ctx, p.ID, emit); err != nil {
		return a2a.PlanOutcome{}, err
	}
	return f.outcome(ctx, p.ID)
}
