package engine_test

import (
	"context"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/tool"
)

// apply orders an apply as a person may, and returns the plan as it is then.
func (w *world) apply(p plan.Plan, in engine.ApplyInput) plan.Plan {
	w.t.Helper()
	must(w.t, w.Apply(context.Background(), p.ID, in, func(e plan.Event) { w.events = append(w.events, e) }))
	return w.plan(p.ID)
}

// exec is the hash of what of a plan's changes runs by itself.
func (w *world) exec(p plan.Plan, only ...string) string {
	w.t.Helper()
	set, err := w.ToApply(context.Background(), p.ID, only)
	must(w.t, err)
	_, bound, err := w.Executable(context.Background(), set)
	must(w.t, err)
	return bound
}

// T11: what runs by itself waits for an approval of its own in every profile but
// full-auto, whether it was there before or not; nothing at all is written
// before that.
func TestExecutableConfigurationWaits(t *testing.T) {
	for _, profile := range []string{"manual", "review", "supervised", "cautious", "trusted", "auto", "ci", "full-auto"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			tree := t.TempDir()
			write(t, tree, map[string]string{"Makefile": "all:\n", "a.txt": "one\n"})
			w := newWorld(t, t.TempDir(), tree, noModel{}, nil, nil)
			p := w.use(command(map[string]string{"command": "echo x >> Makefile; mkdir -p .github/workflows; echo on > .github/workflows/ci.yml; echo two > a.txt"}, profile))
			order := plan.Phase("")
			for range 12 { // whoever is asked says yes, but to that
				p = w.run(p, order)
				order = ""
				if p.Terminal() {
					break
				}
				if p.State == plan.Complete || p.State == plan.Queued {
					order = map[plan.Phase]plan.Phase{plan.PhaseAction: plan.PhaseStrategize, plan.PhaseStrategize: plan.PhaseExecute, plan.PhaseExecute: plan.PhaseApply}[p.Phase]
					continue
				}
				w.status(p, plan.Waiting)
				a := w.open(p)
				if a.Kind == plan.ApproveExec {
					break
				}
				_, err := w.Decide(context.Background(), a.ID, true, "")
				must(t, err)
			}
			if profile == "full-auto" {
				w.status(p, plan.Applied)
				return
			}
			w.status(p, plan.Waiting)
			a := w.open(p)
			if a.Kind != plan.ApproveExec || a.Bound != w.exec(p) {
				t.Fatalf("the question is %s %s, bound to %.8s", a.Kind, a.Subject, a.Bound)
			}
			contains(t, "the question", a.Summary, "Makefile (build)", ".github/workflows/ci.yml (CI)")
			if strings.Contains(a.Summary, "a.txt") || read(t, tree, "a.txt") != "one\n" {
				t.Errorf("%q, a.txt is %q", a.Summary, read(t, tree, "a.txt"))
			}
			_, err := w.Decide(context.Background(), a.ID, true, "")
			must(t, err)
			p = w.run(p, plan.PhaseApply)
			w.status(p, plan.Applied)
			if read(t, tree, "Makefile") != "all:\nx\n" {
				t.Error("it was not applied")
			}
			w.audit()
		})
	}
}

