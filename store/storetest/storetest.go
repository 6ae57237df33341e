// Package storetest is the contract of engine.Store as tests. Every store runs
// it: what is put in comes out, field by field; names and ids are taken once;
// a transaction is whole or nothing; numbers leave no gap however many write.
//
// The records are filled by reflection (fill.go), so a new field that a store
// does not keep fails here without a change of the suite.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/project"
	"github.com/cleveragents/agents/resource"
)

// Run tests the stores that open makes. Each is empty, and open closes it when
// its test is over.
func Run(t *testing.T, open func(t *testing.T) engine.Store) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, *world)
	}{
		{"actions and actors", testConfigs},
		{"providers", testProviders},
		{"projects and resources", testProjects},
		{"settings", testSettings},
		{"sessions", testSessions},
		{"messages of a session", testSessionMessages},
		{"plans", testPlans},
		{"plan filter", testPlanFilter},
		{"version lock", testVersion},
		{"rename", testRename},
		{"marks", testMarks},
		{"usage", testUsage},
		{"ids by suffix", testFindIDs},
		{"events", testEvents},
		{"claims", testClaims},
		{"decisions", testDecisions},
		{"checkpoints", testCheckpoints},
		{"calls", testCalls},
		{"tool calls", testToolCalls},
		{"hunks and gaps", testHunks},
		{"order within a transaction", testOrder},
		{"validation results", testResults},
		{"approvals", testApprovals},
		{"blobs", testBlobs},
		{"names of blobs", testNames},
		{"claims of all plans", testClaimsOfAll},
		{"relaxed update", testRelaxed},
		{"the same statement again", testAgain},
		{"null and empty", testNull},
		{"values refused", testRefused},
		{"rollback", testRollback},
		{"refused insert", testRefusedInsert},
		{"swallowed error", testSwallowed},
		{"panic", testPanic},
		{"view", testView},
		{"view is one state", testSnapshot},
		{"cancel", testCancel},
		{"sequence under writers", testSequence},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.run(t, newWorld(t, open(t)))
		})
	}
}

// world is one store with what every record refers to: two resources, a
// project, and two plans.
type world struct {
	s     engine.Store
	f     *filler
	ids   *ident.Source
	res   [2]resource.Resource
	proj  project.Project
	plans [2]plan.Plan
}

func newWorld(t *testing.T, s engine.Store) *world {
	t.Helper()
	// A clock that stands still: order must not come from time.
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	w := &world{s: s, f: &filler{}, ids: ident.NewSource(func() time.Time { return at }, bytes.NewReader(entropy()))}
	for i := range w.res {
		w.res[i] = filled[resource.Resource](t, w.f)
		w.res[i].ID = ident.ResourceID(w.ids.New())
	}
	w.proj = filled[project.Project](t, w.f)
	w.proj.Links[0].Resource, w.proj.Links[1].Resource = w.res[1].ID, w.res[0].ID
	for i := range w.plans {
		w.plans[i] = w.plan(t)
	}
	w.update(t, func(tx engine.Tx) error {
		return errors.Join(tx.InsertResource(w.res[0]), tx.InsertResource(w.res[1]), tx.InsertProject(w.proj),
			tx.InsertPlan(w.plans[0]), tx.InsertPlan(w.plans[1]))
	})
	return w
}

// entropy is fixed bytes for ids, so that a failure repeats.
func entropy() []byte {
	b := make([]byte, 1<<16)
	x := uint32(1)
	for i := range b {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		b[i] = byte(x)
	}
	return b
}

// plan returns a full plan of the world's project that is not stored yet.
func (w *world) plan(t *testing.T) plan.Plan {
	p := filled[plan.Plan](t, w.f)
	p.ID, p.Project = ident.PlanID(w.ids.New()), w.proj.Name
	return p
}

// decision returns a full decision without links to others.
func (w *world) decision(t *testing.T, p plan.Plan) plan.Decision {
	d := filled[plan.Decision](t, w.f)
	d.ID, d.Plan, d.Parent, d.Superseded, d.Seq = ident.DecisionID(w.ids.New()), p.ID, "", "", 0
	return d
}

func (w *world) update(t *testing.T, f func(engine.Tx) error) {
	t.Helper()
	if err := w.s.Update(t.Context(), f); err != nil {
		t.Fatalf("update: %v", err)
	}
}

func (w *world) view(t *testing.T, f func(engine.Tx) error) {
	t.Helper()
	if err := w.s.View(t.Context(), f); err != nil {
		t.Fatalf("view: %v", err)
	}
}

// fails runs f in an Update that must fail with an error of the kind.
func (w *world) fails(t *testing.T, kind fault.Kind, f func(engine.Tx) error) error {
	t.Helper()
	err := w.s.Update(context.WithoutCancel(t.Context()), f)
	wantKind(t, err, kind)
	return err
}

func wantKind(t *testing.T, err error, kind fault.Kind) {
	t.Helper()
	if !fault.Is(err, kind) {
		t.Fatalf("got error %v, want one of kind %s", err, kind)
	}
}

// same compares the result of a read with what was stored.
func same[T any](t *testing.T, what string, want T, read func() (T, error)) {
	t.Helper()
	got, err := read()
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-stored +read):\n%s", what, d)
	}
}

// absent checks that a read finds nothing.
func absent[T any](t *testing.T, what string, read func() (T, error)) {
	t.Helper()
	if got, err := read(); !fault.Is(err, fault.NotFound) {
		t.Errorf("%s: got %v and error %v, want NotFound", what, got, err)
	}
}
