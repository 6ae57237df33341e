package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

func testPlans(t *testing.T, w *world) {
	w.view(t, func(tx engine.Tx) error {
		same(t, "plan", w.plans[0], func() (plan.Plan, error) { return tx.Plan(w.plans[0].ID) })
		absent(t, "plan", func() (plan.Plan, error) { return tx.Plan("none") })
		return nil
	})
	err := w.fails(t, fault.NotFound, func(tx engine.Tx) error { _, err := tx.Plan("01J"); return err })
	if got, want := err.Error(), "no plan 01J"; got != want {
		t.Errorf("got message %q, want %q", got, want)
	}
	again := w.plans[0]
	again.Name = "local/other"
	w.fails(t, fault.Exists, func(tx engine.Tx) error { return tx.InsertPlan(again) })
	again = w.plans[0]
	again.ID = ident.PlanID(w.ids.New())
	w.fails(t, fault.Exists, func(tx engine.Tx) error { return tx.InsertPlan(again) })
	again.Name, again.Project = "local/other", "local/none"
	w.fails(t, fault.NotFound, func(tx engine.Tx) error { return tx.InsertPlan(again) })
	again.Project = "" // a plan without a project
	w.update(t, func(tx engine.Tx) error { return tx.InsertPlan(again) })
	w.view(t, func(tx engine.Tx) error {
		same(t, "plan without a project", again, func() (plan.Plan, error) { return tx.Plan(again.ID) })
		return nil
	})
}

func testPlanFilter(t *testing.T, w *world) {
	third := w.plan(t)
	third.Project, third.Phase, third.State, third.Name = "", plan.PhaseExecute, plan.Running, "local/third"
	third.Updated = w.plans[1].Updated.Add(48 * time.Hour)
	w.update(t, func(tx engine.Tx) error {
		if err := tx.InsertPlan(third); err != nil {
			return err
		}
		touched := w.plans[0]
		touched.Updated = third.Updated.Add(time.Millisecond)
		return tx.UpdatePlan(&touched)
	})
	all := []ident.PlanID{third.ID, w.plans[1].ID, w.plans[0].ID}
	for _, c := range []struct {
		name string
		f    engine.PlanFilter
		want []ident.PlanID
	}{
		{"all", engine.PlanFilter{}, all},
		{"limit", engine.PlanFilter{Limit: 2}, all[:2]},
		{"project", engine.PlanFilter{Project: w.proj.Name}, all[1:]},
		{"phase", engine.PlanFilter{Phase: plan.PhaseExecute}, all[:1]},
		{"state", engine.PlanFilter{State: plan.Running}, all[:1]},
		{"name", engine.PlanFilter{Name: "local/third"}, all[:1]},
		{"name of another state", engine.PlanFilter{Name: "local/third", State: plan.Paused}, nil},
		{"every field", engine.PlanFilter{
			Project: w.proj.Name, Phase: w.plans[1].Phase, State: w.plans[1].State, Name: w.plans[1].Name, Limit: 5,
		}, all[1:2]},
		{"touched last", engine.PlanFilter{Touched: true, Limit: 2}, []ident.PlanID{w.plans[0].ID, third.ID}},
	} {
		w.view(t, func(tx engine.Tx) error {
			ps, err := tx.Plans(c.f)
			var got []ident.PlanID
			for _, p := range ps {
				got = append(got, p.ID)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("%s (-want +got):\n%s", c.name, d)
			}
			return err
		})
	}
}