// T11, T23: the yes is for exactly what was shown.
func TestApprovalOfWhatRunsByItselfIsBound(t *testing.T) {
	files := map[string]string{"a.txt": "one\n"}
	const script = "echo all: > Makefile; echo two > a.txt; mkdir d; echo x > d/.envrc"
	t.Run("with the order", func(t *testing.T) {
		w, p := commandPlan(t, files, script)
		p = w.apply(p, engine.ApplyInput{Executable: strings.Repeat("0", 64)})
		w.status(p, plan.Waiting) // for something else
		p = w.apply(p, engine.ApplyInput{Executable: w.exec(p)})
		w.status(p, plan.Applied)
		states := map[plan.ApprovalState]int{}
		for _, a := range w.records(p.ID).approvals {
			if a.Kind == plan.ApproveExec {
				states[a.State]++
			}
		}
		if diff := cmp.Diff(map[plan.ApprovalState]int{plan.Lapsed: 2}, states); diff != "" {
			t.Errorf("the approvals:\n%s", diff)
		}
	})
	t.Run("of a part", func(t *testing.T) {
		w, p := commandPlan(t, files, script)
		p = w.apply(p, engine.ApplyInput{ApplyOrder: plan.ApplyOrder{Only: []string{"d"}}, Executable: w.exec(p, "d")})
		w.status(p, plan.Complete)
		if read(t, w.tree, "d/.envrc") != "x\n" {
			t.Error("the part was not applied")
		}
		p = w.apply(p, engine.ApplyInput{}) // the Makefile was not shown
		w.status(p, plan.Waiting)
		contains(t, "the question", w.open(p).Summary, "Makefile")
		if strings.Contains(w.open(p).Summary, "envrc") {
			t.Error("it asks about what is applied")
		}
		p = w.apply(p, engine.ApplyInput{ApplyOrder: plan.ApplyOrder{Only: []string{"a.txt"}}}) // nothing of it runs by itself
		w.status(p, plan.Complete)
		if read(t, w.tree, "a.txt") != "two\n" {
			t.Error("a.txt was not applied")
		}
	})
	t.Run("no", func(t *testing.T) {
		w, p := commandPlan(t, files, script)
		p = w.apply(p, engine.ApplyInput{})
		_, err := w.Decide(context.Background(), w.open(p).ID, false, "")
		must(t, err)
		p = w.run(p, "")
		w.status(p, plan.Paused)
		if read(t, w.tree, "a.txt") != "one\n" {
			t.Error("something was applied")
		}
	})
	t.Run("inside apply", func(t *testing.T) { // whatever let the plan get there
		w, p := commandPlan(t, files, script)
		w.setPlan(p.ID, func(p *plan.Plan) { p.Status = plan.Status{Phase: plan.PhaseApply, State: plan.Running} })
		p = w.run(p, "")
		w.status(p, plan.Waiting)
		if read(t, w.tree, "a.txt") != "one\n" {
			t.Error("something was applied")
		}
	})
}

// A part of the changes is applied, the rest stays in the plan, and later
// changes go on from there.
func TestApplyOnly(t *testing.T) {
	w, p := commandPlan(t, map[string]string{"a.txt": "one\n", "d/b.txt": "one\n", "gone.txt": "x\n", "file": "f\n"},
		"echo two > a.txt; echo two > d/b.txt; rm gone.txt file; mkdir file; echo in > file/in.txt")
	p = w.apply(p, engine.ApplyInput{ApplyOrder: plan.ApplyOrder{Only: []string{"d/", "file/in.txt"}}})
	w.status(p, plan.Complete)
	contains(t, "the reason", p.Reason, "2 of 5 changed files stay in the plan")
	if diff := cmp.Diff(map[string]string{"a.txt": "one\n", "d/b.txt": "two\n", "gone.txt": "x\n", "file/in.txt": "in\n"}, files(t, w.tree)); diff != "" {
		t.Errorf("after the part:\n%s", diff)
	}
	if err := w.Apply(context.Background(), p.ID, engine.ApplyInput{ApplyOrder: plan.ApplyOrder{Only: []string{"d"}}}, nil); !fault.Is(err, fault.NotFound) {
		t.Errorf("the same part again: %v", err)
	}
	// What a person does with what is applied is not the plan's any more.
	write(t, w.tree, map[string]string{"d/b.txt": "mine\n"})
	p = w.apply(p, engine.ApplyInput{})
	w.status(p, plan.Applied)
	if diff := cmp.Diff(map[string]string{"a.txt": "two\n", "d/b.txt": "mine\n", "file/in.txt": "in\n"}, files(t, w.tree)); diff != "" {
		t.Errorf("after the rest:\n%s", diff)
	}
	if n := len(p.Landed); n != 2 || w.trees(p) > 0 {
		t.Errorf("%d landings, %d trees", n, w.trees(p))
	}
}

// T39: a part is validated as that part, over the tree as it will be.
func TestApplyOnlyValidatesThePart(t *testing.T) {
	tree := t.TempDir()
	write(t, tree, map[string]string{"a.txt": "one\n", "b.txt": "one\n", "c.txt": "one\n"})
	w := newWorld(t, t.TempDir(), tree, noModel{}, nil, nil)
	p := w.run(w.use(command(map[string]string{"command": "for f in a b c; do echo two > $f.txt; done", "validate": "cmp a.txt b.txt"}, "auto")), "")
	w.status(p, plan.Waiting)
	before, gaps := len(w.records(p.ID).results), len(w.records(p.ID).gaps)
	err := w.Apply(context.Background(), p.ID, engine.ApplyInput{ApplyOrder: plan.ApplyOrder{Only: []string{"a.txt"}}}, nil)
	if !fault.Is(err, fault.ValidationFailed) || read(t, tree, "a.txt") != "one\n" {
		t.Fatalf("a part that does not pass: %v, a.txt is %q", err, read(t, tree, "a.txt"))
	}
	p = w.apply(w.plan(p.ID), engine.ApplyInput{ApplyOrder: plan.ApplyOrder{Only: []string{"a.txt", "b.txt"}}})
	w.status(p, plan.Complete)
	if diff := cmp.Diff(map[string]string{"a.txt": "two\n", "b.txt": "two\n", "c.txt": "one\n"}, files(t, tree)); diff != "" {
		t.Errorf("the tree:\n%s", diff)
	}
	if n := len(w.records(p.ID).results) - before; n != 2 {
		t.Errorf("%d more results, want 2", n)
	}
	for _, g := range w.records(p.ID).gaps[gaps:] {
		t.Errorf("the work of ours is taken for a change: %+v", g)
	}
	p = w.apply(p, engine.ApplyInput{})
	w.status(p, plan.Applied)
}

