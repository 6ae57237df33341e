package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

// event appends an event of the type to the first plan.
func (w *world) event(tx engine.Tx, kind string) error {
	return tx.AppendEvent(&plan.Event{Plan: w.plans[0].ID, Type: kind})
}

// wantEvents compares the types of the first plan's events.
func (w *world) wantEvents(t *testing.T, want ...string) {
	t.Helper()
	w.view(t, func(tx engine.Tx) error {
		es, err := tx.Events(w.plans[0].ID, 0, 0)
		var got []string
		for i, e := range es {
			got = append(got, e.Type)
			if e.Seq != int64(i+1) {
				t.Errorf("event %d has seq %d", i, e.Seq)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("events (-want +got):\n%s", d)
		}
		return err
	})
}

func testRefused(t *testing.T, w *world) {
	for _, cost := range []float64{math.NaN(), math.Inf(1)} {
		c := evidence.Call{ID: "x", Plan: w.plans[0].ID, Cost: cost}
		w.fails(t, fault.Invalid, func(tx engine.Tx) error { return tx.InsertCall(c) })
	}
}

func testRollback(t *testing.T, w *world) {
	stop := errors.New("stop")
	e := plan.Event{Plan: w.plans[0].ID, Type: "lost"}
	d := w.decision(t, w.plans[0])
	err := w.s.Update(t.Context(), func(tx engine.Tx) error {
		if err := tx.AppendEvent(&e); err != nil {
			return err
		}
		if err := tx.InsertDecision(&d, nil); err != nil {
			return err
		}
		if e.Seq != 1 || d.Seq != 1 {
			t.Errorf("got seq %d and %d inside the transaction, want 1", e.Seq, d.Seq)
		}
		return stop
	})
	if !errors.Is(err, stop) {
		t.Fatalf("got error %v, want that of the function", err)
	}
	if e.Seq != 0 || d.Seq != 0 {
		t.Errorf("got seq %d and %d after the rollback, want what was there", e.Seq, d.Seq)
	}
	w.update(t, func(tx engine.Tx) error { return w.event(tx, "kept") })
	w.wantEvents(t, "kept")
	w.view(t, func(tx engine.Tx) error {
		absent(t, "decision", func() (plan.Decision, error) { return tx.Decision(d.ID) })
		return nil
	})
}

// testRefusedInsert: after Exists and NotFound the transaction goes on, and the
// refused row takes no number.
func testRefusedInsert(t *testing.T, w *world) {
	d, e := w.decision(t, w.plans[0]), w.decision(t, w.plans[0])
	w.update(t, func(tx engine.Tx) error {
		if err := tx.InsertDecision(&d, nil); err != nil {
			return err
		}
		again := d
		wantKind(t, tx.InsertDecision(&again, nil), fault.Exists)
		wantKind(t, tx.InsertPlan(w.plans[0]), fault.Exists)
		wantKind(t, tx.UpdateDecision(e), fault.NotFound)
		return tx.InsertDecision(&e, nil)
	})
	if e.Seq != 2 {
		t.Errorf("got seq %d after a refused insert, want 2", e.Seq)
	}
}

// testSwallowed: what the database itself refused rolls all back even when the
// function does not return the error.
func testSwallowed(t *testing.T, w *world) {
	w.fails(t, fault.NotFound, func(tx engine.Tx) error {
		if err := w.event(tx, "lost"); err != nil {
			return err
		}
		tx.AppendEvent(&plan.Event{Plan: "none"})
		return nil
	})
	w.fails(t, fault.NotFound, func(tx engine.Tx) error {
		tx.AppendEvent(&plan.Event{Plan: "none"})
		wantKind(t, w.event(tx, "after"), fault.NotFound) // nothing works any more
		_, err := tx.Plan(w.plans[0].ID)
		wantKind(t, err, fault.NotFound)
		return nil
	})
	w.wantEvents(t)
}

func testPanic(t *testing.T, w *world) {
	func() {
		defer func() {
			if got := recover(); got != "boom" {
				t.Errorf("recovered %v, want the function's own panic", got)
			}
		}()
		w.s.Update(t.Context(), func(tx engine.Tx) error {
			if err := w.event(tx, "lost"); err != nil {
				t.Error(err)
			}
			panic("boom")
		})
	}()
	w.update(t, func(tx engine.Tx) error { return w.event(tx, "kept") }) // the turn to write was given back
	w.wantEvents(t, "kept")
}

func testView(t *testing.T, w *world) {
	d := w.decision(t, w.plans[0])
	p := w.plans[0]
	for name, write := range map[string]func(tx engine.Tx) error{
		"insert":  func(tx engine.Tx) error { return tx.InsertDecision(&d, nil) },
		"update":  func(tx engine.Tx) error { return tx.UpdatePlan(&p) },
		"put":     func(tx engine.Tx) error { return tx.PutSetting("k", "v") },
		"claim":   func(tx engine.Tx) error { return tx.Claim(p.ID, "me", p.Created) },
		"release": func(tx engine.Tx) error { return tx.Release(p.ID, "me") },
	} {
		if err := w.s.View(t.Context(), write); !fault.Is(err, fault.Internal) {
			t.Errorf("%s in a view: got error %v", name, err)
		}
	}
	// The refusal does not hang on the function passing it on.
	w.view(t, func(tx engine.Tx) error { w.event(tx, "lost"); return nil })
	w.wantEvents(t)
	stop := errors.New("stop")
	if err := w.s.View(t.Context(), func(engine.Tx) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got error %v, want that of the function", err)
	}
}

// testSnapshot: a view does not see what is committed while it runs, and does
// not keep others from committing.
func testSnapshot(t *testing.T, w *world) {
	w.update(t, func(tx engine.Tx) error { return w.event(tx, "one") })
	w.view(t, func(tx engine.Tx) error {
		before, err := tx.Events(w.plans[0].ID, 0, 0)
		if err != nil {
			return err
		}
		w.update(t, func(tx engine.Tx) error { return w.event(tx, "two") })
		after, err := tx.Events(w.plans[0].ID, 0, 0)
		if len(before) != 1 || len(after) != 1 {
			t.Errorf("got %d events, then %d, in one view; want 1 both times", len(before), len(after))
		}
		return err
	})
	w.wantEvents(t, "one", "two")
}

func testCancel(t *testing.T, w *world) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for name, run := range map[string]func(context.Context, func(engine.Tx) error) error{"view": w.s.View, "update": w.s.Update} {
		err := run(done, func(engine.Tx) error { return nil })
		if !fault.Is(err, fault.Cancelled) {
			t.Errorf("%s with a context that is done: got error %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := w.s.Update(ctx, func(tx engine.Tx) error {
		if err := w.event(tx, "lost"); err != nil {
			return err
		}
		cancel()
		return nil
	})
	wantKind(t, err, fault.Cancelled)
	// A writer that waits for its turn gives up when it is told to.
	w.update(t, func(tx engine.Tx) error {
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan error)
		go func() { got <- w.s.Update(ctx, func(engine.Tx) error { return nil }) }()
		cancel()
		wantKind(t, <-got, fault.Cancelled)
		return nil
	})
	w.wantEvents(t)
}

