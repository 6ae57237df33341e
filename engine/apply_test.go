package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/tool"
)

// commandPlan is a plan of builtin/command that waits to be applied.
func commandPlan(t *testing.T, files map[string]string, script string) (*world, plan.Plan) {
	t.Helper()
	tree := t.TempDir()
	write(t, tree, files)
	w := newWorld(t, t.TempDir(), tree, noModel{}, nil, nil)
	t.Cleanup(w.audit)
	p := w.run(w.use(command(map[string]string{"command": script}, "auto")), "")
	w.status(p, plan.Waiting)
	return w, p
}

func TestApplyWritesEveryKindOfChange(t *testing.T) {
	w, p := commandPlan(t, map[string]string{
		"run.sh": "#!/bin/sh\n", "a.txt": "one\n", "gone.txt": "x\n", "dir/last.txt": "x\n", "link.txt": "y\n", "file": "f\n",
	}, `chmod +x run.sh; echo two > a.txt; rm gone.txt dir/last.txt; mkdir -p new/deep; echo n > new/deep/n.txt
		ln -s a.txt s; rm link.txt; ln -s a.txt link.txt; rm file; mkdir file; echo in > file/in.txt`)
	p = w.run(p, plan.PhaseApply)
	w.status(p, plan.Waiting) // run.sh is executable now, which is a question of its own
	_, err := w.Decide(context.Background(), w.open(p).ID, true, "")
	must(t, err)
	p = w.run(p, "")
	w.status(p, plan.Applied)
	want := map[string]string{
		"run.sh*": "#!/bin/sh\n", "a.txt": "two\n", "new/deep/n.txt": "n\n", "s": "-> a.txt", "link.txt": "-> a.txt", "file/in.txt": "in\n",
	}
	if diff := cmp.Diff(want, files(t, w.tree)); diff != "" {
		t.Errorf("the tree:\n%s", diff)
	}
	if n := w.trees(p); n > 0 {
		t.Errorf("%d trees are left", n)
	}
	events := len(w.records(p.ID).events)
	for _, order := range []plan.Phase{plan.PhaseApply, ""} {
		err := w.Run(context.Background(), p.ID, order, nil)
		if order != "" && !fault.Is(err, fault.Conflict) {
			t.Errorf("a second apply: %v", err)
		}
		if err != nil {
			contains(t, "the error", err.Error(), "applied")
		}
	}
	if n := len(w.records(p.ID).events); n != events {
		t.Errorf("%d events after a second apply, %d before", n, events)
	}
}

