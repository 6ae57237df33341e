package engine_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cleveragents/agents/action"
	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/blob"
	"github.com/cleveragents/agents/builtin"
	"github.com/cleveragents/agents/durable"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/jail"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/proc"
	"github.com/cleveragents/agents/project"
	"github.com/cleveragents/agents/resource"
	"github.com/cleveragents/agents/sandbox"
	"github.com/cleveragents/agents/stock"
	"github.com/cleveragents/agents/store/sqlite"
)

// noModel is the model of plans whose actors are graphs: asking it is a defect.
type noModel struct{}

func (noModel) Check(string, string) error { return nil }

func (noModel) Generate(context.Context, actor.Request, func(string)) (actor.Response, error) {
	return actor.Response{}, fault.New(fault.Internal, "a graph actor asked a model")
}

// programs is the one runner of programs in this process: what belongs to a run
// is known by a number that each runner counts for itself.
var programs = sync.OnceValue(func() *proc.Runner { return proc.New(time.Now) })

// databases are the files of a store and of a runner that were opened once: to
// make their tables takes longer than most plans.
var databases = sync.OnceValues(func() (map[string][]byte, error) {
	dir, err := os.MkdirTemp("", "engine-test-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	ctx, out := context.Background(), map[string][]byte{}
	db, err := sqlite.Open(ctx, filepath.Join(dir, "data.db"), sqlite.Options{})
	if err != nil {
		return nil, err
	}
	live, err := durable.NewWorkers(filepath.Join(dir, "workers"), ident.NewSource(time.Now, rand.Reader).New())
	if err != nil {
		return nil, err
	}
	runner, err := durable.Open(ctx, durable.Config{Path: filepath.Join(dir, "engine.db"), Live: live})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(runner.Close(), live.Close(), db.Close()); err != nil {
		return nil, err
	}
	for _, pattern := range []string{"data.db*", "engine.db*"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if out[filepath.Base(name)], err = os.ReadFile(name); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
})

// fresh puts empty databases where there are none.
func fresh(t testing.TB, data string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(data, "data.db")); err == nil {
		return
	}
	all, err := databases()
	must(t, err)
	for name, b := range all {
		must(t, os.WriteFile(filepath.Join(data, name), b, 0o600))
	}
}

// world is an engine on real hands in a temporary directory.
type world struct {
	*engine.Engine
	t      testing.TB
	data   string // the program's data
	tree   string // the user's project
	events []plan.Event
	fault  func(op, path string) error // of the next calls of an apply; nil for none
}

// newWorld opens the hands over data and links tree as the project local/p.
// Opening the same data again is a new start of the program.
func newWorld(t testing.TB, data, tree string, model engine.Model, actions []action.Action, actors []actor.Config) *world {
	t.Helper()
	ctx := context.Background()
	fresh(t, data)
	db, err := sqlite.Open(ctx, filepath.Join(data, "data.db"), sqlite.Options{})
	must(t, err)
	blobs, err := blob.Open(filepath.Join(data, "blobs"), db)
	must(t, err)
	ids := ident.NewSource(time.Now, rand.Reader)
	live, err := durable.NewWorkers(filepath.Join(data, "workers"), ids.New())
	must(t, err)
	runner, err := durable.Open(ctx, durable.Config{Path: filepath.Join(data, "engine.db"), Live: live})
	must(t, err)
	t.Cleanup(func() {
		for _, c := range []interface{ Close() error }{runner, live, blobs, db} {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	stockActions, err := stock.Actions()
	must(t, err)
	stockActors, err := stock.Actors()
	must(t, err)
	var w *world
	target := sandbox.NewTarget(sandbox.TargetConfig{Blobs: blobs, Kept: filepath.Join(data, "kept"), Dir: filepath.Join(data, "applies"),
		Fault: func(op, path string) error {
			if w == nil || w.fault == nil {
				return nil
			}
			return w.fault(op, path)
		}})
	// What a test keeps beside the data can be read, its FIFOs written to.
	confine := jail.New(jail.Config{Proc: programs(), Dir: filepath.Join(data, "jail"), ReadOnly: []string{filepath.Dir(data)}})
	w = &world{t: t, data: data, tree: tree, Engine: engine.New(engine.Config{
		Store: db, Blobs: blobs, Model: model,
		Sandboxes: sandbox.New(sandbox.Config{Dir: filepath.Join(data, "trees"), Blobs: blobs, Target: target}),
		Target:    target,
		Tools:     builtin.New(builtin.Config{Jail: confine}), Checker: builtin.NewChecker(confine, 0),
		Runner: runner, Live: live, IDs: ids, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Actions: append(stockActions, actions...), Actors: append(stockActors, actors...),
	})}
	must(t, db.Update(ctx, func(tx engine.Tx) error {
		if _, err := tx.Project("local/p"); err == nil {
			return nil
		}
		r := resource.Resource{ID: ident.ResourceID(ids.New()), Name: "local/p", Type: resource.FSDirectory, Location: tree, Created: time.Now()}
		if err := tx.InsertResource(r); err != nil {
			return err
		}
		return tx.InsertProject(project.Project{Name: "local/p", Links: []project.Link{{Resource: r.ID}}, Created: time.Now()})
	}))
	return w
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write makes files below dir; a name that ends with / is a directory.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(content), 0o644))
	}
}

func read(t testing.TB, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	must(t, err)
	return string(b)
}

// use makes a plan of an action.
func (w *world) use(in engine.UseInput) plan.Plan {
	w.t.Helper()
	in.Project = "local/p"
	p, err := w.Use(context.Background(), in)
	must(w.t, err)
	return p
}

// run carries the plan on and returns it as it is then.
func (w *world) run(p plan.Plan, order plan.Phase) plan.Plan {
	w.t.Helper()
	must(w.t, w.Run(context.Background(), p.ID, order, func(e plan.Event) { w.events = append(w.events, e) }))
	return w.plan(p.ID)
}

func (w *world) plan(id ident.PlanID) (p plan.Plan) {
	w.t.Helper()
	must(w.t, w.Store.View(context.Background(), func(tx engine.Tx) (err error) {
		p, err = tx.Plan(id)
		return err
	}))
	return p
}

// view reads from the store.
func (w *world) view(f func(tx engine.Tx) error) {
	w.t.Helper()
	must(w.t, w.Store.View(context.Background(), f))
}

func (w *world) status(p plan.Plan, want plan.State) {
	w.t.Helper()
	if p.State != want {
		w.t.Fatalf("the plan is %s (%s), want %s", p.Status, p.Reason, want)
	}
}

// setPlan changes the stored plan behind the engine's back: for what no
// operation sets yet, and for states that only a crash leaves.
func (w *world) setPlan(id ident.PlanID, f func(*plan.Plan)) {
	w.t.Helper()
	must(w.t, w.Store.Update(context.Background(), func(tx engine.Tx) error {
		p, err := tx.Plan(id)
		if err != nil {
			return err
		}
		was := p.Status
		f(&p)
		if p.Status != was {
			data, err := json.Marshal(map[string]string{"from": was.String(), "to": p.Status.String()})
			must(w.t, err)
			if err := tx.AppendEvent(&plan.Event{Plan: id, At: time.Now(), Type: "plan.state", Data: data}); err != nil {
				return err
			}
		}
		return tx.UpdatePlan(&p)
	}))
}

func mkfifo(path string) error { return syscall.Mkfifo(path, 0o600) }
