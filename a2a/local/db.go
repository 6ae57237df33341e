package local

import (
	"context"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/plan"
)

func (f *Facade) dbHandlers() []a2a.Handler {
	return []a2a.Handler{
		a2a.Handle(a2a.DBPath(), f.dbPath),
		a2a.Handle(a2a.DBStatus(), f.dbStatus),
	}
}

func (f *Facade) dbPath(context.Context, a2a.Nothing, func(plan.Event)) (a2a.DBPathView, error) {
	return f.Paths, nil
}

func (f *Facade) dbStatus(ctx context.Context, q a2a.DBStatusQuery, _ func(plan.Event)) (a2a.DBStatusView, error) {
	return f.DB.Status(ctx, q.Check)
}
