package sqlite_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/store/sqlite"
)

// BenchmarkUpdate is one event in one durable transaction.
func BenchmarkUpdate(b *testing.B) {
	s := open(b, dbPath(b), sqlite.Options{})
	if err := s.Update(b.Context(), func(tx engine.Tx) error { return tx.InsertPlan(plan.Plan{ID: "one"}) }); err != nil {
		b.Fatal(err)
	}
	data := json.RawMessage(`{"text":"` + string(bytes.Repeat([]byte("x"), 200)) + `"}`)
	for b.Loop() {
		err := s.Update(b.Context(), func(tx engine.Tx) error {
			return tx.AppendEvent(&plan.Event{Plan: "one", Type: "tool.finished", Data: data})
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStep is about what one step of the engine records: a plan, an event
// and a decision with an edge.
func BenchmarkStep(b *testing.B) {
	s := open(b, dbPath(b), sqlite.Options{})
	ids := ident.NewSource(time.Now, rand.Reader)
	p := plan.Plan{ID: "one", Prompt: string(bytes.Repeat([]byte("p"), 4000))}
	root := plan.Decision{ID: "root", Plan: "one"}
	err := s.Update(b.Context(), func(tx engine.Tx) error {
		if err := tx.InsertPlan(p); err != nil {
			return err
		}
		return tx.InsertDecision(&root, nil)
	})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		err := s.Update(b.Context(), func(tx engine.Tx) error {
			if err := tx.AppendEvent(&plan.Event{Plan: "one", Type: "decision.recorded"}); err != nil {
				return err
			}
			d := plan.Decision{ID: ident.DecisionID(ids.New()), Plan: "one", Parent: "root"}
			if err := tx.InsertDecision(&d, []ident.DecisionID{"root"}); err != nil {
				return err
			}
			return tx.UpdatePlan(&p)
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen is opening and closing a store that is there.
func BenchmarkOpen(b *testing.B) {
	path := dbPath(b)
	open(b, path, sqlite.Options{})
	for b.Loop() {
		s, err := sqlite.Open(b.Context(), path, sqlite.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.View(b.Context(), func(tx engine.Tx) error { _, err := tx.Plans(engine.PlanFilter{}); return err }); err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}

// BenchmarkFindIDs is the end of an id among 100,000 decisions.
func BenchmarkFindIDs(b *testing.B) {
	s := open(b, dbPath(b), sqlite.Options{})
	ids := ident.NewSource(time.Now, rand.Reader)
	err := s.Update(b.Context(), func(tx engine.Tx) error {
		if err := tx.InsertPlan(plan.Plan{ID: "one"}); err != nil {
			return err
		}
		for range 100_000 {
			d := plan.Decision{ID: ident.DecisionID(ids.New()), Plan: "one"}
			if err := tx.InsertDecision(&d, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		err := s.View(b.Context(), func(tx engine.Tx) error {
			_, err := tx.FindIDs("decision", fmt.Sprintf("%04d", i%10000), 10)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