// T35: what stopped at a person's edit is ended either way, and the edit stays.
func TestEndAnApplyThatStopped(t *testing.T) {
	for _, back := range []bool{false, true} {
		w, p := commandPlan(t, map[string]string{"a.txt": "one\n", "b.txt": "one\n"}, "echo two > a.txt; echo two > b.txt")
		w.fault = func(op, path string) error {
			if op == "exchange" && path == "a.txt" {
				write(t, w.tree, map[string]string{"b.txt": "mine\n"})
			}
			return nil
		}
		p = w.apply(p, engine.ApplyInput{})
		w.fault = nil
		w.status(p, plan.Constrained)
		contains(t, "the reason", p.Reason, "changed while it was being applied", "b.txt", "your version stays")
		p = w.apply(p, engine.ApplyInput{}) // a plain one does not decide for the person
		w.status(p, plan.Constrained)
		must(t, w.EndApply(context.Background(), p.ID, back, nil))
		p = w.plan(p.ID)
		want, state := map[string]string{"a.txt": "two\n", "b.txt": "mine\n"}, plan.Applied
		if back {
			want["a.txt"], state = "one\n", plan.Complete
		}
		w.status(p, state)
		contains(t, "the reason", p.Reason, "b.txt")
		if diff := cmp.Diff(want, files(t, w.tree)); diff != "" {
			t.Errorf("back %v:\n%s", back, diff)
		}
		if at, err := w.Target.Stage(context.Background(), p.ID); at != engine.StageNone || err != nil {
			t.Errorf("back %v: the journal says %s, %v", back, at, err)
		}
		if err := w.EndApply(context.Background(), p.ID, back, nil); !fault.Is(err, fault.Conflict) {
			t.Errorf("ending it twice: %v", err)
		}
		w.audit()
	}
}

// A plain apply goes on by itself when the file is again what it was.
func TestStoppedApplyGoesOn(t *testing.T) {
	w, p := commandPlan(t, map[string]string{"a.txt": "one\n", "b.txt": "one\n"}, "echo two > a.txt; echo two > b.txt")
	w.fault = func(op, path string) error {
		if op == "exchange" && path == "a.txt" {
			write(t, w.tree, map[string]string{"b.txt": "mine\n"})
		}
		return nil
	}
	p = w.apply(p, engine.ApplyInput{})
	w.fault = nil
	w.status(p, plan.Constrained)
	write(t, w.tree, map[string]string{"b.txt": "one\n"})
	p = w.apply(p, engine.ApplyInput{ApplyOrder: plan.ApplyOrder{Only: []string{"a.txt"}}}) // the order that is under way counts
	w.status(p, plan.Applied)
}

// T36: a disk that fails leaves a plan that says why, with the files as they
// were, and goes on when the disk is mended.
func TestApplyOnADiskThatFails(t *testing.T) {
	for _, tt := range []struct {
		err  syscall.Errno
		kind fault.Kind
	}{
		{syscall.ENOSPC, fault.Exhausted}, {syscall.EIO, fault.Unavailable}, {syscall.EROFS, fault.Denied},
		{syscall.EACCES, fault.Denied}, {syscall.EDQUOT, fault.Exhausted}, {syscall.EMFILE, fault.Exhausted},
	} {
		for _, at := range []string{"create", "fsync", "exchange"} {
			t.Run(tt.err.Error()+" at "+at, func(t *testing.T) {
				t.Parallel()
				w, p := commandPlan(t, map[string]string{"a.txt": "one\n", "b.txt": "one\n"}, "echo two > a.txt; echo two > b.txt")
				broken := true
				w.fault = func(op, path string) error {
					if broken && op == at && !strings.HasPrefix(path, string(p.ID)) {
						return tt.err
					}
					return nil
				}
				p = w.apply(p, engine.ApplyInput{})
				w.status(p, plan.Errored)
				if p.Fault != tt.kind.String() {
					t.Errorf("the fault is %s, want %s", p.Fault, tt.kind)
				}
				if diff := cmp.Diff(map[string]string{"a.txt": "one\n", "b.txt": "one\n"}, files(t, w.tree)); diff != "" {
					t.Errorf("the tree:\n%s", diff)
				}
				if err := w.Apply(context.Background(), p.ID, engine.ApplyInput{}, nil); err != nil { // once more in vain
					t.Error(err)
				}
				broken = false
				p = w.apply(p, engine.ApplyInput{})
				w.status(p, plan.Applied)
				if diff := cmp.Diff(map[string]string{"a.txt": "two\n", "b.txt": "two\n"}, files(t, w.tree)); diff != "" {
					t.Errorf("the tree, later:\n%s", diff)
				}
			})
		}
	}
}

