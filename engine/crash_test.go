package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/crash"
	"github.com/cleveragents/agents/crash/crashtest"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

// childEnv makes the test binary a process that carries one plan to its end:
// "<case>\n<data>\n<tree>\n<plan>", without a plan the only one there is.
const childEnv = "AGENTS_ENGINE_TEST_CHILD"

// busyExit is how a child ends that finds the plan run by another.
const busyExit = 3

func TestMain(m *testing.M) {
	spec := os.Getenv(childEnv)
	if spec == "" {
		// These tests wait for the disk much more than they compute.
		flag.Parse()
		given := map[string]bool{}
		flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
		for name, value := range map[string]string{"test.parallel": "8", "rapid.checks": "10"} {
			if given[name] {
				continue
			}
			if err := flag.Set(name, value); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		os.Exit(m.Run())
	}
	parts := strings.Split(spec, "\n")
	if err := child(parts[0], parts[1], parts[2], ident.PlanID(parts[3])); err != nil {
		fmt.Fprintln(os.Stderr, err)
		if fault.Is(err, fault.Busy) {
			os.Exit(busyExit)
		}
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
func child(name, data, tree string, id ident.PlanID) error {
	if name == "rollback" {
		tb := &bench{}
		defer func() {
			for _, f := range slices.Backward(tb.cleanup) {
				f()
			}
		}()
		w, p := twoSteps(tb, data, tree)
		return rollBack(w, p)
	}
	c := crashCases()[name]
	tb := &bench{}
	w := c.world(tb, data, tree)
	defer func() {
		for _, f := range tb.cleanup {
			f()
		}
	}()
	if id == "" {
		all := w.plans()
		if len(all) == 0 {
			all = append(all, w.use(c.use))
		}
		id = all[0].ID
	}
	for {
		if err := w.Run(context.Background(), id, "", nil); err != nil {
			return err
		}
		p := w.plan(id)
		switch {
		case p.State == plan.Applied:
			return nil
		case p.State != plan.Waiting || !c.asks:
			return fmt.Errorf("the plan is %s: %s", p.Status, p.Reason)
		}
		a := w.open(p)
		if a.Kind == plan.ApproveQuestion {
			_, err := w.Answer(context.Background(), a.ID, 2, "")
			if err != nil {
				return err
			}
			continue
		}
		if _, err := w.Decide(context.Background(), a.ID, true, ""); err != nil {
			return err
		}
	}
}

func (w *world) plans() (all []plan.Plan) {
	w.t.Helper()
	w.view(func(tx engine.Tx) (err error) {
		all, err = tx.Plans(engine.PlanFilter{})
		return err
	})
	return all
}

// tally is a transport that adds a line to a file before each request.
type tally struct {
	tb   testing.TB
	file string
	next http.RoundTripper
}

func (t *tally) RoundTrip(r *http.Request) (*http.Response, error) {
	f, err := os.OpenFile(t.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	must(t.tb, err)
	_, err = f.WriteString("request\n")
	must(t.tb, err)
	must(t.tb, f.Close())
	return t.next.RoundTrip(r)
}

func lines(file string) int {
	b, _ := os.ReadFile(file) // none is none
	return strings.Count(string(b), "\n")
}

// story is what of a plan's records is the same in every run of it.
func (w *world) story(p plan.Plan) (out []string) {
	w.t.Helper()
	r := w.records(p.ID)
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	question := map[ident.DecisionID]string{}
	for _, d := range r.decisions {
		question[d.ID] = d.Question
		add("decision %d %s %s: %s, %s, implicit %v, checkpoint %v", d.Seq, d.Phase, d.Type, d.Question, d.Chosen, d.Implicit, d.Checkpoint != "")
	}
	for _, e := range r.edges {
		add("edge %s > %s", question[e.Up], question[e.Down])
	}
	for _, c := range r.calls {
		add("call %s %d %s", c.Phase, c.Turn, c.Stop)
	}
	for _, t := range r.toolCalls {
		add("tool call %s %d.%d %s %s under %s", t.Phase, t.Turn, t.Index, t.Tool, t.Status, question[t.Decision])
	}
	for _, h := range r.hunks {
		add("hunk %d %s %s %.8s>%.8s %v under %s", h.Seq, h.Path, h.Origin, h.Before.Hash, h.After.Hash, h.Ranges, question[h.Decision])
	}
	for _, v := range r.results {
		add("result %d %s %s", v.Round, v.Name, v.Verdict)
	}
	for _, a := range r.approvals {
		about := a.Subject
		if a.Kind == plan.ApproveQuestion { // its subject is an id
			about = a.Summary + " " + a.Answer
		}
		add("approval %s %s %s", a.Kind, about, a.State)
	}
	for _, node := range w.entered(p) {
		add("node %s", node)
	}
	add("%d checkpoints", len(r.points))
	return out
}

// shards is how many parts the points of a case are shared out to.
const shards = 4

// TestKilledAtEveryStep kills the process at each point of a plan, then lets a
// new process resume: every plan arrives, with the files and the records of one
// that was never killed. An answer that was stored is not asked for again. //
// T33, T48: the part of Apply's first form
func TestKilledAtEveryStep(t *testing.T) {
	program := plainTest(t)
	for name, c := range crashCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			undisturbed := newRun(t, program, name, c)
			must(t, undisturbed.child(t, crash.LogEnv+"="+undisturbed.log))
			story, requests := undisturbed.look(t)
			points := undisturbed.points(t)
			var mu sync.Mutex
			total := 0
			t.Cleanup(func() {
				t.Logf("killed at %d points", total)
				if total < 20 {
					t.Errorf("only %d points were reached", total)
				}
			})
			for k := range shards {
				t.Run(fmt.Sprint("shard ", k), func(t *testing.T) {
					t.Parallel()
					var r *killed
					n := crashtest.Walk(t, func(t *testing.T, env []string) error {
						r = newRun(t, program, name, c)
						return r.child(t, share(t, env, points, k), crash.LogEnv+"="+r.log)
					}, func(t *testing.T) {
						must(t, r.child(t))
						got, n := r.look(t)
						r.diedWhere(t, points)
						if diff := cmp.Diff(story, got); diff != "" {
							t.Errorf("killed at %s:\n%s", r.place(t), diff)
						}
						more := 0
						if r.place(t) == "engine.answered" {
							more = 1 // paid, and not yet stored
						}
						if n != requests+more {
							t.Errorf("killed at %s: %d requests, want %d", r.place(t), n, requests+more)
						}
					})
					mu.Lock()
					total += n
					mu.Unlock()
				})
			}
		})
	}
}

// point is a place where the process can be killed, and which of its kind.
type point struct {
	n    int
	name string
}

// points reads where an undisturbed run can be killed. A step begins with
// nothing done since the last was recorded, so that is one place and not two.
func (r *killed) points(t *testing.T) (out []point) {
	t.Helper()
	b, err := os.ReadFile(r.log)
	must(t, err)
	names := strings.Fields(string(b))
	for i, name := range names {
		// The inside of an apply has a harness of its own; one plan goes through it
		// here, too, so that the records agree.
		if strings.HasPrefix(name, "apply.") && r.name != "command" {
			continue
		}
		if name != "durable.recorded" || i+1 == len(names) || names[i+1] != "engine.step" {
			out = append(out, point{i + 1, name})
		}
	}
	return append(out, point{len(names) + 1, ""})
}

// share makes the n-th point of shard k a point of the whole; what is past the
// last is none.
func share(t *testing.T, env []string, points []point, k int) string {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimPrefix(env[0], crash.AtEnv+"="))
	must(t, err)
	i := min((n-1)*shards+k, len(points)-1)
	return crash.AtEnv + "=" + strconv.Itoa(points[i].n)
}

