package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/policy"
)

func allPhases() []plan.Phase {
	return []plan.Phase{plan.PhaseAction, plan.PhaseStrategize, plan.PhaseExecute, plan.PhaseApply}
}

func allStates() []plan.State {
	return []plan.State{plan.Queued, plan.Running, plan.Waiting, plan.Paused, plan.Blocked, plan.Complete,
		plan.Applied, plan.Constrained, plan.Errored, plan.Cancelled}
}

func allTriggers() []plan.Trigger {
	return []plan.Trigger{plan.Begin, plan.Finish, plan.Ask, plan.Answer, plan.Pause, plan.Block, plan.Resume, plan.Retry, plan.Throttle,
		plan.Reopen, plan.Fail, plan.Arrive, plan.Collide, plan.Retreat, plan.Rollback, plan.Cancel}
}

// Every pair of a status and a trigger is either a row of the table or an error
// that says what is possible, and no pair has two outcomes.
func TestNext(t *testing.T) {
	type move struct {
		from plan.Status
		on   plan.Trigger
	}
	table := map[move]plan.Status{}
	out := map[plan.Status][]string{}
	for _, r := range plan.Transitions() {
		if to, ok := table[move{r.From, r.On}]; ok {
			t.Errorf("%s on %s leads to %s and to %s", r.From, r.On, to, r.To)
		}
		if !slices.Contains(allTriggers(), r.On) {
			t.Errorf("the trigger %s is not tested", r.On)
		}
		table[move{r.From, r.On}] = r.To
		out[r.From] = append(out[r.From], string(r.On))
	}
	for _, p := range allPhases() {
		for _, s := range allStates() {
			for _, on := range allTriggers() {
				from := plan.Status{Phase: p, State: s}
				got, err := plan.Next(from, on)
				want, legal := table[move{from, on}]
				if legal {
					if err != nil || got != want {
						t.Errorf("%s on %s: got %s, %v, want %s", from, on, got, err, want)
					}
					continue
				}
				if !fault.Is(err, fault.Conflict) || fault.CodeOf(err) != "IllegalTransition" || got != (plan.Status{}) {
					t.Errorf("%s on %s: got %s, %v, want a conflict", from, on, got, err)
					continue
				}
				for _, can := range out[from] {
					if !strings.Contains(err.Error(), can) {
						t.Errorf("%s on %s: %q does not say that it can %s", from, on, err, can)
					}
				}
				if len(out[from]) == 0 && !strings.Contains(err.Error(), "final") {
					t.Errorf("%s on %s: %q does not say that it is final", from, on, err)
				}
			}
		}
	}
}

// The few moves that carry the meaning of the phases; the rest follows the table.
func TestTheWayThrough(t *testing.T) {
	at := plan.Status{Phase: plan.PhaseAction, State: plan.Queued}
	for _, step := range []struct {
		on plan.Trigger
		to string
	}{
		{plan.Begin, "strategize/running"}, {plan.Ask, "strategize/waiting"}, {plan.Resume, "strategize/running"},
		{plan.Finish, "strategize/complete"}, {plan.Ask, "strategize/waiting"}, {plan.Answer, "strategize/complete"},
		{plan.Begin, "execute/running"}, {plan.Block, "execute/blocked"}, {plan.Resume, "execute/running"},
		{plan.Pause, "execute/paused"}, {plan.Resume, "execute/running"}, {plan.Finish, "execute/complete"},
		{plan.Reopen, "execute/running"}, {plan.Finish, "execute/complete"},
		{plan.Begin, "apply/running"}, {plan.Collide, "apply/constrained"}, {plan.Resume, "apply/running"},
		{plan.Fail, "apply/errored"}, {plan.Resume, "apply/running"}, {plan.Arrive, "apply/applied"},
	} {
		next, err := plan.Next(at, step.on)
		if err != nil || next.String() != step.to {
			t.Fatalf("%s on %s: got %s, %v, want %s", at, step.on, next, err, step.to)
		}
		at = next
	}
	if !at.Terminal() {
		t.Errorf("%s is not final", at)
	}
}

// Final statuses have no way out; every other one that a plan can be in can be
// given up, and can still be applied.
func TestEveryStatusEnds(t *testing.T) {
	next := map[plan.Status][]plan.Status{}
	rows := plan.Transitions()
	for _, r := range rows {
		next[r.From] = append(next[r.From], r.To)
	}
	reach := func(from plan.Status) []plan.Status {
		queue := []plan.Status{from}
		for i := 0; i < len(queue); i++ {
			for _, s := range next[queue[i]] {
				if !slices.Contains(queue, s) {
					queue = append(queue, s)
				}
			}
		}
		return queue
	}
	applied := plan.Status{Phase: plan.PhaseApply, State: plan.Applied}
	all := reach(rows[0].From)
	for _, s := range all {
		if s.Terminal() {
			if len(next[s]) > 0 {
				t.Errorf("%s is final and leads to %s", s, next[s])
			}
			continue
		}
		if !slices.Contains(reach(s), applied) {
			t.Errorf("%s cannot reach %s", s, applied)
		}
		cancel, err := plan.Next(s, plan.Cancel)
		if err != nil || cancel.State != plan.Cancelled || cancel.Phase != s.Phase {
			t.Errorf("%s cannot be given up: %s, %v", s, cancel, err)
		}
	}
	for _, r := range rows {
		if !slices.Contains(all, r.From) {
			t.Errorf("no plan can be in %s", r.From)
		}
	}
}