// T39: what has to be there before anything is written, as a table.
func TestWhatApplyNeeds(t *testing.T) {
	tests := []struct {
		name    string
		mode    tool.Mode
		command string
		damage  func(w *world, p plan.Plan)
		applied bool
	}{
		{"nothing is required", tool.Informational, "false", nil, true},
		{"required and passed", tool.Required, "grep -q two a.txt", nil, true},
		{"required and skipped", tool.Required, " ", nil, true},
		{"required and not passed", tool.Required, "false", nil, false},
		{"passed in an attempt before, and would not now", tool.Required, "test -e $TMPDIR/never", func(w *world, p plan.Plan) {
			w.setPlan(p.ID, func(p *plan.Plan) { p.Attempt++ })
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w, p := commandPlan(t, map[string]string{"a.txt": "one\n"}, "echo two > a.txt")
			w.setPlan(p.ID, func(p *plan.Plan) {
				p.Action.Validations = append(p.Action.Validations, tool.Validation{Name: "v", Mode: tt.mode, Command: tt.command})
			})
			if tt.damage != nil {
				tt.damage(w, p)
			}
			must(t, w.Apply(context.Background(), p.ID, engine.ApplyInput{}, nil))
			p = w.plan(p.ID)
			if (p.State == plan.Applied) != tt.applied {
				t.Fatalf("the plan is %s (%s)", p.Status, p.Reason)
			}
			if want := map[bool]string{true: "two\n", false: "one\n"}[tt.applied]; read(t, w.tree, "a.txt") != want {
				t.Errorf("a.txt is %q", read(t, w.tree, "a.txt"))
			}
		})
	}
}

// A dry run changes nothing, neither files nor records, and says what would stop
// it.
func TestLookApply(t *testing.T) {
	w, p := commandPlan(t, map[string]string{"a.txt": "one\n"}, "echo two > a.txt; echo all: > Makefile")
	events, tree := len(w.records(p.ID).events), listing(t, w.tree)
	for _, tt := range []struct {
		name string
		in   engine.ApplyInput
		do   func()
		stop fault.Kind
		none bool
	}{
		{"what runs by itself", engine.ApplyInput{}, func() {}, fault.Waiting, false},
		{"agreed", engine.ApplyInput{Executable: w.exec(p)}, func() {}, 0, true},
		{"without it", engine.ApplyInput{ApplyOrder: plan.ApplyOrder{Only: []string{"a.txt"}}}, func() {}, 0, true},
		{"moved", engine.ApplyInput{Executable: w.exec(p)}, func() { write(t, w.tree, map[string]string{"a.txt": "mine\n"}); tree = listing(t, w.tree) }, fault.Conflict, false},
	} {
		tt.do()
		look, err := w.LookApply(context.Background(), p.ID, tt.in)
		must(t, err)
		if tt.none != (look.Stop == nil) || !tt.none && !fault.Is(look.Stop, tt.stop) {
			t.Errorf("%s: %v", tt.name, look.Stop)
		}
	}
	if diff := cmp.Diff(tree, listing(t, w.tree)); diff != "" {
		t.Errorf("the tree:\n%s", diff)
	}
	if n := len(w.records(p.ID).events); n != events || w.plan(p.ID).Status != p.Status {
		t.Errorf("%d events, %d before", n, events)
	}
}

// T38: an apply that finds another one at work waits a little, and is no failure
// of the plan when that has ended.
func TestApplyWaitsForAnother(t *testing.T) {
	w, p := commandPlan(t, map[string]string{"a.txt": "one\n"}, "echo two > a.txt")
	busy := 3
	w.fault = func(op, path string) error {
		if op == "stat" && path == ".git" && busy > 0 {
			busy--
			return fault.New(fault.Busy, "somebody is at work")
		}
		return nil
	}
	p = w.apply(p, engine.ApplyInput{})
	w.status(p, plan.Applied)
	if busy > 0 {
		t.Errorf("it was tried %d times too few", busy)
	}
}
