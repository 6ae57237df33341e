package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