func TestTasksOfPhases(t *testing.T) {
	for _, c := range []struct {
		phase        plan.Phase
		gate, decide policy.Task
	}{
		{plan.PhaseAction, policy.EnterStrategize, policy.DecideExecution},
		{plan.PhaseStrategize, policy.EnterExecute, policy.DecideStrategy},
		{plan.PhaseExecute, policy.EnterApply, policy.DecideExecution},
	} {
		if got := plan.GateTask(c.phase); got != c.gate {
			t.Errorf("the gate after %s is %s, want %s", c.phase, got, c.gate)
		}
		if got := plan.DecideTask(c.phase); got != c.decide {
			t.Errorf("decisions in %s are %s, want %s", c.phase, got, c.decide)
		}
	}
}

func TestModelTypes(t *testing.T) {
	strategy, execution := plan.ModelTypes(plan.PhaseStrategize), plan.ModelTypes(plan.PhaseExecute)
	for _, own := range []plan.DecisionType{plan.PromptDefinition, plan.InvariantEnforced, plan.UserIntervention, plan.SubplanSpawn, plan.SubplanParallelSpawn} {
		if slices.Contains(strategy, own) || slices.Contains(execution, own) {
			t.Errorf("a model may record %s", own)
		}
	}
	if !slices.Contains(strategy, plan.StrategyChoice) || slices.Contains(execution, plan.StrategyChoice) ||
		!slices.Contains(execution, plan.ImplementationChoice) || slices.Contains(strategy, plan.ImplementationChoice) {
		t.Errorf("got %s and %s", strategy, execution)
	}
}

func decision(id, parent string) plan.Decision {
	return plan.Decision{ID: ident.DecisionID(id), Parent: ident.DecisionID(parent)}
}

// shape writes a forest as a(b c(d)).
func shape(forest []*plan.Tree) string {
	var parts []string
	for _, n := range forest {
		s := string(n.Decision.ID)
		if len(n.Children) > 0 {
			s += "(" + shape(n.Children) + ")"
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, " ")
}

func TestBuildTree(t *testing.T) {
	for want, ds := range map[string][]plan.Decision{
		"":            nil,
		"a":           {decision("a", "")},
		"a(b(d) c) e": {decision("a", ""), decision("b", "a"), decision("c", "a"), decision("d", "b"), decision("e", "")},
		"a(c) b":      {decision("a", ""), decision("b", "gone"), decision("c", "a")},
		"b s":         {decision("b", "later"), decision("s", "s")},
		"x(y)":        {decision("x", "y"), decision("y", "x")}, // a circle is cut, not lost
	} {
		if got := shape(plan.BuildTree(ds)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Whatever the parents say, every decision is in the forest once.
func TestBuildTreeLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ds []plan.Decision
		var want []string
		for i := range rapid.IntRange(0, 12).Draw(t, "n") {
			id := string(rune('a' + i))
			want = append(want, id)
			ds = append(ds, decision(id, rapid.StringMatching(`[a-m]?`).Draw(t, "parent")))
		}
		var got []string
		var visit func(forest []*plan.Tree)
		visit = func(forest []*plan.Tree) {
			for _, n := range forest {
				got = append(got, string(n.Decision.ID))
				visit(n.Children)
			}
		}
		visit(plan.BuildTree(ds))
		slices.Sort(got)
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
	})
}

func TestDownstream(t *testing.T) {
	edges := []plan.Influence{{Up: "a", Down: "b"}, {Up: "a", Down: "c"}, {Up: "b", Down: "d"}, {Up: "c", Down: "d"}, {Up: "d", Down: "a"}, {Up: "x", Down: "a"}}
	if d := cmp.Diff([]ident.DecisionID{"b", "c", "d"}, plan.Downstream("a", edges)); d != "" {
		t.Error(d)
	}
	if got := plan.Downstream("nobody", edges); len(got) != 0 {
		t.Errorf("got %s", got)
	}
}

// Against the definition: a decision depends on from when an edge leads to it
// from from or from one that depends on it.
func TestDownstreamIsTheClosure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		node := rapid.Map(rapid.IntRange(0, 8), func(i int) ident.DecisionID { return ident.DecisionID(rune('a' + i)) })
		edges := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) plan.Influence {
			return plan.Influence{Up: node.Draw(t, "up"), Down: node.Draw(t, "down")}
		}), 0, 25).Draw(t, "edges")
		from := node.Draw(t, "from")

		depends := map[ident.DecisionID]bool{}
		for grown := true; grown; {
			grown = false
			for _, e := range edges {
				if (e.Up == from || depends[e.Up]) && !depends[e.Down] && e.Down != from {
					depends[e.Down], grown = true, true
				}
			}
		}
		got := plan.Downstream(from, edges)
		for _, id := range got {
			if !depends[id] {
				t.Fatalf("%s is there twice or does not depend on %s: %s, %+v", id, from, got, edges)
			}
			delete(depends, id)
		}
		if len(depends) > 0 {
			t.Fatalf("%v are missing: %s, %+v", depends, got, edges)
		}
	})
}

