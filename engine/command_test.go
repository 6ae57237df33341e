package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cleveragents/agents/action"
	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

func command(args map[string]string, profile string) engine.UseInput {
	return engine.UseInput{Action: "builtin/command", Args: args, Profile: profile}
}

func TestCommandIsAppliedWhenTheValidationPasses(t *testing.T) {
	tree := t.TempDir()
	write(t, tree, map[string]string{"a.txt": "one\n", "b.txt": "two\n"})
	w := newWorld(t, t.TempDir(), tree, noModel{}, nil, nil)
	p := w.run(w.use(command(map[string]string{
		"command": "sed -i s/one/eins/ a.txt; rm b.txt; echo new > c.txt", "validate": "grep -q eins a.txt",
	}, "ci")), "")
	w.status(p, plan.Applied)
	if got := read(t, tree, "a.txt"); got != "eins\n" {
		t.Errorf("a.txt is %q", got)
	}
	if got := read(t, tree, "c.txt"); got != "new\n" {
		t.Errorf("c.txt is %q", got)
	}
	w.view(func(tx engine.Tx) error {
		hunks, err := tx.Hunks(p.ID)
		if len(hunks) != 3 {
			t.Errorf("%d hunks, want 3", len(hunks))
		}
		for _, h := range hunks {
			if h.Origin != evidence.Untracked || h.ToolCall == "" || h.Decision == "" {
				t.Errorf("hunk of %s: origin %s, tool call %q, decision %q", h.Path, h.Origin, h.ToolCall, h.Decision)
			}
		}
		return err
	})
}

func TestCommandThatBreaksTheValidationChangesNothing(t *testing.T) {
	tree := t.TempDir()
	write(t, tree, map[string]string{"a.txt": "one\n"})
	w := newWorld(t, t.TempDir(), tree, noModel{}, nil, nil)
	p := w.run(w.use(command(map[string]string{"command": "echo broken > a.txt", "validate": "grep -q one a.txt"}, "ci")), "")
	w.status(p, plan.Errored)
	if p.Fault != fault.ValidationFailed.String() {
		t.Errorf("the fault is %s", p.Fault)
	}
	if got := read(t, tree, "a.txt"); got != "one\n" {
		t.Errorf("a.txt is %q", got)
	}
}

func TestManualProfileStopsAtEveryPhase(t *testing.T) {
	tree := t.TempDir()
	write(t, tree, map[string]string{"a.txt": "one\n"})
	w := newWorld(t, t.TempDir(), tree, noModel{}, nil, nil)
	p := w.run(w.use(command(map[string]string{"command": "echo two > a.txt"}, "manual")), "")
	w.status(p, plan.Waiting)
	for _, phase := range []plan.Phase{plan.PhaseStrategize, plan.PhaseExecute} {
		p = w.run(p, phase)
		for p.Phase == phase && w.approveDecisions(p) > 0 {
			p = w.run(p, "")
		}
		w.status(p, plan.Waiting)
		if p.Phase != phase {
			t.Fatalf("the plan is %s, want it to wait in %s", p.Status, phase)
		}
	}
	if got := read(t, tree, "a.txt"); got != "one\n" {
		t.Errorf("a.txt is %q before apply", got)
	}
	p = w.run(p, plan.PhaseApply)
	w.status(p, plan.Applied)
	if got := read(t, tree, "a.txt"); got != "two\n" {
		t.Errorf("a.txt is %q after apply", got)
	}
}

// approveDecisions says yes to every open question about a decision.
func (w *world) approveDecisions(p plan.Plan) (n int) {
	w.t.Helper()
	var open []plan.Approval
	w.view(func(tx engine.Tx) (err error) {
		open, err = tx.Approvals(p.ID, true)
		return err
	})
	for _, a := range open {
		if a.Kind != plan.ApproveDecision {
			continue
		}
		_, err := w.Decide(context.Background(), a.ID, true, "")
		must(w.t, err)
		n++
	}
	return n
}

// T34: the part of Apply's first form.
func TestApplyIsRefusedWhenTheBaseMoved(t *testing.T) {
	tree := t.TempDir()
	write(t, tree, map[string]string{"a.txt": "one\n", "b.txt": "b\n"})
	w := newWorld(t, t.TempDir(), tree, noModel{}, nil, nil)
	p := w.run(w.use(command(map[string]string{"command": "echo two > a.txt; echo bb > b.txt"}, "auto")), "")
	w.status(p, plan.Waiting)
	write(t, tree, map[string]string{"b.txt": "mine\n"})
	p = w.run(p, plan.PhaseApply)
	w.status(p, plan.Constrained)
	if a, b := read(t, tree, "a.txt"), read(t, tree, "b.txt"); a != "one\n" || b != "mine\n" {
		t.Errorf("something was written: a.txt %q, b.txt %q", a, b)
	}
	write(t, tree, map[string]string{"b.txt": "b\n"})
	p = w.run(p, "")
	w.status(p, plan.Applied)
}

