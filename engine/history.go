package engine

import (
	"context"
	"strings"
	"time"

	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/resource"
)

// History is everything that is recorded of one plan, each list in the order of
// the records. It names blobs and holds none.
type History struct {
	Plan        plan.Plan
	Labels      map[string]string
	Resources   []resource.Resource // those that the plan's changes are in
	Decisions   []plan.Decision
	Influences  []plan.Influence
	Checkpoints []plan.Checkpoint
	Calls       []evidence.Call
	ToolCalls   []evidence.ToolCall
	Hunks       []evidence.Hunk
	Gaps        []evidence.Gap
	Results     []evidence.ValidationResult
	Approvals   []plan.Approval
	Events      []plan.Event
}

// History reads everything of a plan, as it is at one moment.
func (e *Engine) History(ctx context.Context, id ident.PlanID) (h History, err error) {
	err = e.Store.View(ctx, func(tx Tx) (err error) {
		if h.Plan, err = tx.Plan(id); err != nil {
			return err
		}
		marks, err := tx.Marks(id)
		if err != nil {
			return err
		}
		h.Labels = Labels(marks)
		for _, read := range []func() error{
			func() error { h.Decisions, err = tx.Decisions(id); return err },
			func() error { h.Influences, err = tx.Influences(id); return err },
			func() error { h.Checkpoints, err = tx.Checkpoints(id); return err },
			func() error { h.Calls, err = tx.Calls(id); return err },
			func() error { h.ToolCalls, err = tx.ToolCalls(id); return err },
			func() error { h.Hunks, err = tx.Hunks(id); return err },
			func() error { h.Gaps, err = tx.Gaps(id); return err },
			func() error { h.Results, err = tx.Results(id); return err },
			func() error { h.Approvals, err = tx.Approvals(id, false); return err },
			func() error { h.Events, err = tx.Events(id, 0, 0); return err },
		} {
			if err := read(); err != nil {
				return err
			}
		}
		seen := map[ident.ResourceID]bool{}
		for _, hunk := range h.Hunks {
			if seen[hunk.Resource] {
				continue
			}
			seen[hunk.Resource] = true
			r, err := tx.Resource(hunk.Resource)
			if err != nil {
				return err
			}
			h.Resources = append(h.Resources, r)
		}
		return nil
	})
	return h, err
}

// importedNamespace is where imported plans and their resources are named.
const importedNamespace = "imported"

// Import stores the history of a plan that was recorded elsewhere, which the
// caller has checked. It is archived, has no project, and cannot be run, asked
// about or controlled; resources that are not known here are noted without the
// place where they were. An id that is here already is fault.Exists, and then
// nothing is stored.
func (e *Engine) Import(ctx context.Context, h History) (plan.Plan, error) {
	p, err := e.asHistory(h.Plan)
	if err != nil {
		return p, err
	}
	err = e.Store.Update(ctx, func(tx Tx) error {
		if _, err := tx.Plan(p.ID); err == nil {
			return fault.New(fault.Exists, "plan %s is here already", p.ID).WithHint("agents plan show %s", p.ID)
		} else if !fault.Is(err, fault.NotFound) {
			return err
		}
		if err := importResources(tx, h.Resources, e.Now()); err != nil {
			return err
		}
		if err := tx.InsertPlan(p); err != nil {
			return err
		}
		from := h.Plan.Project
		if from == "" {
			from = "elsewhere"
		}
		marks := map[string]string{MarkImported: from, MarkArchived: e.Now().UTC().Format(time.RFC3339)}
		for key, value := range h.Labels {
			marks[MarkLabel+key] = value
		}
		for key, value := range marks {
			if err := tx.SetMark(p.ID, key, value); err != nil {
				return err
			}
		}
		return importRows(tx, h)
	})
	return p, err
}

// asHistory is a plan as it is stored where it was not made.
func (e *Engine) asHistory(p plan.Plan) (plan.Plan, error) {
	n, err := ident.ParseName(p.Name)
	if err != nil {
		return p, err
	}
	end := strings.ToLower(string(p.ID[len(p.ID)-6:]))
	base := n.Base
	if !strings.HasSuffix(base, end) {
		base = clipName(base, 50) + "-" + end
	}
	p.Name, err = ident.Canonical(importedNamespace + "/" + base)
	p.Project, p.Ordered, p.OrderedFor = "", "", ""
	return p, err
}

func clipName(s string, n int) string {
	return strings.TrimRight(s[:min(len(s), n)], "-._")
}

func importResources(tx Tx, all []resource.Resource, at time.Time) error {
	for _, r := range all {
		if _, err := tx.Resource(r.ID); err == nil {
			continue
		} else if !fault.Is(err, fault.NotFound) {
			return err
		}
		r.Name = importedNamespace + "/" + strings.ToLower(string(r.ID))
		r.Location, r.Created = importedNamespace+":"+string(r.ID), at // no path: nothing can be opened there
		if err := tx.InsertResource(r); err != nil {
			return err
		}
	}
	return nil
}

// importRows stores the records; the numbers that the store gives have to be
// those that they had.
func importRows(tx Tx, h History) error {
	ups := map[ident.DecisionID][]ident.DecisionID{}
	for _, i := range h.Influences {
		ups[i.Down] = append(ups[i.Down], i.Up)
	}
	for _, c := range h.Calls {
		if err := tx.InsertCall(c); err != nil {
			return err
		}
	}
	for _, d := range h.Decisions {
		was := d.Seq
		if err := tx.InsertDecision(&d, ups[d.ID]); err != nil {
			return err
		}
		if d.Seq != was {
			return fault.New(fault.Corrupt, "decision %s has number %d, not %d", d.ID, was, d.Seq)
		}
	}
	for _, c := range h.Checkpoints {
		if err := tx.InsertCheckpoint(c); err != nil {
			return err
		}
	}
	for _, t := range h.ToolCalls {
		if err := tx.InsertToolCall(t); err != nil {
			return err
		}
	}
	for _, hunk := range h.Hunks {
		if err := tx.InsertHunk(&hunk); err != nil {
			return err
		}
	}
	for _, g := range h.Gaps {
		if err := tx.InsertGap(&g); err != nil {
			return err
		}
	}
	for _, r := range h.Results {
		if err := tx.InsertResult(r); err != nil {
			return err
		}
	}
	for _, a := range h.Approvals {
		if a.State == plan.Open || a.State == plan.Approved || a.State == plan.Answered {
			a.State = plan.Lapsed
		}
		if err := tx.InsertApproval(a); err != nil {
			return err
		}
	}
	for _, ev := range h.Events {
		if err := tx.AppendEvent(&ev); err != nil {
			return err
		}
	}
	return nil
}
