package local

import (
	"context"
	"io"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/bundle"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

func (f *Facade) planExport(ctx context.Context, q a2a.PlanExportRequest, _ func(plan.Event)) (v a2a.ExportView, err error) {
	if q.To == nil {
		return v, fault.New(fault.Internal, "an export goes nowhere")
	}
	err = f.view(ctx, func(tx engine.Tx) error {
		p, err := f.planIn(tx, q.Ref)
		if err != nil {
			return err
		}
		v.Plan, err = f.summary(ctx, tx, p)
		return err
	})
	if err != nil {
		return v, err
	}
	h, err := f.Engine.History(ctx, v.Plan.ID)
	if err != nil {
		return v, err
	}
	w, err := q.To(v.Plan)
	if err != nil {
		return v, err
	}
	o := bundle.Options{Artifacts: q.Artifacts, Redact: q.Redact, Made: f.Engine.Now()}
	m, end, err := bundle.Write(ctx, w, h, o, f.Engine.Blobs.Get)
	v.Rows, v.Blobs, v.Missing, v.Artifacts, v.Redacted = rowsOf(m), end.Blobs, end.Missing, m.Artifacts, m.Redacted
	return v, err
}

func rowsOf(m bundle.Manifest) (n int) {
	for _, t := range m.Tables {
		n += t.Rows
	}
	return n
}

func (f *Facade) planImport(ctx context.Context, q a2a.PlanImportRequest, _ func(plan.Event)) (v a2a.ImportView, err error) {
	if q.From == nil {
		return v, fault.New(fault.Internal, "an import comes from nowhere")
	}
	b, err := bundle.Read(q.From, nil)
	if err != nil {
		return v, fault.New(fault.KindOf(err), "%s: %w", q.File, err)
	}
	if err := f.absent(ctx, b.Manifest.Plan); err != nil {
		return v, err
	}
	if b.End.Blobs > 0 {
		if err := f.storeBlobs(ctx, q); err != nil {
			return v, err
		}
	}
	p, err := f.Engine.Import(ctx, b.History)
	if err != nil {
		return v, err
	}
	v.Project, v.Rows, v.Blobs, v.Redacted = b.History.Plan.Project, rowsOf(b.Manifest), b.End.Blobs, b.Manifest.Redacted
	err = f.view(ctx, func(tx engine.Tx) error {
		v.Plan, err = f.summary(ctx, tx, p)
		return err
	})
	return v, err
}

// absent refuses the id of a plan that is here, before its blobs are stored.
func (f *Facade) absent(ctx context.Context, id ident.PlanID) error {
	return f.view(ctx, func(tx engine.Tx) error {
		_, err := tx.Plan(id)
		if err == nil {
			return fault.New(fault.Exists, "plan %s is here already", id).WithHint("agents plan show %s", id)
		}
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		return err
	})
}

// storeBlobs reads a checked file again and stores its blobs. A file that was
// changed meanwhile is noticed by the hashes; a blob without a row is no harm.
func (f *Facade) storeBlobs(ctx context.Context, q a2a.PlanImportRequest) error {
	if _, err := q.From.Seek(0, io.SeekStart); err != nil {
		return fault.New(fault.Invalid, "%s: %w", q.File, err)
	}
	_, err := bundle.Read(q.From, func(hash string, b []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, err := f.Engine.Blobs.Put(ctx, b)
		return err
	})
	return err
}