// diedWhere checks that a run that was killed was so at its point.
func (r *killed) diedWhere(t *testing.T, points []point) {
	t.Helper()
	b, err := os.ReadFile(r.log)
	must(t, err)
	n := strings.Count(string(b), "\n")
	for _, p := range points {
		if p.n == n && p.name != r.place(t) {
			t.Errorf("killed at %s, want %s", r.place(t), p.name)
		}
	}
}

// killed is one plan of a case in directories of its own.
type killed struct {
	program, name, data, tree, log string
	crashCase
}

func newRun(t *testing.T, program, name string, c crashCase) *killed {
	t.Helper()
	dir := t.TempDir()
	r := &killed{program, name, filepath.Join(dir, "data"), filepath.Join(dir, "tree"), filepath.Join(dir, "log"), c}
	must(t, os.MkdirAll(r.data, 0o700))
	fresh(t, r.data)
	c.files(t, r.tree)
	return r
}

func (r *killed) child(t *testing.T, env ...string) error {
	t.Helper()
	return runProgram(t, r.program, r.name, r.data, r.tree, "", env)
}

// place is the point at which the process was killed, or its last.
func (r *killed) place(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(r.log)
	must(t, err)
	return lastWord(string(b))
}

func lastWord(s string) string {
	words := strings.Fields(s)
	return words[len(words)-1]
}

// look checks what the finished plan left, and returns its story and how many
// requests it took.
func (r *killed) look(t *testing.T) (story []string, requests int) {
	t.Helper()
	tb := &inner{TB: t}
	w := r.world(tb, r.data, r.tree)
	defer tb.close()
	all := w.plans()
	if len(all) != 1 {
		t.Fatalf("%d plans", len(all))
	}
	w.status(all[0], plan.Applied)
	w.audit()
	r.check(t, r.tree)
	if n := w.trees(all[0]); n > 0 {
		t.Errorf("%d trees are left", n)
	}
	return w.story(all[0]), lines(filepath.Join(filepath.Dir(r.data), "requests"))
}

// inner is a test whose cleanup comes earlier.
type inner struct {
	testing.TB
	cleanup []func()
}

func (b *inner) Cleanup(f func()) { b.cleanup = append(b.cleanup, f) }

func (b *inner) close() {
	for i := len(b.cleanup) - 1; i >= 0; i-- {
		b.cleanup[i]()
	}
}

// plainTest returns this test binary, built without the race detector where it
// has that: several hundred processes of one plan each would take five times as
// long to find no race.
func plainTest(t *testing.T) string {
	t.Helper()
	if !raced {
		return os.Args[0]
	}
	path := filepath.Join(t.TempDir(), "engine.test")
	if out, err := exec.Command("go", "test", "-c", "-race=false", "-o", path, ".").CombinedOutput(); err != nil {
		t.Logf("built with the race detector, as it cannot be built without: %v: %s", err, out)
		return os.Args[0]
	}
	return path
}

func runChild(t *testing.T, name, data, tree string, id ident.PlanID, env []string) error {
	t.Helper()
	return runProgram(t, os.Args[0], name, data, tree, id, env)
}

func runProgram(t *testing.T, program, name, data, tree string, id ident.PlanID, env []string) error {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), program, "-test.run=^$")
	cmd.Env = append(append(os.Environ(), childEnv+"="+strings.Join([]string{name, data, tree, string(id)}, "\n")), env...)
	out, err := cmd.CombinedOutput()
	if err != nil && (len(env) == 0 || cmd.ProcessState.ExitCode() == 1) {
		t.Logf("%s", out)
	}
	return err
}

// exitCode is how a child ended by itself.
func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		return -1
	}
	return 0
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