func testVersion(t *testing.T, w *world) {
	p := w.plans[0]
	next := filled[plan.Plan](t, w.f)
	next.ID, next.Project, next.Version, next.Name = p.ID, p.Project, p.Version, p.Name
	w.update(t, func(tx engine.Tx) error { return tx.UpdatePlan(&next) })
	if got, want := next.Version, p.Version+1; got != want {
		t.Errorf("got version %d after an update, want %d", got, want)
	}
	w.view(t, func(tx engine.Tx) error {
		same(t, "updated plan", next, func() (plan.Plan, error) { return tx.Plan(p.ID) })
		return nil
	})
	stale := p
	w.fails(t, fault.Conflict, func(tx engine.Tx) error { return tx.UpdatePlan(&stale) })
	none := w.plan(t)
	w.fails(t, fault.NotFound, func(tx engine.Tx) error { return tx.UpdatePlan(&none) })
	if stale.Version != p.Version {
		t.Errorf("a refused update changed the version to %d", stale.Version)
	}
	// A version that was given in a transaction that failed is taken back, so
	// that the caller can try again with the same plan.
	was := next.Version
	w.fails(t, fault.Conflict, func(tx engine.Tx) error {
		if err := tx.UpdatePlan(&next); err != nil {
			return err
		}
		if err := tx.UpdatePlan(&next); err != nil { // twice in one transaction is fine
			return err
		}
		return fault.New(fault.Conflict, "stop")
	})
	if next.Version != was {
		t.Errorf("got version %d after a rollback, want %d", next.Version, was)
	}
	w.update(t, func(tx engine.Tx) error { return tx.UpdatePlan(&next) })

}

// A name changes by itself and under a process that runs the plan.
func testRename(t *testing.T, w *world) {
	p := w.plans[0]
	w.update(t, func(tx engine.Tx) error { return tx.RenamePlan(p.ID, "local/better") })
	w.fails(t, fault.Exists, func(tx engine.Tx) error { return tx.RenamePlan(p.ID, w.plans[1].Name) })
	w.fails(t, fault.NotFound, func(tx engine.Tx) error { return tx.RenamePlan("none", "local/x") })
	w.update(t, func(tx engine.Tx) error { return tx.UpdatePlan(&p) }) // it still says the old one
	p.Name = "local/better"
	w.view(t, func(tx engine.Tx) error {
		same(t, "renamed plan", p, func() (plan.Plan, error) { return tx.Plan(p.ID) })
		return nil
	})
}

func testMarks(t *testing.T, w *world) {
	a, b := w.plans[0].ID, w.plans[1].ID
	w.update(t, func(tx engine.Tx) error {
		return errors.Join(tx.SetMark(a, "label/team", "red"), tx.SetMark(a, "label/team", "blue"),
			tx.SetMark(a, "x", "1"), tx.SetMark(a, "y", "1"), tx.SetMark(a, "y", ""), tx.SetMark(a, "none", ""),
			tx.SetMark(b, "label/team", "red"))
	})
	w.fails(t, fault.NotFound, func(tx engine.Tx) error { return tx.SetMark("none", "x", "1") })
	w.view(t, func(tx engine.Tx) error {
		same(t, "marks", map[string]string{"label/team": "blue", "x": "1"}, func() (map[string]string, error) { return tx.Marks(a) })
		same(t, "marks of nothing", map[string]string{}, func() (map[string]string, error) { return tx.Marks("none") })
		for name, c := range map[string]struct {
			f    engine.PlanFilter
			want []ident.PlanID
		}{
			"one":              {engine.PlanFilter{Marks: map[string]string{"label/team": "red"}}, []ident.PlanID{b}},
			"both":             {engine.PlanFilter{Marks: map[string]string{"label/team": "blue", "x": "1"}}, []ident.PlanID{a}},
			"not both":         {engine.PlanFilter{Marks: map[string]string{"label/team": "red", "x": "1"}}, nil},
			"without":          {engine.PlanFilter{Without: "x"}, []ident.PlanID{b}},
			"without and with": {engine.PlanFilter{Without: "x", Marks: map[string]string{"label/team": "blue"}, Limit: 3}, nil},
		} {
			ps, err := tx.Plans(c.f)
			if err != nil {
				return err
			}
			var got []ident.PlanID
			for _, p := range ps {
				got = append(got, p.ID)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("%s (-want +got):\n%s", name, d)
			}
		}
		return nil
	})
}

