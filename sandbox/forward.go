package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"syscall"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

// forward puts everything in its place, from wherever it was left. A path that
// a person changed meanwhile stays theirs: it stops here, or with skip is left
// out and noted.
func (x *txn) forward(skip bool) error {
	made := false
	for _, m := range x.j.Moves {
		if m.How == putIn && !made { // what is in the way is gone by now
			if err := x.makeDirs(skip); err != nil {
				return err
			}
			made = true
		}
		var err error
		switch m.How {
		case takeOut:
			err = x.takeOut(m)
		case aside:
			err = x.moveAside(m)
		case putIn:
			err = x.putIn(m)
		}
		x.touch(m.Root, m.Path)
		for _, extra := range []string{m.New, m.Old} {
			if extra != "" {
				x.touch(m.Root, extra)
			}
		}
		if err = ranInto(m.Path, err); isClash(err) && skip {
			x.leave(m.Path)
			continue
		}
		if err != nil {
			return err
		}
	}
	return x.flush()
}

// leave notes a path whose bytes are a person's.
func (x *txn) leave(p string) {
	if !slices.Contains(x.j.Left, p) {
		x.j.Left = append(x.j.Left, p)
	}
}

// ranInto makes a clash of what a path ran into, and a fault of the rest.
func ranInto(p string, err error) error {
	var f *fault.Error
	if err == nil || errors.As(err, &f) {
		return err
	}
	for _, k := range []error{errNotFile, errNotDir, errThroughLink, fs.ErrExist, fs.ErrNotExist} {
		if errors.Is(err, k) {
			return clash(p)
		}
	}
	return fail(p, err)
}

func (x *txn) makeDirs(skip bool) error {
	for _, d := range x.j.Dirs {
		err := x.in(d.Root, d.Path, func(dir *os.Root, name string) error {
			fi, err := dir.Lstat(name)
			switch {
			case err == nil && fi.IsDir():
				return nil
			case err == nil:
				return errNotDir
			case !errors.Is(err, fs.ErrNotExist):
				return err
			}
			return x.act("mkdir", name, func() error { return dir.Mkdir(name, 0o755) })
		})
		x.touch(d.Root, d.Path)
		if err = ranInto(d.Path, err); isClash(err) && skip {
			continue // what belongs into it is left out, path by path
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// takeOut moves a file or link out of the way and makes sure that it was the
// one that was meant.
func (x *txn) takeOut(m move) error {
	now, err := x.state(m.Root, m.Path)
	if err != nil || now.Kind == plan.Absent {
		return err
	}
	if !now.Same(m.Before) {
		kept, err := x.state(m.Root, m.Old)
		if err == nil && !kept.Same(m.Before) {
			err = clash(m.Path)
		}
		return err // taken out before, and made again by somebody
	}
	return x.across(m.Root, m.Path, m.Old, func(dir *os.Root, from, to string) error {
		// A rename between two names of one file does nothing.
		if err := x.remove(dir, to); err != nil {
			return err
		}
		if err := x.rename(dir, from, to); err != nil {
			return err
		}
		kept, err := x.state(m.Root, m.Old)
		if err == nil && !kept.Same(m.Before) { // somebody was faster
			err = errors.Join(clash(m.Path), x.place(dir, to, from))
		}
		return err
	})
}

// moveAside makes room where a directory became a file. Nothing but empty
// directories may be left in it.
func (x *txn) moveAside(m move) error {
	return x.across(m.Root, m.Path, m.Old, func(dir *os.Root, from, to string) error {
		fi, err := dir.Lstat(from)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case !fi.IsDir():
			now, err := x.state(m.Root, m.Path)
			if err == nil && !now.Same(m.After) {
				err = clash(m.Path)
			}
			return err
		}
		if _, err := dir.Lstat(to); err == nil {
			return clash(m.Path) // made again by somebody
		}
		if err := x.rename(dir, from, to); err != nil {
			return err
		}
		err = x.hollow(m.Root, m.Old, nil)
		if isClash(err) {
			err = clash(m.Path)
		}
		if err != nil {
			err = errors.Join(err, x.rename(dir, to, from))
		}
		return err
	})
}

// hollow is an error unless the directory holds nothing but directories, and
// paths that are going.
func (x *txn) hollow(root int, p string, going map[string]bool) error {
	return x.see("readdir", p, func() error {
		dir, err := descend(x.roots[root], p)
		if err != nil {
			return err
		}
		defer dir.Close()
		return fs.WalkDir(dir.FS(), ".", func(at string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || going[path.Join(p, at)] || isTemp(d.Name()) {
				return err
			}
			return clash(path.Join(p, at))
		})
	})
}

// putIn gives a prepared file its place.
func (x *txn) putIn(m move) error {
	now, err := x.state(m.Root, m.Path)
	if err != nil || now.Same(m.After) {
		return err
	}
	ready, err := x.state(m.Root, m.New)
	if err != nil {
		return err
	}
	kept, err := x.state(m.Root, m.Old)
	if err != nil {
		return err
	}
	expected := now.Same(m.Before) && now.Kind != plan.Other || now.Kind == plan.Absent && (m.Before.Kind == plan.Other || kept.Same(m.Before))
	switch {
	case !ready.Same(m.After) && !expected:
		return nil // it was in place, and somebody changed it since
	case !expected:
		return clash(m.Path)
	case !ready.Same(m.After): // somebody removed what was prepared
		if err := x.prepare(m, m.After, m.New); err != nil {
			return err
		}
	}
	return x.across(m.Root, m.New, m.Path, func(dir *os.Root, from, to string) error {
		if now.Kind == plan.Absent {
			return x.place(dir, from, to)
		}
		return x.replace(m, dir, from, to)
	})
}

// replace puts a prepared file where another one is. What was there is looked
// at after the swap, when nothing can come between, and gets its place back
// when it is not what was expected.
func (x *txn) replace(m move, dir *os.Root, from, to string) error {
	old := path.Join(path.Dir(from), path.Base(m.Old))
	err := x.act("exchange", to, func() error { return exchange(dir, from, to) })
	if noExchange(err) {
		if err := x.rename(dir, to, old); err != nil {
			return err
		}
		if out, err := x.state(m.Root, m.Old); err != nil || !out.Same(m.Before) {
			return errors.Join(clashUnless(m.Path, err), x.place(dir, old, to))
		}
		return x.place(dir, from, to)
	}
	if err != nil {
		return err
	}
	if out, err := x.state(m.Root, m.New); err != nil || !out.Same(m.Before) {
		return errors.Join(clashUnless(m.Path, err), x.act("exchange", to, func() error { return exchange(dir, from, to) }))
	}
	return x.rename(dir, from, old)
}

// noExchange reports that the system cannot swap two names here.
func noExchange(err error) bool {
	return errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP)
}

func isClash(err error) bool { return fault.Is(err, fault.Conflict) }

func clashUnless(p string, err error) error {
	if err != nil {
		return err
	}
	return clash(p)
}
