package sandbox

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

// txn is one application under way: its journal, and its roots while they are
// locked.
type txn struct {
	disk
	t      *Target
	ctx    context.Context
	dir    *os.Root // of the journals
	roots  []*os.Root
	j      *journal
	commit *commitJob // while one is being made
	buf    []byte
	dirty  map[place]bool // directories to be synced
	close  func()
}

// begin locks the directories and opens the journals.
func (t *Target) begin(ctx context.Context, dirs []string) (*txn, error) {
	x := &txn{disk: disk{t.cfg.Fault}, t: t, ctx: ctx, buf: make([]byte, 256<<10), dirty: map[place]bool{}}
	dir, err := t.journals()
	if err != nil {
		return nil, err
	}
	x.dir = dir
	release := func() {}
	x.close = func() {
		for _, r := range x.roots {
			r.Close()
		}
		if x.commit != nil {
			x.commit.repo.Close()
		}
		release()
		dir.Close()
	}
	writes, err := hold(ctx, dir, writing, dirs, false)
	if err != nil {
		x.close()
		return nil, err
	}
	release = writes
	looks, err := hold(ctx, dir, looking, dirs, true)
	if err != nil {
		x.close()
		return nil, err
	}
	release = func() { looks(); writes() }
	return x, nil
}

// open opens the roots of the journal.
func (x *txn) open() error {
	for _, r := range x.roots {
		r.Close()
	}
	x.roots = nil
	for _, dir := range x.j.Roots {
		var root *os.Root
		err := x.see("open", dir, func() (err error) { root, err = openLocation(dir); return err })
		if err != nil {
			return fail(dir, err)
		}
		x.roots = append(x.roots, root)
	}
	return nil
}

// in calls f with the directory of a path and its last part.
func (x *txn) in(root int, p string, f func(dir *os.Root, name string) error) error {
	return x.see("open", p, func() error { return at(x.roots[root], p, f) })
}

// across calls f with a directory that both paths are given relative to. Each
// of their own directories is there and reached through no link.
func (x *txn) across(root int, from, to string, f func(dir *os.Root, from, to string) error) error {
	if path.Dir(from) == path.Dir(to) {
		return x.in(root, from, func(dir *os.Root, name string) error { return f(dir, name, path.Base(to)) })
	}
	for _, p := range []string{from, to} {
		if err := x.in(root, p, func(*os.Root, string) error { return nil }); err != nil {
			return err
		}
	}
	return f(x.roots[root], from, to)
}

// state is what a path holds; one below what is no directory is absent.
func (x *txn) state(root int, p string) (s plan.FileState, err error) {
	if p == "" {
		return plan.FileState{Kind: plan.Absent}, nil
	}
	err = x.in(root, p, func(dir *os.Root, name string) error {
		s, err = x.disk.state(x.ctx, dir, name, x.buf)
		return err
	})
	return absentBelow(s, err)
}

// touch notes that the directory of a path has to be synced.
func (x *txn) touch(root int, paths ...string) {
	for _, p := range paths {
		x.dirty[place{Root: root, Path: path.Dir(p)}] = true
	}
}

// flush makes every change of a directory durable. One that is gone meanwhile
// has nothing to keep.
func (x *txn) flush() error {
	var all []place
	for p := range x.dirty {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b place) int { return cmp.Or(cmp.Compare(a.Root, b.Root), strings.Compare(a.Path, b.Path)) })
	for _, p := range all {
		dir, err := descend(x.roots[p.Root], p.Path)
		if err == nil {
			err = x.sync(dir, p.Path)
			err = errors.Join(err, dir.Close())
		}
		if err != nil && !goneDir(err) {
			return fail(p.Path, err)
		}
		delete(x.dirty, p)
	}
	return nil
}

// goneDir reports that there is no directory, or none any more.
func goneDir(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir) || errors.Is(err, errThroughLink)
}

// write makes a file that nothing else can have open, durably, in the place of
// what a crash left at its name.
func (d disk) write(dir *os.Root, name string, mode uint32, fill, owner func(*os.File) error) error {
	if err := d.remove(dir, name); err != nil {
		return err
	}
	var f *os.File
	err := d.act("create", name, func() (err error) {
		f, err = dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NONBLOCK, 0o600)
		return err
	})
	if err != nil {
		return err
	}
	err = d.act("write", name, func() error { return fill(f) })
	if err == nil && owner != nil {
		err = d.see("chown", name, func() error { return owner(f) })
	}
	if err == nil {
		err = d.see("chmod", name, func() error { return f.Chmod(os.FileMode(mode & 0o777)) })
	}
	if err == nil {
		err = d.see("fsync", name, f.Sync)
	}
	return errors.Join(err, d.see("close", name, f.Close))
}

// prepare writes what belongs at a path under a name of ours. The name is there
// with all bytes or not at all.
func (x *txn) prepare(m move, s plan.FileState, name string) error {
	err := x.in(m.Root, name, func(dir *os.Root, whole string) error {
		base := whole + partSuffix
		if s.Kind == plan.Symlink {
			target, err := x.t.cfg.Blobs.Get(x.ctx, s.Hash)
			if err != nil {
				return err
			}
			if err := x.remove(dir, base); err != nil {
				return err
			}
			err = x.act("symlink", base, func() error { return dir.Symlink(string(target), base) })
			if err != nil {
				return err
			}
			return x.rename(dir, base, whole)
		}
		var owner func(*os.File) error
		err := x.in(m.Root, m.Path, func(dir *os.Root, base string) error { owner = ownerOf(dir, base); return nil })
		if err != nil && !goneDir(err) {
			return err
		}
		err = x.write(dir, base, s.Mode, func(f *os.File) error { return x.t.cfg.Blobs.GetTo(x.ctx, s.Hash, f) }, owner)
		if err != nil {
			return err
		}
		return x.rename(dir, base, whole)
	})
	x.touch(m.Root, name)
	return fail(m.Path, err)
}

// clash is the fault for paths that are neither what they were nor what they
// should become.
func clash(paths ...string) *fault.Error {
	e := fault.New(fault.Conflict, "%s changed since the plan began", paths[0])
	if n := len(paths) - 1; n > 0 {
		e = fault.New(fault.Conflict, "%s and %d more changed since the plan began", paths[0], n)
	}
	return e.With("path", paths[0]).With("paths", paths)
}
