package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cleveragents/agents/fault"
)

// prepare sees to it that the file is there, ours alone and writable.
func (f file) prepare() error {
	dir := filepath.Dir(f.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fault.New(fault.Unavailable, "store %s: %w", f.path, err)
	}
	if err := private(dir, fs.ModeDir); err != nil {
		return err
	}
	if err := local(dir); err != nil {
		return err
	}
	st, err := os.Lstat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return f.create(dir)
	}
	if err != nil {
		return fault.New(fault.Unavailable, "store %s: %w", f.path, err)
	}
	if err := private(f.path, 0); err != nil {
		return err
	}
	// Opening the file to try would, when it is closed again, drop the locks
	// that SQLite holds on it in this process.
	for _, p := range []string{f.path, dir} {
		if err := unix.Access(p, unix.R_OK|unix.W_OK); err != nil {
			return fault.New(fault.Unavailable, "store %s: cannot write %s: %w", f.path, p, err)
		}
	}
	if log, err := os.Lstat(f.path + "-wal"); err == nil && st.Size() == 0 && log.Size() > 0 {
		// SQLite would take the log for a left-over and delete it.
		return fault.New(fault.Corrupt, "%s is empty, but its log %s-wal is not", f.path, f.path).
			WithHint("nothing was changed; move both away to start anew")
	}
	return nil
}

// create makes the empty file with its mode at once. It is made aside and
// linked, so that no descriptor of ours is ever open on the file itself.
func (f file) create(dir string) error {
	aside, err := os.CreateTemp(dir, ".new-*") // 0600, whatever the umask
	if err != nil {
		return fault.New(fault.Unavailable, "store %s: %w", f.path, err)
	}
	defer os.Remove(aside.Name())
	if err := aside.Close(); err != nil {
		return fault.New(fault.Unavailable, "store %s: %w", f.path, err)
	}
	if err := os.Link(aside.Name(), f.path); err != nil && !errors.Is(err, fs.ErrExist) {
		return fault.New(fault.Unavailable, "store %s: %w", f.path, err)
	}
	return nil
}

// private refuses what is not of the type, not ours, or writable by others.
func private(path string, want fs.FileMode) error {
	st, err := os.Lstat(path)
	if err != nil {
		return fault.New(fault.Unavailable, "store: %w", err)
	}
	if want.IsDir() { // a link to the directory is the user's business; who can write there is ours
		if st, err = os.Stat(path); err != nil {
			return fault.New(fault.Unavailable, "store: %w", err)
		}
	}
	if st.Mode().Type() != want {
		return fault.New(fault.Invalid, "store: %s is not a %s", path, map[bool]string{true: "directory", false: "regular file"}[want.IsDir()])
	}
	if sys, ok := st.Sys().(*syscall.Stat_t); ok && int(sys.Uid) != os.Geteuid() {
		return fault.New(fault.Blocked, "store: %s belongs to user %d, not to you", path, sys.Uid).
			WithHint("choose a place of your own")
	}
	if st.Mode().Perm()&0o022 != 0 {
		return fault.New(fault.Blocked, "store: others can write %s (mode %04o)", path, st.Mode().Perm()).
			WithHint("run: chmod go-w '%s'", path)
	}
	return nil
}

// lock keeps other processes from changing the schema. The kernel lets go of it
// when the process dies; the empty file stays.
func (f file) lock(ctx context.Context) (unlock func(), err error) {
	name := f.path + ".lock"
	fd, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "store: %w", err)
	}
	limit := time.NewTimer(f.o.Busy)
	defer limit.Stop()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		err := syscall.Flock(int(fd.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { fd.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			fd.Close()
			return nil, fault.New(fault.Unavailable, "lock %s: %w", name, err)
		}
		select {
		case <-again.C:
		case <-limit.C:
			fd.Close()
			return nil, fault.New(fault.Busy, "another process is changing the schema of %s", f.path).WithHint("try again")
		case <-ctx.Done():
			fd.Close()
			return nil, fmt.Errorf("open %s: %w", f.path, ctx.Err())
		}
	}
}

// size returns the bytes of the file and its log.
func (f file) size(context.Context, *sql.DB) (int64, error) {
	st, err := os.Lstat(f.path)
	if err != nil {
		return 0, err
	}
	n := st.Size()
	if log, err := os.Lstat(f.path + "-wal"); err == nil {
		n += log.Size()
	}
	return n, nil
}
