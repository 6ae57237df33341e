// Package durable carries step loops through crashes: it is engine.Runner over
// DBOS and one SQLite file.
//
// A run is a DBOS workflow whose id is the run's key and whose body calls one
// step again and again until it is done. DBOS records each step's small
// outcome before the next begins, and answers a recorded step from the record
// when the workflow is started again; so a run that died goes on after its
// last recorded step by being started as if it were new.
//
// The workflow's status row is the claim on the key. It names the process that
// runs it and is created by one insert, so of two processes one gets the key
// and the other fault.Busy. A claim whose process is dead, or was given up by
// cancelling, is deleted and made anew (claim.go); the recorded steps stay.
// Only the asked key is taken over, never the other runs of a dead process.
// A process that lost its claim cannot record: DBOS checks the claim's token
// in the transaction that records a step.
//
// It does not promise that a step happens once: one that was cut short, or
// was done but not yet recorded, is called again with the same number. After a
// power cut (not after a kill) the last recorded steps may be forgotten, as the
// file is not synced at each commit. The engine's own records are the truth;
// this file may be deleted while nothing runs, and then each run starts from
// step 0 and finds in those records how far it got.
package durable

import (
	"context"
	"database/sql"
	"log/slog"
	"sync"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
)

const (
	appName = "agents"
	// version names the shape of the loop and of its records. DBOS's default
	// is a hash of the program, which would part each build from the last.
	version = "agents-workflow-1"

	openLimit  = time.Minute // on a busy disk making the tables takes seconds
	closeLimit = 10 * time.Second
	// defaultKeep is small beside the engine's own records of as many runs.
	defaultKeep = 1000
)

// Config is what a Runner needs. Path and Live are required.
type Config struct {
	Path string // the SQLite file; it is made when it is not there
	// Live names this process and tells whether another one is alive. Its
	// Self must be unique to this process start.
	Live   engine.Liveness
	Logger *slog.Logger // what DBOS says; nil discards it
	// Keep is how many ended or unfinished runs the file remembers, newest
	// first; 0 means 1000. A run that is forgotten starts from step 0.
	Keep int
}

// Runner is engine.Runner for one process. It is safe for concurrent use.
type Runner struct {
	path string
	db   *sql.DB
	dbos dbos.Context
	live engine.Liveness
	log  *slog.Logger
	keep int

	base context.Context // done when the runner closes
	stop context.CancelCauseFunc

	mu     sync.Mutex
	runs   map[string]*run
	active sync.WaitGroup
	closed bool
}

var _ engine.Runner = (*Runner)(nil)

// Open opens the file, making it when needed, and starts the workflow engine.
// Processes may open one file at the same time. The caller calls Close.
func Open(ctx context.Context, c Config) (*Runner, error) {
	if c.Path == "" || c.Live == nil {
		return nil, fault.New(fault.Internal, "open the workflow file: no path or no liveness given")
	}
	r := &Runner{path: c.Path, live: c.Live, log: c.Logger, keep: c.Keep, runs: map[string]*run{}}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	if r.keep <= 0 {
		r.keep = defaultKeep
	}
	unlock, err := lockOpening(ctx, c.Path)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if r.db, err = openFile(ctx, c.Path); err != nil {
		return nil, err
	}
	// The runner outlives the call that opens it.
	r.base, r.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	if err := r.launch(); err != nil {
		r.stop(err)
		return nil, err
	}
	return r, nil
}

// launch starts DBOS on r.db. DBOS closes r.db when it shuts down, also when
// its start fails half-way.
func (r *Runner) launch() error {
	d, err := dbos.NewContext(context.WithoutCancel(r.base), dbos.Config{
		AppName:                  appName,
		SQLiteSystemDB:           r.db,
		Logger:                   r.log,
		ApplicationVersion:       version,
		ExecutorID:               r.live.Self(),
		SystemDBStartupTimeout:   openLimit,
		SchedulerPollingInterval: 24 * time.Hour, // there are no schedules
	})
	if err != nil {
		_ = r.db.Close() // the first error tells more
		return trouble(r.base, r.path, "start the workflow engine", err)
	}
	r.dbos = d
	// DBOS lets the environment override both; two processes with one name
	// would take each other's runs for their own.
	if d.GetExecutorID() != r.live.Self() || d.GetApplicationVersion() != version {
		r.shutdown()
		return fault.New(fault.Invalid, "the environment renames this process for DBOS").
			WithHint("unset DBOS__VMID and DBOS__APPVERSION")
	}
	dbos.RegisterWorkflow(d, r.carry, dbos.WithWorkflowName("run"))
	if err := dbos.Launch(d); err != nil {
		_ = r.db.Close()
		return trouble(r.base, r.path, "start the workflow engine", err)
	}
	return nil
}

// Close interrupts the runs that are still going, waits for their steps to
// return, and stops the workflow engine. A second Close does nothing.
func (r *Runner) Close() error {
	r.mu.Lock()
	closed := r.closed
	r.closed = true
	r.mu.Unlock()
	if closed {
		return nil
	}
	r.stop(fault.New(fault.Interrupted, "the program is closing"))
	r.active.Wait()
	return r.shutdown()
}

func (r *Runner) shutdown() error {
	err := dbos.Shutdown(r.dbos, closeLimit)
	if cerr := r.db.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fault.New(fault.Unavailable, "close the workflow file: %w", err)
	}
	return nil
}
