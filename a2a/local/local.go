// Package local answers the operations of package a2a in this process, over an
// engine: the facade behind which a door cannot tell a local plan from a
// remote one. It translates and looks up; every rule is the engine's.
package local

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/models"
	"github.com/cleveragents/agents/plan"
)

// Database is what the facade asks of the store besides its records.
type Database interface {
	Path() string
	Status(ctx context.Context, check bool) (a2a.DBStatusView, error)
	Backup(ctx context.Context, r a2a.DBBackupRequest) (a2a.DBBackupView, error)
	// Restore and Migrate work on a store that is not open.
	Restore(ctx context.Context, r a2a.DBRestoreRequest) (a2a.DBRestoreView, error)
	Migrate(ctx context.Context, dryRun bool) (a2a.DBMigrateView, error)
	GC(ctx context.Context, r a2a.DBGCRequest) (a2a.DBGCView, error)
}

// Config is what a Facade answers from.
type Config struct {
	Engine *engine.Engine
	DB     Database
	Models *models.Desk
	Paths  a2a.DBPathView
	Home   string // the user's home directory, "" when there is none
	Dir    string // where the user is: its project counts when none is named
	Doctor func(context.Context, a2a.DoctorQuery) (a2a.DoctorView, error)
	// Configuration is nil where nothing can be set: the defaults count.
	Configuration Configuration
}

// Facade is an a2a.Client in this process. Safe for concurrent use.
type Facade struct {
	Config
	handlers map[string]a2a.Handler
}

// New returns the facade.
func New(c Config) *Facade {
	f := &Facade{Config: c, handlers: map[string]a2a.Handler{}}
	for _, h := range slices.Concat(
		f.actionHandlers(),
		f.actorHandlers(),
		f.approvalHandlers(),
		f.checkpointHandlers(),
		f.configHandlers(),
		f.dbHandlers(),
		f.doctorHandlers(),
		f.planHandlers(),
		f.projectHandlers(),
		f.providerHandlers(),
		f.resourceHandlers(),
		f.sandboxHandlers(),
		f.sessionHandlers(),
		f.statusHandlers(),
		f.usageHandlers(),
	) {
		f.handlers[h.Info.Method] = h
	}
	return f
}

// Methods returns the methods that have a handler.
func (f *Facade) Methods() []string {
	var out []string
	for m := range f.handlers {
		out = append(out, m)
	}
	return out
}

// Do answers one operation; see a2a.Client.
func (f *Facade) Do(ctx context.Context, method string, req any, emit func(plan.Event)) (any, error) {
	h, ok := f.handlers[method]
	if !ok {
		return nil, fault.New(fault.NotImplemented, "no operation %s", method)
	}
	return h.Do(ctx, req, emit)
}

func (f *Facade) view(ctx context.Context, do func(engine.Tx) error) error {
	return f.Engine.Store.View(ctx, do)
}

func (f *Facade) update(ctx context.Context, do func(engine.Tx) error) error {
	return f.Engine.Store.Update(ctx, do)
}

// realDir resolves a directory that a person named and refuses one that is too
// wide to be a project, unless forced.
func (f *Facade) realDir(dir string, force bool) (string, error) {
	if !filepath.IsAbs(dir) {
		return "", fault.New(fault.Invalid, "%s is not an absolute path", dir)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fault.New(fault.NotFound, "%s: %w", dir, err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", fault.New(fault.NotFound, "%s: %w", dir, err)
	}
	if !info.IsDir() {
		return "", fault.New(fault.Invalid, "%s is not a directory", dir)
	}
	home := f.Home
	if home != "" {
		if h, err := filepath.EvalSymlinks(home); err == nil {
			home = h
		}
	}
	if !force && (real == "/" || real == home) {
		what := "your home directory"
		if real == "/" {
			what = "the root of the file system"
		}
		return "", fault.New(fault.Invalid, "%s is %s: a plan would copy and may change all of it", real, what).
			WithHint("name a project directory, or add --force if you mean it")
	}
	if data := filepath.Dir(f.Paths.Store); f.Paths.Store != "" {
		if d, err := filepath.EvalSymlinks(data); err == nil {
			data = d
		}
		if within(data, real) || within(real, data) {
			return "", fault.New(fault.Invalid, "%s and the program's own data in %s lie in each other", real, data).
				WithHint("choose another --data-dir")
		}
	}
	return real, nil
}

// within reports whether path is dir or below it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
