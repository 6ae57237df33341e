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

func (f *Facade) doctorRun(ctx context.Context, _ a2a.Nothing, _ func(plan.Event)) (a2a.DoctorView, error) {
	return a2a.DoctorView{Findings: f.Doctor(ctx)}, nil
}