func TestChangeSetHash(t *testing.T) {
	base := plan.Change{Resource: "R", Path: "a/b", Before: plan.FileState{Kind: plan.Absent},
		After: plan.FileState{Kind: plan.Regular, Mode: 0o644, Size: 3, Hash: "h"}}
	hash := func(cs ...plan.Change) string { return plan.ChangeSet(cs).Hash() }
	for name, change := range map[string]func(*plan.Change){
		"resource": func(c *plan.Change) { c.Resource = "S" },
		"path":     func(c *plan.Change) { c.Path = "a/c" },
		"before":   func(c *plan.Change) { c.Before = plan.FileState{Kind: plan.Regular, Hash: "g"} },
		"kind":     func(c *plan.Change) { c.After.Kind = plan.Symlink },
		"mode":     func(c *plan.Change) { c.After.Mode = 0o755 },
		"size":     func(c *plan.Change) { c.After.Size = 4 },
		"content":  func(c *plan.Change) { c.After.Hash = "i" },
	} {
		c := base
		change(&c)
		if hash(c) == hash(base) {
			t.Errorf("another %s has the same hash", name)
		}
	}
	if hash(base, base) == hash(base) || hash() == hash(base) {
		t.Error("the number of changes does not count")
	}
	if plan.ChangeSet(nil).Hash() != (plan.ChangeSet{}).Hash() || len(hash()) != 64 {
		t.Error("no changes have two hashes, or not a SHA-256")
	}
}

// The hash of a sorted set does not depend on the order that the changes came in.
func TestChangeSetSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.Custom(func(t *rapid.T) plan.Change {
			return plan.Change{
				Resource: ident.ResourceID(rapid.SampledFrom([]string{"R", "S"}).Draw(t, "resource")),
				Path:     rapid.StringMatching(`[ab/]{1,4}`).Draw(t, "path"),
			}
		})
		key := func(c plan.Change) string { return string(c.Resource) + " " + c.Path }
		set := plan.ChangeSet(rapid.SliceOfNDistinct(one, 0, 8, key).Draw(t, "set"))
		other := plan.ChangeSet(rapid.Permutation(set).Draw(t, "order"))
		set.Sort()
		other.Sort()
		if !slices.Equal(set, other) {
			t.Fatalf("got %v and %v", set, other)
		}
		if set.Hash() != other.Hash() {
			t.Fatal("equal sets, different hashes")
		}
		if !slices.IsSortedFunc(set, func(a, b plan.Change) int { return strings.Compare(key(a), key(b)) }) {
			t.Fatalf("not sorted by resource and path: %v", set)
		}
	})
}

func TestFileStateSame(t *testing.T) {
	f := plan.FileState{Kind: plan.Regular, Mode: 0o644, Size: 1, Hash: "h"}
	for name, c := range map[string]struct {
		change func(*plan.FileState)
		want   bool
	}{
		"nothing": {func(*plan.FileState) {}, true},
		"kind":    {func(f *plan.FileState) { f.Kind = plan.Symlink }, false},
		"mode":    {func(f *plan.FileState) { f.Mode = 0o755 }, false},
		"bytes":   {func(f *plan.FileState) { f.Hash = "i" }, false},
	} {
		g := f
		c.change(&g)
		if f.Same(g) != c.want || g.Same(f) != c.want {
			t.Errorf("%s: got %v", name, f.Same(g))
		}
	}
}

func TestActors(t *testing.T) {
	p := plan.Plan{Strategy: actor.Config{Name: "s"}, Execution: actor.Config{Name: "e"}}
	for want, change := range map[string]func(){"s e ": func() {}, "s e i ": func() { p.Invariant = &actor.Config{Name: "i"} }} {
		p.Estimation, p.Invariant = nil, nil
		change()
		got := ""
		for _, a := range p.Actors() {
			got += a.Name + " "
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	p.Estimation = &actor.Config{Name: "g"}
	if all := p.Actors(); all[2].Name != "g" {
		t.Errorf("got %v", all)
	}
}
