package local

import (
	"context"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/bundle"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

// SampleBlobs is how many blobs a check reads that is not of all: what a laptop
// reads in about a second.
const SampleBlobs = 2000

// maxBlobsTold is how many lost blobs of a plan are named.
const maxBlobsTold = 5

// Blobs looks whether the blobs that plans name are there and whole: those of
// every plan, or of the plans that can still go on. It reads at most so many
// (0: all). Imported plans are left out: they may have come without their
// blobs. The newest plans come first.
func Blobs(ctx context.Context, e *engine.Engine, openOnly bool, most int) (a2a.BlobsView, error) {
	v := a2a.BlobsView{Hurt: []a2a.HurtPlan{}}
	var all []plan.Plan
	err := e.Store.View(ctx, func(tx engine.Tx) (err error) {
		all, err = tx.Plans(engine.PlanFilter{Without: engine.MarkImported})
		return err
	})
	if err != nil {
		return v, err
	}
	s := bundle.Survey{Get: e.Blobs.Get, Max: most}
	for _, p := range all {
		if openOnly && p.Terminal() {
			continue
		}
		v.Plans++
		h, err := e.History(ctx, p.ID)
		if err != nil {
			return v, err
		}
		lost, err := s.Plan(ctx, h)
		if err != nil {
			return v, err
		}
		if len(lost) > 0 {
			v.Hurt = append(v.Hurt, hurt(h.Plan, lost))
		}
	}
	v.Read, v.Sampled = s.Read, s.Sampled
	return v, nil
}

func hurt(p plan.Plan, lost []bundle.Lost) a2a.HurtPlan {
	h := a2a.HurtPlan{ID: p.ID, Name: p.Name, Status: p.Status, Blobs: []string{}}
	for _, l := range lost {
		if fault.Is(l.Err, fault.NotFound) {
			h.Missing++
		} else {
			h.Damaged++
		}
		if len(h.Blobs) < maxBlobsTold {
			h.Blobs = append(h.Blobs, l.Hash)
		}
	}
	return h
}
