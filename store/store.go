// Package store keeps the records of the engine in a relational database:
// engine.Store over database/sql, once, for SQLite and PostgreSQL.
//
// Every table has real columns for what is asked for or is the product itself;
// configuration, the inside of a plan and small lists are JSON. One list of columns a
// record both writes and reads it (column.go). Writers run one after the
// other, in SQLite by BEGIN IMMEDIATE and in PostgreSQL by one advisory lock,
// so that "one more than the largest" is a correct and gapless sequence in
// both, and what an Update has read is still true when it commits. Readers
// never wait.
//
// A refused insert (fault.Exists) leaves the transaction usable; any other
// error of the database spoils it, and Update then rolls back even when its
// function swallows the error. Nothing here deletes a record of a plan, reads a clock or
// retries: when a writer cannot have its turn within the limit, the caller is
// told (fault.Busy).
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
)

// DefaultBusy is how long a writer waits for its turn where nothing is said.
const DefaultBusy = 10 * time.Second

// DB is an open store. It is safe for concurrent use.
type DB struct {
	c       Config
	turn    chan struct{} // holds one token: this process writes through one connection
	relaxed bool          // how the writing connection is set; whoever has the turn has this too

	stmts [2]statements // of the pools that write and read
}

// Config is what a DB is made of.
type Config struct {
	Write, Read *sql.DB // the same one, or two with different settings
	Dialect     Dialect
	Busy        time.Duration // how long a writer waits for its turn; 0 means DefaultBusy
	Where       string        // the path or the address, for people; no password
	// Check looks for damage and returns what it found, nothing when all is well.
	Check func(ctx context.Context, db *sql.DB) ([]string, error)
	Size  func(ctx context.Context, db *sql.DB) (int64, error) // bytes on disk
}

// New returns a store on a database whose schema is current (see Migrate).
// Close closes both pools.
func New(c Config) *DB {
	if c.Busy == 0 {
		c.Busy = DefaultBusy
	}
	d := &DB{c: c, turn: make(chan struct{}, 1)}
	if c.Dialect.Prepare {
		d.stmts = [2]statements{{db: c.Write}, {db: c.Read}}
	}
	d.turn <- struct{}{}
	return d
}

// Path returns where the store is, for people.
func (d *DB) Path() string { return d.c.Where }

// Close waits for running transactions' statements and closes the store.
func (d *DB) Close() error {
	err := errors.Join(d.stmts[0].close(), d.stmts[1].close(), d.c.Read.Close())
	if d.c.Write != d.c.Read {
		err = errors.Join(d.c.Write.Close(), err)
	}
	return err
}

// View implements engine.Store.
func (d *DB) View(ctx context.Context, f func(engine.Tx) error) error {
	s, err := d.c.Read.BeginTx(ctx, &d.c.Dialect.Read)
	if err != nil {
		return d.fault(ctx, "read the store", err)
	}
	defer func() {
		s.Rollback() // nothing was written: there is nothing to commit
		d.stmts[1].prepare(ctx)
	}()
	return f(&tx{db: d, ctx: ctx, sql: s, stmts: &d.stmts[1], readOnly: true})
}

// Update implements engine.Store. Numbers that the transaction gave to records
// (Seq, Version) are taken back when it does not commit.
func (d *DB) Update(ctx context.Context, f func(engine.Tx) error) error {
	return d.update(ctx, false, f)
}

// UpdateRelaxed implements engine.Store.
func (d *DB) UpdateRelaxed(ctx context.Context, f func(engine.Tx) error) error {
	return d.update(ctx, true, f)
}

func (d *DB) update(ctx context.Context, relaxed bool, f func(engine.Tx) error) (err error) {
	if err := d.wait(ctx); err != nil {
		return err
	}
	defer func() { d.turn <- struct{}{} }()
	if err := d.relax(ctx, relaxed); err != nil {
		return d.fault(ctx, "write to the store", err)
	}
	s, err := d.c.Write.BeginTx(ctx, &d.c.Dialect.Write)
	if err != nil {
		return d.fault(ctx, "write to the store", err)
	}
	t := &tx{db: d, ctx: ctx, sql: s, stmts: &d.stmts[0]}
	committed := false
	defer func() { // also on a panic of f, which goes on after it
		if !committed {
			s.Rollback()
			t.takeBack()
		}
	}()
	if d.c.Dialect.Lock != "" {
		if _, err := s.ExecContext(ctx, d.c.Dialect.Lock); err != nil {
			return d.fault(ctx, "write to the store", err)
		}
	}
	if relaxed && d.c.Dialect.RelaxTx != "" {
		if _, err := s.ExecContext(ctx, d.c.Dialect.RelaxTx); err != nil {
			return d.fault(ctx, "write to the store", err)
		}
	}
	if err := f(t); err != nil {
		return err
	}
	if t.spoiled != nil {
		return t.spoiled
	}
	if err := s.Commit(); err != nil {
		return d.fault(ctx, "commit to the store", err)
	}
	committed = true
	d.stmts[0].prepare(ctx)
	return nil
}

// relax sets the writing connection, where that is done between transactions.
// A connection that the pool made anew is strict, whatever was set before: so
// one that is thought to be relaxed is told in either case.
func (d *DB) relax(ctx context.Context, want bool) error {
	if d.c.Dialect.Relax == "" || want == d.relaxed {
		return nil
	}
	set := d.c.Dialect.Strict
	if want {
		set, d.relaxed = d.c.Dialect.Relax, true
	}
	if _, err := d.c.Write.ExecContext(ctx, set); err != nil {
		return err
	}
	d.relaxed = want
	return nil
}

// wait takes this process's turn to write.
func (d *DB) wait(ctx context.Context) error {
	select {
	case <-d.turn:
		return nil
	default:
	}
	limit := time.NewTimer(d.c.Busy)
	defer limit.Stop()
	select {
	case <-d.turn:
		return nil
	case <-limit.C:
		return d.busy(nil)
	case <-ctx.Done():
		return fmt.Errorf("write to the store: %w", ctx.Err())
	}
}

func (d *DB) busy(cause error) error {
	e := fault.New(fault.Busy, "the store %s has been in use by another writer for more than %s", d.c.Where, d.c.Busy).
		WithHint("try again; if it stays so, look for a process that hangs")
	e.Err = cause
	return e
}

// fault turns an error of the database into one of ours. What is the thing or
// the deed that it happened to.
func (d *DB) fault(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", what, ctx.Err())
	}
	if f := (*fault.Error)(nil); errors.As(err, &f) {
		return err
	}
	kind, ok := d.c.Dialect.Kind(err)
	switch {
	case !ok && errors.Is(err, sql.ErrTxDone):
		return fault.New(fault.Internal, "%s: the transaction is over", what)
	case !ok:
		return fault.New(fault.Internal, "%s: %w", what, err)
	}
	switch kind {
	case fault.Busy:
		return d.busy(err)
	case fault.Exists:
		return fault.New(kind, "%s exists already: %w", what, err)
	case fault.NotFound:
		return fault.New(kind, "%s refers to something that is not there: %w", what, err)
	case fault.Exhausted:
		return fault.New(kind, "%s: no space left for %s: %w", what, d.c.Where, err).
			WithHint("free some space; everything that was committed is kept")
	case fault.Unavailable:
		return fault.New(kind, "%s: %s cannot be reached or written: %w", what, d.c.Where, err)
	case fault.Corrupt:
		return fault.New(kind, "%s: %s is damaged: %w", what, d.c.Where, err).
			WithHint("stop, copy the file away, then run: agents db status")
	}
	return fault.New(kind, "%s: %w", what, err)
}
