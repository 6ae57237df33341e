package local

import (
	"context"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/plan"
)

func (f *Facade) doctorHandlers() []a2a.Handler {
	return []a2a.Handler{
		a2a.Handle(a2a.DoctorRun(), f.doctorRun),
	}
}

func (f *Facade) doctorRun(ctx context.Context, q a2a.DoctorQuery, _ func(plan.Event)) (a2a.DoctorView, error) {
	return f.Doctor(ctx, q)
}
