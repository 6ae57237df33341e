package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cleveragents/agents/crash/crashtest"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/plan"
)

// childEnv makes the test binary a process that carries one plan to its end:
// "<case>\n<data>\n<tree>".
const childEnv = "AGENTS_ENGINE_TEST_CHILD"

func TestMain(m *testing.M) {
	spec := os.Getenv(childEnv)
	if spec == "" {
		os.Exit(m.Run())
	}
	parts := strings.Split(spec, "\n")
	if err := child(parts[0], parts[1], parts[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// bench is a testing.TB for the child, which has no test around it.
type bench struct {
	testing.TB
	cleanup []func()
}

func (b *bench) Helper()                      {}
func (b *bench) Cleanup(f func())             { b.cleanup = append(b.cleanup, f) }
func (b *bench) Error(args ...any)            { fmt.Fprintln(os.Stderr, args...) }
func (b *bench) Fatal(args ...any)            { fmt.Fprintln(os.Stderr, args...); os.Exit(1) }
func (b *bench) Fatalf(f string, args ...any) { b.Fatal(fmt.Sprintf(f, args...)) }

// child makes the plan of the case when there is none, and carries it on.
func child(name, data, tree string) error {
	c := crashCases()[name]
	tb := &bench{}
	w := c.world(tb, data, tree)
	defer func() {
		for _, f := range tb.cleanup {
			f()
		}
	}()
	var all []plan.Plan
	w.view(func(tx engine.Tx) (err error) {
		all, err = tx.Plans(engine.PlanFilter{})
		return err
	})
	if len(all) == 0 {
		all = append(all, w.use(c.use))
	}
	if p := w.run(all[0], ""); p.State != plan.Applied {
		return fmt.Errorf("the plan is %s: %s", p.Status, p.Reason)
	}
	return nil
}

// crashCase is a plan that is killed at every point.
type crashCase struct {
	files map[string]string
	use   engine.UseInput
	world func(tb testing.TB, data, tree string) *world
	// check looks at what a finished plan left.
	check func(t *testing.T, w *world, p plan.Plan)
}

func crashCases() map[string]crashCase {
	return map[string]crashCase{
		"command": {
			files: map[string]string{"a.txt": "one\n", "log.txt": "", "gone.txt": "x\n"},
			use: engine.UseInput{Action: "builtin/command", Profile: "ci", Args: map[string]string{
				// Not idempotent: a run that is not put back before it is run again shows.
				"command": "echo line >> log.txt; sed -i s/one/two/ a.txt; rm gone.txt", "validate": "test $(wc -l < log.txt) = 1",
			}},
			world: func(tb testing.TB, data, tree string) *world { return newWorld(tb, data, tree, noModel{}, nil, nil) },
			check: func(t *testing.T, w *world, p plan.Plan) {
				if got := read(t, w.tree, "log.txt"); got != "line\n" {
					t.Errorf("log.txt is %q", got)
				}
				if got := read(t, w.tree, "a.txt"); got != "two\n" {
					t.Errorf("a.txt is %q", got)
				}
				w.decisions(p, 3)
			},
		},
	}
}

// decisions checks how many the plan has, and that none is there twice.
func (w *world) decisions(p plan.Plan, want int) {
	w.t.Helper()
	var ds []plan.Decision
	w.view(func(tx engine.Tx) (err error) {
		ds, err = tx.Decisions(p.ID)
		return err
	})
	seen := map[string]bool{}
	for i, d := range ds {
		if seen[d.Question] {
			w.t.Errorf("decision %q is recorded twice", d.Question)
		}
		if seen[d.Question] = true; d.Seq != i+1 {
			w.t.Errorf("decision %d has number %d", i+1, d.Seq)
		}
	}
	if len(ds) != want {
		w.t.Errorf("%d decisions, want %d", len(ds), want)
	}
}

// TestKilledAtEveryStep kills the process at each point of a plan, then lets a
// new process resume: every plan arrives, with the files, the decisions and the
// events of one that was never killed. // T33, T48: the part of Apply's first form
func TestKilledAtEveryStep(t *testing.T) {
	for name, c := range crashCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var data, tree string
			n := crashtest.Walk(t, func(t *testing.T, env []string) error {
				dir := t.TempDir()
				data, tree = filepath.Join(dir, "data"), filepath.Join(dir, "tree")
				must(t, os.MkdirAll(data, 0o700))
				write(t, tree, c.files)
				return runChild(t, name, data, tree, env)
			}, func(t *testing.T) {
				if err := runChild(t, name, data, tree, nil); err != nil {
					t.Fatalf("resume: %v", err)
				}
				w := c.world(t, data, tree)
				var all []plan.Plan
				w.view(func(tx engine.Tx) (err error) {
					all, err = tx.Plans(engine.PlanFilter{})
					return err
				})
				if len(all) != 1 {
					t.Fatalf("%d plans", len(all))
				}
				w.status(all[0], plan.Applied)
				c.check(t, w, all[0])
				w.eventsInOrder(all[0])
			})
			t.Logf("killed at %d points", n)
			if n < 10 {
				t.Errorf("only %d points were reached", n)
			}
		})
	}
}

func runChild(t *testing.T, name, data, tree string, env []string) error {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), os.Args[0], "-test.run=^$")
	cmd.Env = append(append(os.Environ(), childEnv+"="+name+"\n"+data+"\n"+tree), env...)
	out, err := cmd.CombinedOutput()
	if err != nil && len(env) == 0 {
		t.Logf("%s", out)
	}
	return err
}

// eventsInOrder checks that the plan's events have no gap and that each change
// of state starts where the last one ended.
func (w *world) eventsInOrder(p plan.Plan) {
	w.t.Helper()
	var all []plan.Event
	w.view(func(tx engine.Tx) (err error) {
		all, err = tx.Events(p.ID, 0, 0)
		return err
	})
	at := "action/queued"
	for i, e := range all {
		if e.Seq != int64(i+1) {
			w.t.Errorf("event %d has number %d", i+1, e.Seq)
		}
		if e.Type != "plan.state" {
			continue
		}
		var d struct{ From, To string }
		must(w.t, json.Unmarshal(e.Data, &d))
		if d.From != at {
			w.t.Errorf("event %d goes from %s, the plan was %s", e.Seq, d.From, at)
		}
		at = d.To
	}
	if at != p.Status.String() {
		w.t.Errorf("the events end in %s, the plan is %s", at, p.Status)
	}
}