func testFindIDs(t *testing.T, w *world) {
	d := w.decision(t, w.plans[0])
	c := plan.Checkpoint{ID: ident.CheckpointID(w.ids.New()), Plan: w.plans[0].ID}
	a := plan.Approval{ID: ident.ApprovalID(w.ids.New()), Plan: w.plans[0].ID}
	w.update(t, func(tx engine.Tx) error {
		if err := tx.InsertDecision(&d, nil); err != nil {
			return err
		}
		if err := tx.InsertCheckpoint(c); err != nil {
			return err
		}
		return tx.InsertApproval(a)
	})
	for table, id := range map[string]string{
		"plan": string(w.plans[1].ID), "decision": string(d.ID), "checkpoint": string(c.ID),
		"approval": string(a.ID), "resource": string(w.res[0].ID),
	} {
		w.view(t, func(tx engine.Tx) error {
			for _, suffix := range []string{id, id[len(id)-8:]} {
				same(t, table+" "+suffix, []string{id}, func() ([]string, error) { return tx.FindIDs(table, suffix, 10) })
			}
			same(t, table, nil, func() ([]string, error) { return tx.FindIDs(table, "ZZZZZZZZ", 10) })
			// The middle of an id is not its end.
			same(t, table, nil, func() ([]string, error) { return tx.FindIDs(table, id[10:25], 10) })
			return nil
		})
	}
	// Two plans with a common end are both found, at most limit of them.
	one, two := w.plan(t), w.plan(t)
	one.ID, two.ID = ident.PlanID(strings.Repeat("0", 20)+"ABCDEF"), ident.PlanID(strings.Repeat("1", 20)+"ABCDEF")
	w.update(t, func(tx engine.Tx) error {
		if err := tx.InsertPlan(one); err != nil {
			return err
		}
		return tx.InsertPlan(two)
	})
	w.view(t, func(tx engine.Tx) error {
		both := []string{string(one.ID), string(two.ID)}
		same(t, "two", both, func() ([]string, error) { return tx.FindIDs("plan", "CDEF", 10) })
		same(t, "limit", both[:1], func() ([]string, error) { return tx.FindIDs("plan", "CDEF", 1) })
		return nil
	})
	for _, bad := range [][2]string{{"plan", "%"}, {"plan", "____"}, {"plan", ""}, {"plan", "abcd"}, {"plan", "ILOU"}, {"hunk", "ABCD"}, {"plans", "ABCD"}} {
		w.fails(t, fault.Invalid, func(tx engine.Tx) error { _, err := tx.FindIDs(bad[0], bad[1], 1); return err })
	}
}

func testEvents(t *testing.T, w *world) {
	var all []plan.Event
	w.update(t, func(tx engine.Tx) error {
		for i := range 5 {
			e := filled[plan.Event](t, w.f)
			e.Plan, e.Seq = w.plans[0].ID, 99 // given by the store, not by the caller
			if err := tx.AppendEvent(&e); err != nil {
				return err
			}
			if want := int64(i + 1); e.Seq != want {
				t.Errorf("got seq %d, want %d", e.Seq, want)
			}
			all = append(all, e)
		}
		other := filled[plan.Event](t, w.f)
		other.Plan = w.plans[1].ID
		if err := tx.AppendEvent(&other); err != nil {
			return err
		}
		if other.Seq != 1 {
			t.Errorf("got seq %d for the first event of another plan", other.Seq)
		}
		return nil
	})
	for _, c := range []struct {
		after int64
		limit int
		want  []plan.Event
	}{{0, 0, all}, {2, 0, all[2:]}, {2, 2, all[2:4]}, {4, 9, all[4:]}, {5, 0, nil}, {99, 0, nil}} {
		w.view(t, func(tx engine.Tx) error {
			same(t, fmt.Sprintf("events after %d, at most %d", c.after, c.limit), c.want, func() ([]plan.Event, error) {
				return tx.Events(w.plans[0].ID, c.after, c.limit)
			})
			return nil
		})
	}
	w.fails(t, fault.NotFound, func(tx engine.Tx) error { return tx.AppendEvent(&plan.Event{Plan: "none"}) })
	bad := plan.Event{Plan: w.plans[0].ID, Data: []byte("{")}
	w.fails(t, fault.Invalid, func(tx engine.Tx) error { return tx.AppendEvent(&bad) })
}