// T34: a target that is no longer what the plan began with is left alone, and
// so is everything else.
func TestApplyWhereTheBaseMoved(t *testing.T) {
	const both = "echo two > a.txt; echo two > d/b.txt"
	tests := []struct {
		name   string
		script string
		move   func(t *testing.T, tree string)
		keeps  string // what is kept of the plan's version
	}{
		{"edited", both, func(t *testing.T, tree string) { write(t, tree, map[string]string{"a.txt": "mine\n"}) }, "two\n"},
		{"deleted", both, func(t *testing.T, tree string) { must(t, os.Remove(filepath.Join(tree, "a.txt"))) }, "two\n"},
		{"replaced by a directory", both, func(t *testing.T, tree string) {
			must(t, os.Remove(filepath.Join(tree, "a.txt")))
			write(t, tree, map[string]string{"a.txt/in": "x\n"})
		}, "two\n"},
		{"replaced by a link", both, func(t *testing.T, tree string) {
			must(t, os.Remove(filepath.Join(tree, "a.txt")))
			must(t, os.Symlink("d/b.txt", filepath.Join(tree, "a.txt")))
		}, "two\n"},
		{"renamed", both, func(t *testing.T, tree string) {
			must(t, os.Rename(filepath.Join(tree, "a.txt"), filepath.Join(tree, "b.txt")))
		}, "two\n"},
		{"made executable", both, func(t *testing.T, tree string) { must(t, os.Chmod(filepath.Join(tree, "a.txt"), 0o755)) }, "two\n"},
		{"replaced by a pipe", both, func(t *testing.T, tree string) {
			must(t, os.Remove(filepath.Join(tree, "a.txt")))
			must(t, mkfifo(filepath.Join(tree, "a.txt")))
		}, "two\n"},
		{"its directory replaced by a link", "echo two > d/b.txt; echo two > a.txt", func(t *testing.T, tree string) {
			must(t, os.Rename(filepath.Join(tree, "d"), filepath.Join(tree, "e")))
			must(t, os.Symlink("e", filepath.Join(tree, "d")))
		}, "two\n"},
		{"made by somebody", "echo new > c.txt; echo two > a.txt", func(t *testing.T, tree string) {
			write(t, tree, map[string]string{"c.txt": "mine\n"})
		}, "new\n"},
		{"edited, and the plan deletes it", "rm a.txt; echo two > d/b.txt", func(t *testing.T, tree string) {
			write(t, tree, map[string]string{"a.txt": "mine\n"})
		}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w, p := commandPlan(t, map[string]string{"a.txt": "one\n", "d/b.txt": "one\n"}, tt.script)
			tt.move(t, w.tree)
			names := listing(t, w.tree)
			p = w.run(p, plan.PhaseApply)
			w.status(p, plan.Constrained)
			contains(t, "the reason", p.Reason, "since the plan began", "your version is where it was", "nothing was written")
			if diff := cmp.Diff(names, listing(t, w.tree)); diff != "" {
				t.Errorf("something was written:\n%s", diff)
			}
			_, where, kept := strings.Cut(p.Reason, "the plan's version is in ")
			if tt.keeps == "" {
				contains(t, "the reason", p.Reason, "a.txt (the plan deletes it)")
				return
			}
			where, _, _ = strings.Cut(where, ")")
			contains(t, "the reason", p.Reason, "to see both: diff -u '"+filepath.Join(w.tree, ""))
			if b, err := os.ReadFile(where); !kept || err != nil || string(b) != tt.keeps {
				t.Errorf("kept in %q: %q, %v", where, b, err)
			}
		})
	}
}

// listing is names and kinds and sizes, which can be told of any file.
func listing(t *testing.T, dir string) (out []string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		must(t, err)
		name, err := filepath.Rel(dir, path)
		must(t, err)
		line := name + " " + info.Mode().String()
		if d.Type().IsRegular() {
			line += " " + read(t, dir, name)
		}
		out = append(out, line)
		return nil
	}))
	return out
}

// T39: Apply itself looks whether the required validations passed for these
// changes, whatever let the plan get there.
func TestApplyNeedsTheValidations(t *testing.T) {
	w, p := commandPlan(t, map[string]string{"a.txt": "one\n"}, "echo two > a.txt")
	w.setPlan(p.ID, func(p *plan.Plan) {
		p.Status = plan.Status{Phase: plan.PhaseApply, State: plan.Running}
		p.Action.Validations = append(p.Action.Validations, tool.Validation{Name: "late", Mode: tool.Required, Command: "true"})
	})
	p = w.run(p, "")
	w.status(p, plan.Errored)
	if p.Fault != fault.ValidationFailed.String() || read(t, w.tree, "a.txt") != "one\n" {
		t.Errorf("fault %s, a.txt is %q", p.Fault, read(t, w.tree, "a.txt"))
	}
	contains(t, "the reason", p.Reason, "late", "has not passed")
}

// At the gate the same is mended by looking again.
func TestGateRunsAValidationThatIsMissing(t *testing.T) {
	w, p := commandPlan(t, map[string]string{"a.txt": "one\n"}, "echo two > a.txt")
	w.setPlan(p.ID, func(p *plan.Plan) {
		p.Action.Validations = append(p.Action.Validations, tool.Validation{Name: "late", Mode: tool.Required, Command: "grep -q two a.txt"})
	})
	p = w.run(p, plan.PhaseApply)
	w.status(p, plan.Applied)
	if n := len(w.records(p.ID).results); n != 2 {
		t.Errorf("%d results, want 2", n)
	}
}

