package local

import (
	"context"
	"strings"
	"time"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

func (f *Facade) usageHandlers() []a2a.Handler {
	return []a2a.Handler{a2a.Handle(a2a.UsageShow(), f.usageShow)}
}

func (f *Facade) usageShow(ctx context.Context, q a2a.UsageQuery, _ func(plan.Event)) (a2a.UsageView, error) {
	v := a2a.UsageView{By: q.By, Rows: []a2a.UsageRow{}}
	if q.By != "" && !strings.Contains(" "+evidence.UsageWays+" ", " "+string(q.By)+" ") {
		return v, fault.New(fault.Invalid, "usage cannot be grouped by %q", string(q.By)).WithHint("one of: %s", evidence.UsageWays)
	}
	var since time.Time
	if q.Since > 0 {
		since = f.Engine.Now().Add(-q.Since)
		v.Since = since.UTC().Format(time.RFC3339)
	}
	err := f.view(ctx, func(tx engine.Tx) (err error) {
		if v.Total, err = used(tx, since); err != nil || q.By == "" {
			return err
		}
		rows, err := tx.Usage(q.By, since)
		if err != nil {
			return err
		}
		for _, r := range rows {
			row := a2a.UsageRow{UsageRow: r}
			if q.By == evidence.UsageByPlan {
				p, err := tx.Plan(ident.PlanID(r.Key))
				if err != nil {
					return err
				}
				row.Name = p.Name
			}
			v.Rows = append(v.Rows, row)
		}
		return nil
	})
	return v, err
}

// used is the sum of everything since a time.
func used(tx engine.Tx, since time.Time) (evidence.UsageRow, error) {
	rows, err := tx.Usage("", since)
	if err != nil || len(rows) == 0 {
		return evidence.UsageRow{}, err
	}
	return rows[0], nil
}