func testClaims(t *testing.T, w *world) {
	id, at := w.plans[0].ID, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	holder := func(want string) {
		t.Helper()
		w.view(t, func(tx engine.Tx) error {
			same(t, "holder", want, func() (string, error) { return tx.Holder(id) })
			return nil
		})
	}
	holder("")
	w.update(t, func(tx engine.Tx) error { return tx.Claim(id, "a", at) })
	w.update(t, func(tx engine.Tx) error { return tx.Claim(id, "a", at.Add(time.Second)) })
	w.update(t, func(tx engine.Tx) error { return tx.Claim(w.plans[1].ID, "b", at) }) // another plan
	err := w.fails(t, fault.Busy, func(tx engine.Tx) error { return tx.Claim(id, "b", at) })
	if got := fault.As(err).Details["holder"]; got != "a" {
		t.Errorf("got detail holder %v, want a", got)
	}
	w.update(t, func(tx engine.Tx) error { return tx.Release(id, "b") }) // not the holder: nothing happens
	holder("a")
	w.update(t, func(tx engine.Tx) error { return tx.Release(id, "a") })
	w.update(t, func(tx engine.Tx) error { return tx.Release(id, "a") })
	holder("")
	w.update(t, func(tx engine.Tx) error {
		// A claim that fails leaves the transaction usable.
		wantKind(t, tx.Claim(w.plans[1].ID, "a", at), fault.Busy)
		return tx.Claim(id, "a", at)
	})
	holder("a")
	w.fails(t, fault.NotFound, func(tx engine.Tx) error { return tx.Claim("none", "a", at) })
}

func testApprovals(t *testing.T, w *world) {
	var as []plan.Approval
	for i, state := range []plan.ApprovalState{plan.Open, plan.Approved, plan.Open} {
		a := filled[plan.Approval](t, w.f)
		a.ID, a.Plan, a.State = ident.ApprovalID(w.ids.New()), w.plans[i/2].ID, state
		as = append(as, a)
		w.update(t, func(tx engine.Tx) error { return tx.InsertApproval(a) })
	}
	w.fails(t, fault.Exists, func(tx engine.Tx) error { return tx.InsertApproval(as[0]) })
	check := func() {
		t.Helper()
		for _, c := range []struct {
			plan ident.PlanID
			open bool
		}{{"", false}, {"", true}, {w.plans[0].ID, false}, {w.plans[0].ID, true}, {w.plans[1].ID, true}} {
			want := slices.DeleteFunc(slices.Clone(as), func(a plan.Approval) bool {
				return c.plan != "" && a.Plan != c.plan || c.open && a.State != plan.Open
			})
			if len(want) == 0 {
				want = nil
			}
			w.view(t, func(tx engine.Tx) error {
				same(t, fmt.Sprintf("approvals %+v", c), want, func() ([]plan.Approval, error) { return tx.Approvals(c.plan, c.open) })
				return nil
			})
		}
	}
	check()
	next := filled[plan.Approval](t, w.f)
	next.ID, next.Plan = as[0].ID, as[0].Plan
	as[0] = next
	w.update(t, func(tx engine.Tx) error { return tx.UpdateApproval(next) })
	check()
	w.view(t, func(tx engine.Tx) error {
		same(t, "approval", next, func() (plan.Approval, error) { return tx.Approval(next.ID) })
		absent(t, "approval", func() (plan.Approval, error) { return tx.Approval("none") })
		return nil
	})
	w.fails(t, fault.NotFound, func(tx engine.Tx) error { return tx.UpdateApproval(plan.Approval{ID: "none"}) })
	w.fails(t, fault.NotFound, func(tx engine.Tx) error {
		return tx.InsertApproval(plan.Approval{ID: ident.ApprovalID(w.ids.New()), Plan: "none"})
	})
}
