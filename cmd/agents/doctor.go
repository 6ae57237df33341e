package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/a2a/local"
	"github.com/cleveragents/agents/blob"
	"github.com/cleveragents/agents/config"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/jail"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/proc"
	"github.com/cleveragents/agents/store"
)

// bedside is the client where the data is opened only as far as it can be: it
// answers what has to work then.
type bedside struct{ doctor *local.Facade }

// Do answers one operation.
func (b bedside) Do(ctx context.Context, method string, req any, emit func(plan.Event)) (any, error) {
	if !slices.Contains(local.Closed(), method) {
		return nil, fault.New(fault.Internal, "%s needs the data to be open", method)
	}
	return b.doctor.Do(ctx, method, req, emit)
}

// Close closes nothing: what a check opens it closes itself.
func (bedside) Close() error { return nil }

func newBedside(w *world, set config.Settings) bedside {
	return bedside{local.New(local.Config{DB: data{w}, Paths: w.paths, Doctor: newCheckup(w.paths, set).run})}
}

// checkup looks at what a plan needs from the machine and at the data, part by
// part, so that one that is broken hides no other. It changes nothing but what
// it is told to fix, and what every command makes when it is not there.
type checkup struct {
	dir   string // of the data
	paths a2a.DBPathView
	home  string
	now   func() time.Time

	confine *jail.Jail

	fix   bool
	found []a2a.Finding
	db    *store.DB   // nil when it does not open
	blobs *blob.Store // the same
	stats store.Status
}

func newCheckup(paths a2a.DBPathView, set config.Settings) checkup {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // nothing to leave out of a report
	}
	dir := filepath.Dir(paths.Store)
	return checkup{dir: dir, paths: paths, home: home, now: time.Now, confine: confinement(dir, home, proc.New(time.Now), set)}
}

// run is one visit; the receiver is a copy of its own.
func (c checkup) run(ctx context.Context, q a2a.DoctorQuery) (_ a2a.DoctorView, err error) {
	c.fix = q.Fix
	c.machine()
	c.directory(ctx)
	c.openStore(ctx)
	c.openBlobs(ctx)
	defer func() { err = errors.Join(err, c.close()) }()
	c.openPlans(ctx)
	c.workflows(ctx)
	c.leftovers(ctx)
	c.sandbox(ctx)
	c.programs()
	if err := ctx.Err(); err != nil {
		return a2a.DoctorView{}, err
	}
	if q.Bundle != nil {
		to, err := q.Bundle()
		if err != nil {
			return a2a.DoctorView{}, err
		}
		if err := c.bundle(to); err != nil {
			return a2a.DoctorView{}, err
		}
	}
	return a2a.DoctorView{Findings: c.found}, nil
}

func (c *checkup) close() error {
	var errs []error
	if c.blobs != nil {
		errs = append(errs, c.blobs.Close())
	}
	if c.db != nil {
		errs = append(errs, c.db.Close())
	}
	return errors.Join(errs...)
}

func (c *checkup) add(f a2a.Finding) { c.found = append(c.found, f) }

func (c *checkup) ok(name, format string, args ...any) {
	c.add(a2a.Finding{Name: name, Level: "ok", Detail: fmt.Sprintf(format, args...)})
}

// problem adds an error; the fix is for one that has no hint of its own.
func (c *checkup) problem(name string, err error, fix string) {
	f := fault.As(err)
	if f.Hint != "" {
		fix = f.Hint
	}
	c.add(a2a.Finding{Name: name, Level: "problem", Detail: f.Msg, Fix: fix})
}

func (c *checkup) machine() {
	c.ok("program", "agents %s, %s, %s/%s", release, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// sandbox tells what confines programs here, after it was tried.
func (c *checkup) sandbox(ctx context.Context) {
	backend, why, err := c.confine.Backend(ctx)
	switch {
	case err != nil:
		c.problem("sandbox", err, "")
	case backend == jail.Unconfined:
		c.problem("sandbox", jail.Refusal(why), "")
	case backend == jail.Landlock:
		c.add(a2a.Finding{
			Name: "sandbox", Level: "warning",
			Detail: "landlock: programs reach no files but the project's copy and no TCP, but they see the processes of this machine and may reach its unix sockets (" + why + ")",
			Fix:    "install bubblewrap: sudo apt-get install bubblewrap",
		})
	default:
		caches := "with builds cached over your own caches"
		if !c.confine.Layered(ctx) {
			caches = "without your own build caches, as overlayfs cannot be mounted here"
		}
		c.ok("sandbox", "bubblewrap: programs see the project's copy, no network and nothing of your home, %s", caches)
	}
}

// programs tells what is there of the programs and the parts of the kernel that
// a plan can use. Only the shell is needed.
func (c *checkup) programs() {
	for _, p := range []struct{ name, without string }{
		{"sh", ""},
		{"git", "not found; nothing needs it"},
		{"bwrap", "not found; it is what confines programs best"},
	} {
		path, err := proc.Lookup(p.name)
		switch {
		case err == nil:
			c.ok(p.name, "%s", path)
		case p.without == "":
			c.problem(p.name, err, "the shell tool and validations need a POSIX shell on PATH")
		default:
			c.ok(p.name, "%s", p.without)
		}
	}
	if v := proc.Landlock(); v > 0 {
		c.ok("landlock", "version %d; confines programs where bubblewrap does not work", v)
	} else {
		c.ok("landlock", "not offered by this kernel")
	}
	c.ok("models", "scripted (no key, no network); actions without a model, such as builtin/command, need none; agents provider list --detect looks for others")
}

// has reports whether there is a finding of that name that is a problem.
func (c *checkup) has(name string) bool {
	return slices.ContainsFunc(c.found, func(f a2a.Finding) bool { return f.Name == name && f.Level == "problem" })
}
