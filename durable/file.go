package durable

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	// Registers SQLite with DBOS and, as "sqlite", with database/sql.
	_ "github.com/dbos-inc/dbos-transact-golang/dbos/driver/sqlite"
	"golang.org/x/sys/unix"

	"github.com/cleveragents/agents/fault"
)

// openFile opens the SQLite file for this user only. SQLite gives the files it
// makes beside it the same mode.
func openFile(ctx context.Context, path string) (*sql.DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "open the workflow file: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "open the workflow file: %w", err)
	}
	if err := f.Close(); err != nil {
		return nil, fault.New(fault.Unavailable, "open the workflow file: %w", err)
	}
	q := url.Values{
		"_txlock": {"immediate"}, // a transaction that upgrades late can fail with BUSY at once
		"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(NORMAL)", "foreign_keys(ON)"},
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, fault.New(fault.Unavailable, "open %s: %w", path, err)
	}
	// Writers wait for each other anyway; a few connections keep readers apart.
	db.SetMaxOpenConns(4)
	db.SetMaxIdleConns(4)
	if err := db.PingContext(ctx); err != nil {
		_ = db.Close() // the first error tells more
		return nil, trouble(ctx, path, "open", err)
	}
	return db, nil
}

// absent reports whether there is no file, or an empty one that nothing was
// written to yet.
func absent(path string) (bool, error) {
	st, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, fault.New(fault.Unavailable, "open the workflow file: %w", err)
	case !st.Mode().IsRegular():
		return false, fault.New(fault.Invalid, "the workflow file %s is not a regular file", path).
			WithHint("move it away; it is made anew")
	}
	return st.Size() == 0, nil
}

// lockOpening lets one process at a time make or upgrade the file. Without it
// the losers of the race for SQLite's locks would back off in steps of 100 ms.
func lockOpening(ctx context.Context, path string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fault.New(fault.Unavailable, "open the workflow file: %w", err)
	}
	f, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "open the workflow file: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, openLimit)
	defer cancel()
	retry := time.NewTicker(2 * time.Millisecond)
	defer retry.Stop()
	for {
		err := flock(f, unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil // closing frees the lock
		}
		if err != unix.EWOULDBLOCK {
			_ = f.Close()
			return nil, fault.New(fault.Unavailable, "lock %s.lock: %w", path, err)
		}
		select {
		case <-ctx.Done():
			_ = f.Close()
			return nil, fault.New(fault.Busy, "another process is opening %s: %w", path, ctx.Err())
		case <-retry.C:
		}
	}
}

// flock is flock(2), again when a signal interrupts it.
func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if err != unix.EINTR {
			return err
		}
	}
}
