// Package upkeep looks after a data directory as a whole: it backs it up,
// brings a backup back, removes what nothing names any more and checks that
// what is named is there.
//
// Every process that opens a directory Enters it and holds a shared lock while
// it lives; what replaces files wants the lock alone. A backup is one tar file:
// a copy of the database as of one moment and the blobs that it names. A restore
// checks all of a backup and lays it beside the data before it writes its one
// marker; from there on whoever enters the directory next finishes it, so that a
// death at any point leaves all of the old data or all of the new (swap.go).
// What garbage collection may remove, and why that is safe beside running
// processes, is said in gc.go.
//
// It does not repair a damaged file, and deletes no data that a restore set
// aside.
package upkeep

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/cleveragents/agents/fault"
)

// The names in a data directory that matter here.
const (
	storeName  = "data.db"
	blobsName  = "blobs"
	useLock    = "use.lock"
	gcLock     = "gc.lock"
	markerName = "restore.json"
	stageName  = "restoring"
	asideName  = "before-restore-"
)

// lockLimit is how long Enter waits for a restore to end.
const lockLimit = 30 * time.Second

// Use is a process's stay in a data directory.
type Use struct {
	dir  string
	file *os.File
}

// Enter joins the processes that use the directory, which is made when it is
// not there. A restore that died half-way is finished first. While one is at
// work Enter waits, and then returns fault.Busy. Close leaves.
func Enter(ctx context.Context, dir string) (*Use, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fault.New(fault.Unavailable, "data directory: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, useLock), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "data directory: %w", err).
			WithHint("make %s writable, or choose another place with --data-dir", dir)
	}
	u := &Use{dir, f}
	limit, cancel := context.WithTimeout(ctx, lockLimit)
	defer cancel()
	if err := flock(limit, f, syscall.LOCK_SH); err != nil {
		return nil, errors.Join(u.locked(ctx, err), f.Close())
	}
	if _, err := os.Lstat(filepath.Join(dir, markerName)); err != nil {
		return u, nil // there is none, or what it is about will not open either
	}
	if err := flock(limit, f, syscall.LOCK_EX); err != nil {
		return nil, errors.Join(u.locked(ctx, err), f.Close())
	}
	err = finish(dir)
	if err == nil {
		err = flock(limit, f, syscall.LOCK_SH)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return u, nil
}

func (u *Use) locked(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fault.New(fault.Busy, "%s is being restored by another process", u.dir).WithHint("try again when it is done")
	}
	return fault.New(fault.Unavailable, "lock %s: %w", u.dir, err)
}

// Alone makes this process the only one that uses the directory, until Close;
// fault.Busy when another one does.
func (u *Use) Alone(ctx context.Context) error {
	err := syscall.Flock(int(u.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return nil
	}
	if !errors.Is(err, syscall.EWOULDBLOCK) {
		return fault.New(fault.Unavailable, "lock %s: %w", u.dir, err)
	}
	if err := flock(ctx, u.file, syscall.LOCK_SH); err != nil { // the failed try may have let go
		return fault.New(fault.Unavailable, "lock %s: %w", u.dir, err)
	}
	return fault.New(fault.Busy, "another agents process uses %s", u.dir).
		WithHint("stop it, or wait until it has ended: agents status")
}

// Close leaves the directory.
func (u *Use) Close() error { return u.file.Close() }

// locked takes a lock of its own for one piece of work.
func hold(ctx context.Context, dir, name string, how int) (release func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "lock: %w", err)
	}
	limit, cancel := context.WithTimeout(ctx, lockLimit)
	defer cancel()
	if err := flock(limit, f, how); err != nil {
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			err = fault.New(fault.Busy, "a backup or a garbage collection of %s is at work", dir).WithHint("try again when it is done")
		}
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil // closing lets go
}

// flock waits for a lock until ctx is done.
func flock(ctx context.Context, f *os.File, how int) error {
	wait := time.NewTicker(5 * time.Millisecond)
	defer wait.Stop()
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		if err == nil || !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-wait.C:
		}
	}
}
