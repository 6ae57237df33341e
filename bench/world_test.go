// Package bench measures the program beside anchors that the machine gives:
// the engine over its real hands, and (testdata/measure, run.sh) whole
// processes. docs/benchmarks.md holds what was measured.
//
// A plan's model is scripted, so that what is left is our own time. The hands
// are wrapped in clocks, which say where it went. Nothing here passes or fails
// by time: the machine may be shared.
package bench

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cleveragents/agents/action"
	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/blob"
	"github.com/cleveragents/agents/builtin"
	"github.com/cleveragents/agents/durable"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/jail"
	"github.com/cleveragents/agents/llm"
	"github.com/cleveragents/agents/llm/scripted"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/policy"
	"github.com/cleveragents/agents/proc"
	"github.com/cleveragents/agents/project"
	"github.com/cleveragents/agents/resource"
	"github.com/cleveragents/agents/sandbox"
	"github.com/cleveragents/agents/store/sqlite"
)

// world is an engine on real hands over a project of some size.
type world struct {
	*engine.Engine
	clocks clocks
	model  *timedModel
}

// newWorld makes a project of n files, of which the first worked ones are for
// the actor to read and edit.
func newWorld(b *testing.B, n int, s scripted.Script) *world {
	b.Helper()
	ctx := context.Background()
	dir := b.TempDir()
	tree, data := filepath.Join(dir, "tree"), filepath.Join(dir, "data")
	must(b, makeTree(tree, n))
	db, err := sqlite.Open(ctx, filepath.Join(data, "data.db"), sqlite.Options{})
	must(b, err)
	blobs, err := blob.Open(filepath.Join(data, "blobs"), db)
	must(b, err)
	ids := ident.NewSource(time.Now, rand.Reader)
	live, err := durable.NewWorkers(filepath.Join(data, "workers"), ids.New())
	must(b, err)
	runner, err := durable.Open(ctx, durable.Config{Path: filepath.Join(data, "engine.db"), Live: live})
	must(b, err)
	b.Cleanup(func() {
		for _, c := range []interface{ Close() error }{runner, live, blobs, db} {
			if err := c.Close(); err != nil {
				b.Error(err)
			}
		}
	})
	w := &world{}
	w.model = &timedModel{clock: &w.clocks.model, next: llm.New(llm.Config{Providers: map[string]llm.Provider{
		scripted.Name: scripted.Provider(scripted.Config{Scripts: map[string]scripted.Script{"bench": s}}),
	}})}
	target := sandbox.NewTarget(sandbox.TargetConfig{Blobs: blobs, Kept: filepath.Join(data, "kept"), Dir: filepath.Join(data, "applies")})
	confine := jail.New(jail.Config{Proc: proc.New(time.Now), Dir: filepath.Join(data, "jail")})
	w.Engine = engine.New(engine.Config{
		Store: timedStore{db, &w.clocks.store, &w.clocks.commits, &w.clocks.relaxed}, Blobs: timedBlobs{blobs, &w.clocks.blobs}, Model: w.model,
		Sandboxes: timedTrees{sandbox.New(sandbox.Config{Dir: filepath.Join(data, "trees"), Blobs: blobs, Target: target}), &w.clocks.trees},
		Target:    target,
		Tools:     timedTools{builtin.New(builtin.Config{Jail: confine}), &w.clocks.tools}, Checker: builtin.NewChecker(confine, 0),
		Runner: &timedRunner{next: runner, clock: &w.clocks.steps}, Live: live, IDs: ids, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Actions: []action.Action{{
			Name: "local/bench", Description: "Work for the clock.", DefinitionOfDone: "All turns are taken.", State: action.Available,
			StrategyActor: "local/model", ExecutionActor: "local/model",
			Safety: &policy.Safety{RequireSandbox: true, RequireCheckpoints: true, MaxRetriesPerStep: 1},
		}},
		Actors: []actor.Config{{Name: "local/model", Provider: scripted.Name, Model: "bench", MaxTurns: 10_000}},
	})
	must(b, db.Update(ctx, func(tx engine.Tx) error {
		r := resource.Resource{ID: ident.ResourceID(ids.New()), Name: "local/p", Type: resource.FSDirectory, Location: tree, Created: time.Now()}
		if err := tx.InsertResource(r); err != nil {
			return err
		}
		return tx.InsertProject(project.Project{Name: "local/p", Links: []project.Link{{Resource: r.ID}}, Created: time.Now()})
	}))
	return w
}

// worked is how many files the script reads and edits.
const worked = 20

func workFile(i int) string { return fmt.Sprintf("work/f%02d.txt", i%worked) }

// makeTree writes n files of about 4 KB. Each line of the worked ones is
// unique, so that an edit can name it.
func makeTree(dir string, n int) error {
	for i := range max(n, worked) {
		name := workFile(i)
		if i >= worked {
			name = fmt.Sprintf("rest/d%02d/f%05d.txt", i%50, i)
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		var text strings.Builder
		for l := range 80 {
			fmt.Fprintf(&text, "line %d of file %d: what stands here is of no importance\n", l, i)
		}
		if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// run carries a new plan to the end of Execute and checks that it got there.
func (w *world) run(b *testing.B) plan.Plan {
	b.Helper()
	ctx := context.Background()
	p, err := w.Use(ctx, engine.UseInput{Action: "local/bench", Project: "local/p", Profile: "auto"})
	must(b, err)
	must(b, w.Run(ctx, p.ID, "", nil))
	must(b, w.Store.View(ctx, func(tx engine.Tx) error {
		p, err = tx.Plan(p.ID)
		return err
	}))
	if p.Phase != plan.PhaseExecute || p.State != plan.Waiting && p.State != plan.Complete {
		b.Fatalf("the plan is %s: %s", p.Status, p.Reason)
	}
	return p
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
