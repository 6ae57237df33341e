package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/crash"
	"github.com/cleveragents/agents/crash/crashtest"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/llm/scripted"
	"github.com/cleveragents/agents/plan"
)

// twoSteps is a plan that was carried to before Apply: at its first checkpoint
// nothing was changed, at its second a.txt, and now b.txt and link, too.
func twoSteps(t testing.TB, data, tree string, more ...scripted.Reply) (*world, plan.Plan) {
	t.Helper()
	w, _ := modelWorld(t, data, tree, builder(t, func(turn int, r scripted.Request) scripted.Reply {
		all := []scripted.Reply{
			calls(record, choose("first", "")),
			calls("builtin__shell", `{"script":"echo one > a.txt"}`),
			calls(record, choose("second", "")),
			calls("builtin__shell", `{"script":"echo two > a.txt; echo b > b.txt; chmod +x b.txt; ln -s b.txt link; rm marker.txt"}`),
		}
		all = append(all, more...)
		if turn < len(all) {
			return all[turn]
		}
		return scripted.Reply{Text: "Done."}
	}), task())
	if ps := w.plans(); len(ps) > 0 {
		return w, ps[0]
	}
	return w, w.run(w.start("auto"), "")
}

// files is what a tree holds, as path → content, * for what is executable, > for
// where a link leads.
func filesOf(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		p := filepath.Join(dir, e.Name())
		if to, err := os.Readlink(p); err == nil {
			out[e.Name()] = ">" + to
			continue
		}
		b, err := os.ReadFile(p)
		must(t, err)
		fi, err := e.Info()
		must(t, err)
		if fi.Mode()&0o100 != 0 {
			b = append([]byte("*"), b...)
		}
		out[e.Name()] = string(b)
	}
	return out
}

func (w *world) sandboxOf(p plan.Plan) string {
	return filepath.Join(w.data, "trees", "plans", string(p.ID), "0", "tree")
}

func (w *world) points(p plan.Plan) []plan.Checkpoint { return w.records(p.ID).points }

func (w *world) rollback(p plan.Plan, cp ident.CheckpointID) (engine.RollbackPreview, plan.Checkpoint) {
	w.t.Helper()
	out, before, err := w.Rollback(context.Background(), p.ID, cp)
	must(w.t, err)
	return out, before
}

func start(t testing.TB, tree string) map[string]string {
	write(t, tree, map[string]string{"a.txt": "old\n", "marker.txt": "m\n"})
	return map[string]string{"a.txt": "old\n", "marker.txt": "m\n"}
}

func TestRollback(t *testing.T) {
	tree := t.TempDir()
	old := start(t, tree)
	w, p := twoSteps(t, t.TempDir(), tree)
	w.status(p, plan.Waiting)
	second := map[string]string{"a.txt": "one\n", "marker.txt": "m\n"}
	last := map[string]string{"a.txt": "two\n", "b.txt": "*b\n", "link": ">b.txt"}
	holds := func(what string, want map[string]string) {
		t.Helper()
		if d := cmp.Diff(want, filesOf(t, w.sandboxOf(p))); d != "" {
			t.Errorf("%s:\n%s", what, d)
		}
	}
	holds("at first", last)
	cps := w.points(p)
	if len(cps) != 2 {
		t.Fatalf("%d checkpoints", len(cps))
	}
	write(t, w.sandboxOf(p), map[string]string{"mine.txt": "a person's\n"}) // nobody has recorded it

	look, err := w.PreviewRollback(context.Background(), p.ID, cps[1].ID)
	must(t, err)
	var paths []string
	for _, c := range look.Changes {
		paths = append(paths, c.Path)
	}
	if d := cmp.Diff([]string{"a.txt", "b.txt", "link", "marker.txt", "mine.txt"}, paths); d != "" || look.Tier != plan.TierFull || len(look.Decisions) != 0 {
		t.Errorf("a look: %s tier %s, %d decisions", d, look.Tier, len(look.Decisions))
	}
	withMine := map[string]string{"a.txt": "two\n", "b.txt": "*b\n", "link": ">b.txt", "mine.txt": "a person's\n"}
	holds("after a look", withMine)
	if got := w.plan(p.ID); got.State != plan.Waiting {
		t.Errorf("after a look the plan is %s", got.Status)
	}

	_, before := w.rollback(p, cps[1].ID)
	holds("at the second", second)
	got := w.plan(p.ID)
	if got.Status != (plan.Status{Phase: plan.PhaseExecute, State: plan.Paused}) || got.Rebuilding {
		t.Errorf("the plan is %s, rebuilding %v", got.Status, got.Rebuilding)
	}
	w.rollback(p, cps[0].ID)
	holds("at the first", old)
	r := w.records(p.ID)
	superseded := map[string]bool{}
	for _, d := range r.decisions {
		if d.Superseded != "" {
			superseded[d.Question] = true
		}
	}
	if d := cmp.Diff(map[string]bool{"second": true, "What was changed outside a recorded decision?": true, "Which state does the work go on from?": true}, superseded); d != "" {
		t.Errorf("superseded:\n%s", d)
	}
	w.rollback(p, before.ID)
	holds("undone", withMine)
	w.audit()

	// What goes on is validated and applied as it is now.
	w.rollback(p, cps[1].ID)
	p = w.run(p, "")
	w.status(p, plan.Waiting)
	p = w.run(p, plan.PhaseApply)
	w.status(p, plan.Applied)
	if d := cmp.Diff(second, filesOf(t, tree)); d != "" {
		t.Errorf("applied:\n%s", d)
	}
	if _, _, err := w.Rollback(context.Background(), p.ID, cps[0].ID); !fault.Is(err, fault.Conflict) {
		t.Errorf("after Apply: %v", err)
	}
}

