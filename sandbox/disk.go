package sandbox

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/cleveragents/agents/crash"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

// disk is the one way in which an application reaches files. Each effect is a
// place where a test may kill the process, and each call, reading ones too, can
// be made to fail by a test, which also sees their order so.
type disk struct {
	fault func(op, path string) error // nil outside of tests
}

// act is an effect.
func (d disk) act(op, name string, f func() error) error {
	crash.Point("apply." + op)
	return d.see(op, name, f)
}

// see is a call that changes nothing.
func (d disk) see(op, name string, f func() error) error {
	if d.fault != nil {
		if err := d.fault(op, name); err != nil {
			return &fs.PathError{Op: op, Path: name, Err: err}
		}
	}
	return f()
}

// state is what a name of a directory holds now.
func (d disk) state(ctx context.Context, dir *os.Root, name string, buf []byte) (s plan.FileState, err error) {
	err = d.see("read", name, func() error {
		s, err = stateOf(ctx, dir, name, buf)
		return err
	})
	return s, err
}

// remove removes a name; none is not an error.
func (d disk) remove(dir *os.Root, name string) error {
	err := d.see("lstat", name, func() error { _, err := dir.Lstat(name); return err })
	if err == nil {
		err = d.act("remove", name, func() error { return dir.Remove(name) })
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (d disk) rename(dir *os.Root, from, to string) error {
	return d.act("rename", to, func() error { return dir.Rename(from, to) })
}

func (d disk) sync(dir *os.Root, name string) error {
	return d.act("syncdir", name, func() error { return syncDir(dir) })
}

// noLinks reports that a file system knows no hard links, or not this one.
func noLinks(err error) bool {
	for _, no := range []error{syscall.EPERM, syscall.ENOTSUP, syscall.EOPNOTSUPP, syscall.ENOSYS, syscall.EMLINK, syscall.EXDEV, syscall.EACCES} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}

// place gives the file called from the name to, which nothing has: a file that
// somebody made meanwhile is fs.ErrExist and stays.
func (d disk) place(dir *os.Root, from, to string) error {
	err := d.act("link", to, func() error { return dir.Link(from, to) })
	if err == nil {
		return d.act("unlink", from, func() error { return dir.Remove(from) })
	}
	if !noLinks(err) {
		return err
	}
	_, err = dir.Lstat(to)
	switch {
	case err == nil:
		return fs.ErrExist
	case errors.Is(err, fs.ErrNotExist):
		return d.rename(dir, from, to)
	}
	return err
}

// fail gives an error of Apply the kind that tells what a person can do.
func fail(p string, err error) error {
	var f *fault.Error
	noRoom := errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
	if err == nil || errors.As(err, &f) && (!noRoom || f.Kind == fault.Exhausted) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	kind, hint := fault.Unavailable, "look after the disk, then apply again"
	switch {
	case errors.Is(err, errThroughLink):
		return fault.New(fault.Conflict, "%s: %w", p, err).With("path", p).With("paths", []string{p})
	case noRoom:
		return fault.New(fault.Exhausted, "no space left on the disk for %s: %w", p, err).With("path", p).
			WithHint("free some space and apply again; everything that was recorded is kept")
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		kind, hint = fault.Exhausted, "too many files are open (ulimit -n); close some and apply again"
	case errors.Is(err, syscall.EROFS):
		kind, hint = fault.Denied, "the file system is mounted read-only; mount it for writing and apply again"
	case errors.Is(err, fs.ErrPermission):
		kind, hint = fault.Denied, "give yourself the right to write there and apply again"
	}
	return fault.New(kind, "%s: %w", p, err).With("path", p).WithHint("%s", hint)
}
