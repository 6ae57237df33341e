package main

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/adrg/xdg"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/a2a/local"
	"github.com/cleveragents/agents/blob"
	"github.com/cleveragents/agents/builtin"
	"github.com/cleveragents/agents/cli"
	"github.com/cleveragents/agents/config"
	"github.com/cleveragents/agents/demo"
	"github.com/cleveragents/agents/durable"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/jail"
	"github.com/cleveragents/agents/llm"
	"github.com/cleveragents/agents/llm/detect"
	"github.com/cleveragents/agents/llm/scripted"
	"github.com/cleveragents/agents/models"
	"github.com/cleveragents/agents/proc"
	"github.com/cleveragents/agents/sandbox"
	"github.com/cleveragents/agents/secret"
	"github.com/cleveragents/agents/stock"
	"github.com/cleveragents/agents/store"
	"github.com/cleveragents/agents/store/sqlite"
	"github.com/cleveragents/agents/upkeep"
)

// open puts the rooms together over the data directory and returns the client
// that the command line speaks to, with what has to be closed after.
func open(ctx context.Context, o cli.Options) (a2a.Client, io.Closer, error) {
	dir := o.DataDir
	if dir == "" {
		dir = filepath.Join(xdg.DataHome, "cleveragents")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, nil, fault.New(fault.Invalid, "data directory %s: %w", o.DataDir, err)
	}
	w := &world{dir: dir, paths: a2a.DBPathView{
		Store:  filepath.Join(dir, "data.db"),
		Blobs:  filepath.Join(dir, "blobs"),
		Engine: filepath.Join(dir, "engine.db"),
		Trees:  filepath.Join(dir, "trees"),
	}}
	if _, err := os.Lstat(w.paths.Store); err != nil && o.Existing {
		return nil, nil, fault.New(fault.NotFound, "no store in %s", dir)
	}
	if o.Unopened {
		b := newBedside(w, o.Settings)
		return b, b, nil
	}
	if err := w.build(ctx, dir, o); err != nil {
		return nil, nil, errors.Join(err, w.Close())
	}
	return &logged{client: w.facade, log: w.logger, now: time.Now}, w, nil
}

// world is everything that is open.
type world struct {
	dir    string
	use    *upkeep.Use
	trees  *sandbox.Trees
	paths  a2a.DBPathView
	db     *store.DB
	blobs  *blob.Store
	live   *durable.Workers
	log    io.Closer
	logger *slog.Logger
	runner *lazyRunner
	facade *local.Facade

	confine *jail.Jail
}

func (w *world) build(ctx context.Context, dir string, o cli.Options) (err error) {
	if w.use, err = upkeep.Enter(ctx, dir); err != nil {
		return err
	}
	if w.db, err = sqlite.Open(ctx, w.paths.Store, sqlite.Options{}); err != nil {
		return err
	}
	if w.blobs, err = blob.Open(w.paths.Blobs, w.db); err != nil {
		return err
	}
	ids := ident.NewSource(time.Now, rand.Reader)
	if w.live, err = durable.NewWorkers(filepath.Join(dir, "workers"), ids.New()); err != nil {
		return err
	}
	log, closeLog, err := newLog(o.Settings)
	if err != nil {
		return err
	}
	w.log, w.logger = closeLog, log
	w.runner = &lazyRunner{config: durable.Config{Path: w.paths.Engine, Live: w.live}}
	actions, err := stock.Actions()
	if err != nil {
		return err
	}
	actors, err := stock.Actors()
	if err != nil {
		return err
	}
	programs, set := proc.New(time.Now), o.Settings
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // nothing to guard, and no key below it
	}
	target := sandbox.NewTarget(sandbox.TargetConfig{
		Blobs: w.blobs, Kept: filepath.Join(dir, "kept"), Dir: filepath.Join(dir, "applies"), Git: sandbox.GitConfig{Home: home, Env: os.LookupEnv},
	})
	w.trees = sandbox.New(sandbox.Config{Dir: w.paths.Trees, Blobs: w.blobs, MaxFiles: set.Whole(config.MaxFiles), Target: target})
	desk := models.New(models.Config{
		Store: w.db, Env: os.LookupEnv, Now: time.Now, Loopback: detect.Transport(), Default: set.Text(config.DefaultModel),
		Secrets: secret.New(secret.Options{Env: os.LookupEnv, Ring: secret.SystemRing(), Home: home}),
		Built: map[string]llm.Provider{scripted.Name: scripted.Provider(scripted.Config{
			Scripts: map[string]scripted.Script{demo.Model: demoScript{}}, Read: readFile,
		})},
	})
	w.confine = confinement(dir, home, programs, set)
	e := engine.New(engine.Config{
		Store: w.db, Blobs: w.blobs, Model: desk,
		Sandboxes: w.trees,
		Target:    target,
		Tools:     builtin.New(builtin.Config{Jail: w.confine, ShellTimeout: set.Span(config.ShellTimeout), ShellMaxTimeout: set.Span(config.ShellMaxTimeout)}),
		Checker:   builtin.NewChecker(w.confine, set.Span(config.CheckTimeout)),
		Programs:  builtin.NewPrograms(w.confine),
		Confined:  w.confine.Ready,
		Runner:    w.runner, Live: w.live, IDs: ids, Now: time.Now, Log: log,
		Actions: actions, Actors: actors,
		Price: desk.Price, Window: desk.Window, BuiltinActor: desk.Actor,
		DefaultModel: func(ctx context.Context) (provider, model string, err error) {
			c, err := desk.Default(ctx)
			return c.Provider, c.Model, err
		},
	})
	w.facade = local.New(local.Config{Engine: e, Models: desk, DB: data{w}, Paths: w.paths, Home: home, Dir: o.Dir, Doctor: newCheckup(w.paths, set).run, Configuration: personal{configPath(o.ConfigFile)}})
	return nil
}

// Close closes everything that was opened, in the opposite order.
func (w *world) Close() error {
	var errs []error
	if w.runner != nil {
		errs = append(errs, w.runner.Close())
	}
	if w.live != nil {
		errs = append(errs, w.live.Close())
	}
	if w.blobs != nil {
		errs = append(errs, w.blobs.Close())
	}
	if w.db != nil {
		errs = append(errs, w.db.Close())
	}
	if w.log != nil {
		errs = append(errs, w.log.Close())
	}
	if w.use != nil {
		errs = append(errs, w.use.Close())
	}
	return errors.Join(errs...)
}

// lazyRunner opens the workflow engine when the first plan runs: most commands
// only read, and it costs them nothing.
type lazyRunner struct {
	config durable.Config
	mu     sync.Mutex
	opened *durable.Runner
}

// Run implements engine.Runner.
func (l *lazyRunner) Run(ctx context.Context, key string, step func(ctx context.Context, n int) (bool, error)) error {
	l.mu.Lock()
	if l.opened == nil {
		r, err := durable.Open(ctx, l.config)
		if err != nil {
			l.mu.Unlock()
			return err
		}
		l.opened = r
	}
	r := l.opened
	l.mu.Unlock()
	return r.Run(ctx, key, step)
}

// Close closes the workflow engine where it was opened.
func (l *lazyRunner) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.opened == nil {
		return nil
	}
	return l.opened.Close()
}
