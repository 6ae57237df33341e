package sandbox

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/cleveragents/agents/fault"
)

// maxDepth bounds how deep a tree is entered, and with it the directories that
// are open at once.
const maxDepth = 200

// workers is how many goroutines walk, copy or hash one tree.
const workers = 2

// walker lists a tree. Every path is looked at with lstat; only directories
// are opened.
type walker struct {
	max int
	// ignore, when set, leaves a path out, with all below it.
	ignore func(path string, dir bool) bool
	// own says that the tree is ours to open up where a tool has taken the
	// permissions away.
	own bool

	group   errgroup.Group
	mu      sync.Mutex
	entries []entry
	ignored []string
}

// walk returns the entries below root, sorted by path.
func (w *walker) walk(ctx context.Context, root *os.Root) ([]entry, error) {
	w.group.SetLimit(workers - 1)
	top, err := root.OpenRoot(".")
	if err != nil {
		return nil, unreadable(".", err)
	}
	err = w.dir(ctx, top, ".", 0)
	if err := errors.Join(err, w.group.Wait()); err != nil {
		return nil, err
	}
	return sortEntries(w.entries), nil
}

// dir lists one directory and then those in it; it closes root.
func (w *walker) dir(ctx context.Context, root *os.Root, path string, depth int) error {
	defer root.Close()
	if err := ctx.Err(); err != nil {
		return err
	}
	names, err := readNames(root)
	if err != nil {
		return unreadable(path, err)
	}
	var subs []entry
	var found []entry
	var ignored []string
	for _, name := range names {
		e, err := look(root, path, name, depth)
		if errors.Is(err, fs.ErrNotExist) {
			continue // gone since the directory was read
		}
		if err != nil {
			return unreadable(join(path, name), err)
		}
		if w.ignore != nil && e.kind != isSpecial && w.ignore(e.path, e.kind == isDir) {
			ignored = append(ignored, e.path)
			continue
		}
		found = append(found, e)
		if e.kind == isDir {
			e.target = name
			subs = append(subs, e)
		}
	}
	if err := w.add(found, ignored); err != nil {
		return err
	}
	for _, e := range subs {
		sub, err := w.enter(root, e.target, e)
		if err != nil {
			return err
		}
		if !w.group.TryGo(func() error { return w.dir(ctx, sub, e.path, depth+1) }) {
			if err := w.dir(ctx, sub, e.path, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walker) add(found []entry, ignored []string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.entries = append(w.entries, found...)
	w.ignored = append(w.ignored, ignored...)
	if len(w.entries) > w.max {
		return fault.New(fault.Exhausted, "the tree has more than %d files", w.max)
	}
	return nil
}

// enter opens a directory and makes sure that it is the one that was seen.
func (w *walker) enter(root *os.Root, name string, e entry) (*os.Root, error) {
	if w.own && e.mode&0o700 != 0o700 {
		if err := root.Chmod(name, os.FileMode(e.mode|0o700)); err != nil {
			return nil, unreadable(e.path, err)
		}
	}
	sub, err := root.OpenRoot(name)
	if err != nil {
		return nil, unreadable(e.path, err)
	}
	fi, err := sub.Lstat(".")
	if err == nil && !stampOf(fi).sameFile(e.seen) {
		err = fault.New(fault.Busy, "%s changed while it was read", e.path)
	}
	if err != nil {
		return nil, errors.Join(err, sub.Close())
	}
	return sub, nil
}

// look makes the entry of one name, without its hash.
func look(root *os.Root, dir, name string, depth int) (entry, error) {
	fi, err := root.Lstat(name)
	if err != nil {
		return entry{}, err
	}
	e := entry{path: join(dir, name), mode: permissions(fi), size: fi.Size(), seen: stampOf(fi)}
	mode := fi.Mode()
	switch {
	case isOdd(name):
		e.kind, e.what, e.path = isSpecial, "name", strconv.Quote(e.path)
	case isGit(name):
		e.kind, e.what = isSpecial, "git"
	case mode.IsRegular():
		e.kind = isFile
	case mode.IsDir() && depth >= maxDepth:
		e.kind, e.what = isSpecial, "deep"
	case mode.IsDir():
		e.kind = isDir
	case mode&os.ModeSymlink != 0:
		e.kind = isLink
		if e.target, err = root.Readlink(name); err != nil {
			return entry{}, err
		}
		e.size, e.hash = int64(len(e.target)), sum([]byte(e.target))
	case mode&os.ModeNamedPipe != 0:
		e.kind, e.what = isSpecial, "fifo"
	case mode&os.ModeSocket != 0:
		e.kind, e.what = isSpecial, "socket"
	default:
		e.kind, e.what = isSpecial, "device"
	}
	return e, nil
}

func readNames(root *os.Root) ([]string, error) {
	d, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	names, err := d.Readdirnames(-1)
	return names, errors.Join(err, d.Close())
}

// unreadable says which path could not be read; a fault stays what it is.
func unreadable(path string, err error) error {
	var f *fault.Error
	if errors.As(err, &f) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	k := fault.Unavailable
	if errors.Is(err, fs.ErrPermission) {
		k = fault.Denied
	}
	return fault.New(k, "read %s: %w", path, err).With("path", path)
}