// testSequence: many writers at once, some of which fail, leave every sequence
// without a gap.
func testSequence(t *testing.T, w *world) {
	const writers, each = 8, 20
	stop := errors.New("stop")
	ids := make(chan string, writers*each)
	for range cap(ids) {
		ids <- w.ids.New()
	}
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			for j := range each {
				d := plan.Decision{ID: ident.DecisionID(<-ids), Plan: w.plans[0].ID}
				err := w.s.Update(t.Context(), func(tx engine.Tx) error {
					if err := w.event(tx, fmt.Sprintf("%d/%d", i, j)); err != nil {
						return err
					}
					if err := tx.InsertDecision(&d, nil); err != nil {
						return err
					}
					if j%5 == 4 {
						return stop
					}
					return nil
				})
				if err != nil && !errors.Is(err, stop) {
					t.Errorf("writer %d: %v", i, err)
				}
			}
		})
	}
	all.Wait()
	w.view(t, func(tx engine.Tx) error {
		es, err := tx.Events(w.plans[0].ID, 0, 0)
		if err != nil {
			return err
		}
		ds, err := tx.Decisions(w.plans[0].ID)
		if want := writers * each * 4 / 5; len(es) != want || len(ds) != want {
			t.Fatalf("got %d events and %d decisions, want %d", len(es), len(ds), want)
		}
		seen := map[string]bool{}
		for i := range es {
			if es[i].Seq != int64(i+1) || ds[i].Seq != i+1 {
				t.Fatalf("place %d has event %d and decision %d", i+1, es[i].Seq, ds[i].Seq)
			}
			seen[es[i].Type] = true
		}
		if len(seen) != len(es) {
			t.Errorf("got %d different events of %d", len(seen), len(es))
		}
		return err
	})
}
