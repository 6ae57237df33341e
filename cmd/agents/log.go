package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

// logged is a client that logs every operation: which, how long it took and how
// it ended, and at the level debug the type of every event. What was asked and
// answered is not logged: it can hold what a person keeps to themselves.
type logged struct {
	client a2a.Client
	log    *slog.Logger
	now    func() time.Time
}

// Do implements a2a.Client.
func (l *logged) Do(ctx context.Context, method string, req any, emit func(plan.Event)) (any, error) {
	began := l.now()
	tell := emit
	if emit != nil && l.log.Enabled(ctx, slog.LevelDebug) {
		tell = func(e plan.Event) {
			l.log.DebugContext(ctx, "event", "plan", e.Plan, "seq", e.Seq, "type", e.Type)
			emit(e)
		}
	}
	got, err := l.client.Do(ctx, method, req, tell)
	result := "ok"
	if err != nil {
		result = fault.CodeOf(err)
	}
	l.log.InfoContext(ctx, "operation", "method", method, "took", l.now().Sub(began), "result", result)
	return got, err
}
