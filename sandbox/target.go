package sandbox

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"syscall"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

// Target implements engine.Target on live directories. Two applies on one
// directory have to be kept apart by the caller.
type Target struct {
	blobs Blobs
	kept  string // where Keep writes
}

var _ engine.Target = (*Target)(nil)

// NewTarget returns a target that takes bytes from blobs and keeps the sides of
// conflicts below the directory kept.
func NewTarget(blobs Blobs, kept string) *Target { return &Target{blobs, kept} }

// States returns the state of each path as it is on disk now. A directory, a
// FIFO and the like are Other. A path that leads through a link or out of the
// resource, or into a .git, is fault.Denied.
func (t *Target) States(ctx context.Context, location string, paths []string) (map[string]plan.FileState, error) {
	root, err := openLocation(location)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	buf := make([]byte, 256<<10)
	out := make(map[string]plan.FileState, len(paths))
	for _, p := range paths {
		if err := checkPath(p); err != nil {
			return nil, err
		}
		err := at(root, p, func(dir *os.Root, name string) error {
			var err error
			out[p], err = stateOf(ctx, dir, name, buf)
			return err
		})
		if out[p], err = absentBelow(out[p], err); err != nil {
			return nil, blame(p, err)
		}
	}
	return out, nil
}

// absentBelow turns the error for a path whose parent is not there, or is a
// file, into the state of that path.
func absentBelow(s plan.FileState, err error) (plan.FileState, error) {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir) {
		return plan.FileState{Kind: plan.Absent}, nil
	}
	return s, err
}

func openLocation(location string) (*os.Root, error) {
	root, err := os.OpenRoot(location)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "there is no directory %s", location)
	}
	if err != nil {
		return nil, fault.New(fault.Unavailable, "%w", err)
	}
	return root, nil
}

func stateOf(ctx context.Context, dir *os.Root, name string, buf []byte) (plan.FileState, error) {
	e, err := look(dir, ".", name, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return plan.FileState{Kind: plan.Absent}, nil
	}
	if err != nil {
		return plan.FileState{}, err
	}
	if e.kind == isFile {
		var seen stamp
		if e.hash, e.size, seen, err = hashFile(ctx, dir, name, e.seen, buf); err != nil {
			return plan.FileState{}, err
		}
		e.mode = seen.mode
	}
	return e.state(), nil
}

// blame gives an error of a path its kind.
func blame(p string, err error) error {
	var f *fault.Error
	switch {
	case errors.Is(err, errThroughLink):
		return fault.New(fault.Denied, "%s: %w", p, err).With("path", p)
	case errors.As(err, &f):
		return err
	case errors.Is(err, errNotFile), errors.Is(err, errNotDir), errors.Is(err, syscall.ENOTEMPTY):
		return conflict(p)
	}
	return unreadable(p, err)
}

func conflict(p string) error {
	return fault.New(fault.Conflict, "%s changed since the plan began", p).With("path", p)
}

// Write makes one path of the live tree what c.After says, when it still is
// what c.Before says. Owner and links of an existing file are kept as far as a
// rename can: the owner is, another hard link keeps the old bytes. A Before of
// kind Other stands for a directory that turned into a file; it has to be
// empty or gone, so removals are written before additions.
func (t *Target) Write(ctx context.Context, location string, c plan.Change) (err error) {
	defer func() { err = full(location, err) }()
	if err := checkPath(c.Path); err != nil {
		return err
	}
	if k := c.After.Kind; k != plan.Absent && k != plan.Regular && k != plan.Symlink {
		return fault.New(fault.Invalid, "%s: a change cannot make a %q", c.Path, k)
	}
	root, err := openLocation(location)
	if err != nil {
		return err
	}
	defer root.Close()
	c.After.Mode &= 0o777
	w := &change{ctx: ctx, blobs: t.blobs, c: c, buf: make([]byte, 256<<10)}
	err = at(root, c.Path, w.write)
	switch {
	case w.begun:
	case errors.Is(err, errNotDir) && c.After.Kind == plan.Absent:
		return nil // below a file nothing exists
	case errors.Is(err, fs.ErrNotExist):
		err = w.withoutParent(root)
	}
	if err == nil && c.After.Kind == plan.Absent {
		err = prune(root, path.Dir(c.Path))
	}
	if err != nil {
		return blame(c.Path, err)
	}
	return nil
}

// change is one Write under way.
type change struct {
	ctx   context.Context
	blobs Blobs
	c     plan.Change
	buf   []byte
	begun bool // the parent directory was there
}