func TestReadOnlyResourceIsNotWritten(t *testing.T) {
	tree := t.TempDir()
	write(t, tree, map[string]string{"a.txt": "one\n"})
	w := newWorld(t, t.TempDir(), tree, noModel{}, nil, nil)
	must(t, w.Store.Update(context.Background(), func(tx engine.Tx) error {
		s, err := tx.Project("local/p")
		if err != nil {
			return err
		}
		s.Links[0].ReadOnly = true
		return tx.UpdateProject(s)
	}))
	p := w.run(w.use(command(map[string]string{"command": "echo two > a.txt"}, "ci")), "")
	w.status(p, plan.Errored)
	if p.Fault != fault.Denied.String() || read(t, tree, "a.txt") != "one\n" {
		t.Errorf("fault %s, a.txt is %q", p.Fault, read(t, tree, "a.txt"))
	}
	contains(t, "the reason", p.Reason, "read-only", "a.txt")
}

// What Use refuses leaves nothing.
func TestUseRefuses(t *testing.T) {
	w := newWorld(t, t.TempDir(), t.TempDir(), noModel{}, nil, nil)
	w.use(engine.UseInput{Action: "builtin/command", Name: "taken", Args: map[string]string{"command": "true"}})
	ok := map[string]string{"command": "true"}
	tests := []struct {
		name string
		in   engine.UseInput
		kind fault.Kind
	}{
		{"no such action", engine.UseInput{Action: "local/none", Args: ok}, fault.NotFound},
		{"a name that is none", engine.UseInput{Action: "../x", Args: ok}, fault.Invalid},
		{"missing argument", engine.UseInput{Action: "builtin/command"}, fault.Invalid},
		{"unknown argument", engine.UseInput{Action: "builtin/command", Args: map[string]string{"command": "true", "x": "y"}}, fault.Invalid},
		{"argument that is not UTF-8", engine.UseInput{Action: "builtin/command", Args: map[string]string{"command": "\xff"}}, fault.Invalid},
		{"prompt that is not UTF-8", engine.UseInput{Action: "builtin/command", Args: ok, Prompt: "\xff"}, fault.Invalid},
		{"no such profile", engine.UseInput{Action: "builtin/command", Args: ok, Profile: "yolo"}, fault.NotFound},
		{"no such project", engine.UseInput{Action: "builtin/command", Args: ok, Project: "local/none"}, fault.NotFound},
		{"no such actor", engine.UseInput{Action: "builtin/command", Args: ok, ExecutionActor: "local/none"}, fault.NotFound},
		{"a name that is taken", engine.UseInput{Action: "builtin/command", Args: ok, Name: "taken"}, fault.Exists},
		{"a plan's name that is none", engine.UseInput{Action: "builtin/command", Args: ok, Name: "a/b/c"}, fault.Invalid},
	}
	for _, tt := range tests {
		if tt.in.Project == "" {
			tt.in.Project = "local/p"
		}
		if _, err := w.Use(context.Background(), tt.in); !fault.Is(err, tt.kind) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.kind)
		}
	}
	var all []plan.Plan
	w.view(func(tx engine.Tx) (err error) {
		all, err = tx.Plans(engine.PlanFilter{})
		return err
	})
	if len(all) != 1 {
		t.Errorf("%d plans are stored, want 1", len(all))
	}
	for _, p := range all {
		if n := len(w.records(p.ID).events); n != 1 {
			t.Errorf("%d events", n)
		}
	}
	if err := w.Run(context.Background(), ident.PlanID("01ARZ3NDEKTSV4RRFFQ69G5FAV"), "", nil); !fault.Is(err, fault.NotFound) {
		t.Errorf("running a plan that is not there: %v", err)
	}
}
