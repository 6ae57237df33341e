package local

import (
	"context"
	"fmt"

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
	check := q.Check || q.Full
	v, err := f.DB.Status(ctx, check)
	if err != nil || !check {
		return v, err
	}
	most := SampleBlobs
	if q.Full {
		most = 0
	}
	blobs, err := Blobs(ctx, f.Engine, false, most)
	if err != nil {
		return v, err
	}
	v.Blobs = &blobs
	if n := len(blobs.Hurt); n > 0 && v.Check == "ok" {
		v.Check = fmt.Sprintf("blobs of %d plans are missing or damaged", n)
		if n == 1 {
			v.Check = "blobs of plan " + blobs.Hurt[0].Name + " are missing or damaged"
		}
	}
	return v, nil
}