// A sandbox that is lost is made again from the snapshot and the record; it is
// not taken for a person who reverted everything.
func TestALostSandboxIsMadeAgain(t *testing.T) {
	tree, data := t.TempDir(), t.TempDir()
	write(t, tree, map[string]string{"a.txt": "one\n", "gone.txt": "x\n"})
	w := newWorld(t, data, tree, noModel{}, nil, nil)
	p := w.run(w.use(command(map[string]string{"command": "echo two > a.txt; rm gone.txt; echo new > b.txt"}, "auto")), "")
	w.status(p, plan.Waiting)
	must(t, os.RemoveAll(filepath.Join(data, "trees", "plans", string(p.ID))))
	p = w.run(p, plan.PhaseApply)
	w.status(p, plan.Applied)
	if a, b := read(t, tree, "a.txt"), read(t, tree, "b.txt"); a != "two\n" || b != "new\n" {
		t.Errorf("a.txt is %q, b.txt %q", a, b)
	}
	w.view(func(tx engine.Tx) error {
		hunks, err := tx.Hunks(p.ID)
		for _, h := range hunks {
			if h.Origin == evidence.Human {
				t.Errorf("%s is said to be changed by a person", h.Path)
			}
		}
		gaps, gerr := tx.Gaps(p.ID)
		if n := len(gaps); n == 0 || !strings.Contains(gaps[n-1].Detail, "made again") {
			t.Errorf("no gap tells of it: %+v", gaps)
		}
		return errors.Join(err, gerr)
	})
}

// The order to enter a phase is the answer to the question at its gate.
func TestAnOrderAnswersTheGate(t *testing.T) {
	tree := t.TempDir()
	write(t, tree, map[string]string{"a.txt": "one\n"})
	w := newWorld(t, t.TempDir(), tree, noModel{}, nil, nil)
	p := w.run(w.use(command(map[string]string{"command": "echo two > a.txt"}, "auto")), "")
	w.status(p, plan.Waiting)
	p = w.run(p, plan.PhaseApply)
	w.status(p, plan.Applied)
	w.view(func(tx engine.Tx) error {
		all, err := tx.Approvals(p.ID, false)
		if len(all) != 1 || all[0].State != plan.Used || all[0].Decided == nil {
			t.Errorf("the approvals are %+v", all)
		}
		return err
	})
}

// A graph that goes in a circle is stopped as a loop, and one whose arguments the
// tool does not take is a fault of the actor.
func TestGraphsThatGoWrong(t *testing.T) {
	node := func(id, tool, next string, with map[string]any) actor.Node {
		return actor.Node{ID: id, Tool: tool, Next: next, With: with}
	}
	list := map[string]any{"path": "."}
	for name, c := range map[string]struct {
		graph []actor.Node
		state plan.State
		fault fault.Kind
		calls int
	}{
		"a circle":       {[]actor.Node{node("a", "builtin/list", "a", list)}, plan.Errored, fault.Invalid, 6},
		"a wide circle":  {[]actor.Node{node("a", "builtin/list", "b", list), node("b", "builtin/list", "a", list)}, plan.Errored, fault.Invalid, 6},
		"bad arguments":  {[]actor.Node{node("a", "builtin/list", "", map[string]any{"nope": 1})}, plan.Errored, fault.Invalid, 1},
		"a failing tool": {[]actor.Node{node("a", "builtin/shell", "", map[string]any{"script": "exit 3"})}, plan.Errored, fault.ValidationFailed, 1},
	} {
		t.Run(name, func(t *testing.T) {
			act := action.Action{
				Name: "local/a", Description: "d", DefinitionOfDone: "d", State: action.Available,
				StrategyActor: "builtin/command-strategy", ExecutionActor: "local/g",
				Args: []action.Arg{{Name: "command", Type: action.Text}},
			}
			g := actor.Config{Name: "local/g", Graph: c.graph}
			w := newWorld(t, t.TempDir(), t.TempDir(), noModel{}, []action.Action{act}, []actor.Config{g})
			p := w.run(w.use(engine.UseInput{Action: "local/a", Profile: "ci"}), "")
			w.status(p, c.state)
			if p.Fault != c.fault.String() {
				t.Errorf("the fault is %s (%s), want %s", p.Fault, p.Reason, c.fault)
			}
			w.view(func(tx engine.Tx) error {
				all, err := tx.ToolCalls(p.ID)
				n := 0
				for _, tc := range all {
					if tc.Phase == plan.PhaseExecute {
						n++
					}
				}
				if n != c.calls {
					t.Errorf("%d tool calls, want %d", n, c.calls)
				}
				return err
			})
		})
	}
}

// An Apply that was cut short and is given up is taken back.
func TestCancelTakesAHalfAppliedPlanBack(t *testing.T) {
	tree := t.TempDir()
	files := map[string]string{"a.txt": "a\n", "b.txt": "b\n", "gone.txt": "g\n", "theirs.txt": "t\n"}
	write(t, tree, files)
	w := newWorld(t, t.TempDir(), tree, noModel{}, nil, nil)
	p := w.run(w.use(command(map[string]string{"command": "echo A > a.txt; echo B > b.txt; rm gone.txt; echo T > theirs.txt; echo new > new.txt"}, "auto")), "")
	w.status(p, plan.Waiting)
	// It stops in the middle, where somebody edits a file that is still to come.
	edited := false
	w.fault = func(op, path string) error {
		if op == "exchange" && path == "b.txt" && !edited {
			edited = true
			write(t, tree, map[string]string{"theirs.txt": "mine\n"})
		}
		return nil
	}
	p = w.run(p, plan.PhaseApply)
	w.status(p, plan.Constrained)
	if got := read(t, tree, "a.txt"); got != "A\n" {
		t.Fatalf("a.txt is %q: it did not stop in the middle", got)
	}
	must(t, w.Cancel(context.Background(), p.ID, "", false))
	w.status(w.plan(p.ID), plan.Cancelled)
	files["theirs.txt"] = "mine\n" // changed by somebody else: not ours to touch
	for name, want := range files {
		if got := read(t, tree, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if _, err := os.Lstat(filepath.Join(tree, "new.txt")); err == nil {
		t.Error("new.txt is still there")
	}
}