// withoutParent writes a path whose parent directory is not there.
func (w *change) withoutParent(root *os.Root) error {
	if w.c.After.Kind == plan.Absent {
		return nil
	}
	if k := w.c.Before.Kind; k != plan.Absent && k != plan.Other {
		return conflict(w.c.Path)
	}
	made, err := makeParents(root, path.Dir(w.c.Path))
	if err == nil {
		err = at(root, w.c.Path, w.write)
	}
	if err != nil {
		for i := len(made) - 1; i >= 0; i-- {
			err = errors.Join(err, removeEmpty(root, made[i]))
		}
	}
	return err
}

// makeParents makes dir and those above it, durably, and returns which it
// made.
func makeParents(root *os.Root, dir string) (made []string, err error) {
	if dir == "." {
		return nil, nil
	}
	if made, err = makeParents(root, path.Dir(dir)); err != nil {
		return made, err
	}
	err = at(root, dir, func(parent *os.Root, name string) error {
		if err := parent.Mkdir(name, 0o755); err != nil {
			if errors.Is(err, fs.ErrExist) {
				return nil // one that is no directory is found on the way down
			}
			return err
		}
		made = append(made, dir)
		return syncDir(parent)
	})
	return made, err
}

// removeEmpty removes a directory unless something is in it.
func removeEmpty(root *os.Root, dir string) error {
	err := at(root, dir, func(parent *os.Root, name string) error {
		fi, err := parent.Lstat(name)
		if err != nil {
			return err
		}
		if !fi.IsDir() {
			return errNotDir
		}
		if err := parent.Remove(name); err != nil {
			return err
		}
		return syncDir(parent)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// write changes name in dir, or does nothing when that is done already.
func (w *change) write(dir *os.Root, name string) error {
	w.begun = true
	now, err := stateOf(w.ctx, dir, name, w.buf)
	if err != nil {
		return err
	}
	if now.Same(w.c.After) {
		return clean(dir, name)
	}
	if now, err = w.expect(dir, name, now); err != nil {
		return err
	}
	confirm := func() error {
		again, err := stateOf(w.ctx, dir, name, w.buf)
		if err == nil && !again.Same(now) {
			err = conflict(w.c.Path)
		}
		return err
	}
	switch w.c.After.Kind {
	case plan.Absent:
		if err := confirm(); err != nil {
			return err
		}
		if err := dir.Remove(name); err != nil {
			return err
		}
		return errors.Join(clean(dir, name), syncDir(dir))
	case plan.Symlink:
		target, err := w.blobs.Get(w.ctx, w.c.After.Hash)
		if err != nil {
			return err
		}
		return writeLink(dir, name, string(target), true, confirm)
	}
	return writeFile(dir, name, writer{
		mode: w.c.After.Mode, sync: true, confirm: confirm,
		owner: ownerOf(dir, name),
		fill:  func(f *os.File) error { return w.blobs.GetTo(w.ctx, w.c.After.Hash, f) },
	})
}

// expect returns the state that the path is in when it may be changed. An
// empty directory where Before has one is removed.
func (w *change) expect(dir *os.Root, name string, now plan.FileState) (plan.FileState, error) {
	if now.Kind == plan.Other {
		fi, err := dir.Lstat(name)
		if err != nil {
			return now, err
		}
		if !fi.IsDir() || w.c.Before.Kind != plan.Other {
			return now, conflict(w.c.Path)
		}
		return plan.FileState{Kind: plan.Absent}, dir.Remove(name)
	}
	if now.Same(w.c.Before) || (w.c.Before.Kind == plan.Other && now.Kind == plan.Absent) {
		return now, nil
	}
	return now, conflict(w.c.Path)
}

// clean removes a temp file that a crash left when the change itself is done.
func clean(dir *os.Root, name string) error {
	if err := dir.Remove(tempName(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// ownerOf returns what gives a new file the owner of the one it replaces.
func ownerOf(dir *os.Root, name string) func(*os.File) error {
	fi, err := dir.Lstat(name)
	if err != nil {
		return nil
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return func(f *os.File) error {
		if err := f.Chown(int(st.Uid), int(st.Gid)); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
		return nil
	}
}

// prune removes directories that a removal has left empty.
func prune(root *os.Root, dir string) error {
	for ; dir != "."; dir = path.Dir(dir) {
		err := removeEmpty(root, dir)
		if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST) || errors.Is(err, errNotDir) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}
