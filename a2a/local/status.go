package local

import (
	"context"
	"slices"
	"time"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/plan"
)

func (f *Facade) statusHandlers() []a2a.Handler {
	return []a2a.Handler{a2a.Handle(a2a.StatusShow(), f.statusShow)}
}

// maxWaiting bounds how many waiting plans are listed.
const maxWaiting = 100

func (f *Facade) statusShow(ctx context.Context, _ a2a.Nothing, _ func(plan.Event)) (a2a.StatusView, error) {
	v := a2a.StatusView{Running: []a2a.RunningPlan{}, Waiting: []a2a.WaitingPlan{}}
	now := f.Engine.Now().Local()
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	v.Today.Since = midnight.Format(time.RFC3339)
	err := f.view(ctx, func(tx engine.Tx) (err error) {
		if v.Project, err = f.projectHere(tx); err != nil {
			return err
		}
		if v.Today.UsageRow, err = used(tx, midnight); err != nil {
			return err
		}
		unended, err := unended(tx)
		if err != nil {
			return err
		}
		for _, p := range unended {
			if err := f.placed(ctx, tx, p, &v); err != nil {
				return err
			}
		}
		return nil
	})
	return v, err
}

// placed adds a plan that has not ended to those that run or to those that wait.
func (f *Facade) placed(ctx context.Context, tx engine.Tx, p plan.Plan, v *a2a.StatusView) error {
	s, err := f.summary(ctx, tx, p)
	if err != nil {
		return err
	}
	if s.Held {
		holder, err := tx.Holder(p.ID)
		v.Running = append(v.Running, a2a.RunningPlan{PlanSummary: s, Holder: holder})
		return err
	}
	if len(v.Waiting) == maxWaiting {
		v.More++
		return nil
	}
	asked, err := tx.Approvals(p.ID, true)
	v.Waiting = append(v.Waiting, a2a.WaitingPlan{PlanSummary: s, Approvals: len(asked), Next: f.next(ctx, p, asked)})
	return err
}

// unended is every plan that can still go on, the one touched last first.
func unended(tx engine.Tx) ([]plan.Plan, error) {
	var out []plan.Plan
	states := plan.Statuses(func(s plan.Status) string {
		if s.Terminal() {
			return ""
		}
		return string(s.State)
	})
	for _, s := range states {
		if s == "" {
			continue
		}
		some, err := tx.Plans(engine.PlanFilter{State: plan.State(s), Without: engine.MarkArchived})
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	slices.SortStableFunc(out, func(a, b plan.Plan) int { return b.Updated.Compare(a.Updated) })
	return out, nil
}