// An actor in the middle of its work is told.
func TestRollbackTellsTheActor(t *testing.T) {
	tree := t.TempDir()
	start(t, tree)
	told := false
	w, _ := modelWorld(t, t.TempDir(), tree, builder(t, func(turn int, r scripted.Request) scripted.Reply {
		switch turn {
		case 0:
			return calls(record, choose("first", ""))
		case 1:
			return calls("builtin__write", `{"path":"b.txt","content":"b\n"}`)
		case 2:
			return calls("builtin__ask", `{"question":"Which?"}`)
		}
		told = told || r.Contains("user", "put back to how they were")
		return scripted.Reply{Text: "Done."}
	}), task())
	p := w.run(w.start("auto"), "")
	w.status(p, plan.Waiting)
	w.rollback(p, w.points(p)[0].ID)
	if _, err := w.Answer(context.Background(), w.open(p).ID, 0, "that"); err != nil {
		t.Fatal(err)
	}
	p = w.run(p, "")
	if !told {
		t.Error("it was not")
	}
	if d := cmp.Diff(map[string]string{"a.txt": "old\n", "marker.txt": "m\n"}, filesOf(t, w.sandboxOf(p))); d != "" {
		t.Error(d)
	}
}

// T40: a damaged checkpoint changes nothing and is named; the others can be used.
func TestDamagedCheckpointIsRefused(t *testing.T) {
	for name, part := range map[string]func(w *world, cp plan.Checkpoint) string{
		"what it lists": func(_ *world, cp plan.Checkpoint) string { return cp.Changes },
		"a file": func(w *world, cp plan.Checkpoint) string {
			set, err := w.ChangesAt(context.Background(), cp)
			must(w.t, err)
			return set[0].After.Hash
		},
	} {
		// What the blob store says of a flipped bit, a cut file and a lost one.
		for _, how := range []fault.Kind{fault.Corrupt, fault.NotFound} {
			t.Run(name+", "+how.String(), func(t *testing.T) {
				t.Parallel()
				tree := t.TempDir()
				old := start(t, tree)
				w, p := twoSteps(t, t.TempDir(), tree)
				cps := w.points(p)
				held := filesOf(t, w.sandboxOf(p))
				w.Blobs = hurt{w.Blobs, part(w, cps[1]), how}
				_, _, err := w.Rollback(context.Background(), p.ID, cps[1].ID)
				if !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), "nothing was changed") || !strings.Contains(err.Error(), string(cps[1].ID)) {
					t.Errorf("got %v", err)
				}
				if d := cmp.Diff(held, filesOf(t, w.sandboxOf(p))); d != "" {
					t.Errorf("the sandbox was touched:\n%s", d)
				}
				if got := w.plan(p.ID); got.State != plan.Waiting {
					t.Errorf("the plan is %s", got.Status)
				}
				w.rollback(p, cps[0].ID)
				if d := cmp.Diff(old, filesOf(t, w.sandboxOf(p))); d != "" {
					t.Errorf("another checkpoint:\n%s", d)
				}
			})
		}
	}
}

// hurt is a blob store in which one blob is damaged or gone.
type hurt struct {
	engine.Blobs
	hash string
	how  fault.Kind
}

func (h hurt) Get(ctx context.Context, hash string) ([]byte, error) {
	if hash == h.hash {
		return nil, fault.New(h.how, "blob %.8s", hash)
	}
	return h.Blobs.Get(ctx, hash)
}

// T41: killed at any point of a rollback, the plan is at the state before or at
// the checkpoint when it goes on, never between.
func TestKilledRollback(t *testing.T) {
	program := plainTest(t)
	var data, tree string
	n := crashtest.Walk(t, func(t *testing.T, env []string) error {
		data, tree = t.TempDir(), t.TempDir()
		start(t, tree)
		var id ident.PlanID
		t.Run("prepare", func(t *testing.T) { // closes what it opens
			_, p := twoSteps(t, data, tree)
			id = p.ID
		})
		return runProgram(t, program, "rollback", data, tree, id, env)
	}, func(t *testing.T) {
		w, p := twoSteps(t, data, tree)
		want := map[string]string{"a.txt": "two\n", "b.txt": "*b\n", "link": ">b.txt"}
		if len(w.points(p)) > 2 { // it was recorded
			want = map[string]string{"a.txt": "one\n", "marker.txt": "m\n"}
		}
		p = w.run(p, "")
		w.status(p, plan.Waiting)
		if d := cmp.Diff(want, filesOf(t, w.sandboxOf(p))); d != "" {
			t.Errorf("the sandbox:\n%s", d)
		}
		w.audit()
	})
	if n < 2 {
		t.Errorf("killed at %d points", n)
	}
}

// rollBack is the child of TestKilledRollback.
func rollBack(w *world, p plan.Plan) error {
	crash.Point("test.begin")
	_, _, err := w.Rollback(context.Background(), p.ID, w.points(p)[1].ID)
	return err
}
