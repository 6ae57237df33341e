package sandbox

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/cleveragents/agents/plan"
)

// backward puts everything back as it was, from wherever it was left. What a
// person changed meanwhile stays theirs and is noted.
func (x *txn) backward() error {
	emptied := false
	for _, m := range slices.Backward(x.j.Moves) {
		if m.How != putIn && !emptied { // a file may come back where a directory was made
			if err := x.removeMade(); err != nil {
				return err
			}
			emptied = true
		}
		var err error
		switch m.How {
		case takeOut:
			err = x.backIn(m)
		case aside:
			err = x.backAside(m)
		case putIn:
			err = x.backOut(m)
		}
		x.touch(m.Root, m.Path)
		if err = ranInto(m.Path, err); isClash(err) {
			x.leave(m.Path)
			continue
		}
		if err != nil {
			return err
		}
	}
	if err := x.removeMade(); err != nil {
		return err
	}
	return x.flush()
}

// removeMade removes the directories that the application made and that hold
// nothing.
func (x *txn) removeMade() error {
	for _, d := range slices.Backward(x.j.Dirs) {
		if err := x.removeDir(d); err != nil && !notEmpty(err) {
			return fail(d.Path, err)
		}
	}
	return nil
}

// backOut undoes putIn.
func (x *txn) backOut(m move) error {
	now, err := x.state(m.Root, m.Path)
	if err != nil || now.Same(m.Before) {
		return err
	}
	if m.Before.Kind == plan.Absent || m.Before.Kind == plan.Other {
		if now.Kind == plan.Absent {
			return nil
		}
		if !now.Same(m.After) {
			return clash(m.Path)
		}
		return x.across(m.Root, m.Path, m.New, func(dir *os.Root, from, to string) error {
			// A rename between two names of one file does nothing.
			if err := x.remove(dir, to); err != nil {
				return err
			}
			if err := x.rename(dir, from, to); err != nil {
				return err
			}
			if out, err := x.state(m.Root, m.New); err != nil || !out.Same(m.After) {
				return errors.Join(clashUnless(m.Path, err), x.place(dir, to, from))
			}
			return nil
		})
	}
	kept, spare, err := x.keptAt(m)
	if err != nil {
		return err
	}
	if !now.Same(m.After) && (now.Kind != plan.Absent || kept == "") {
		return clash(m.Path)
	}
	if kept == "" {
		kept, spare = m.New, m.Old
		if err := x.prepare(m, m.Before, kept); err != nil {
			return err
		}
	}
	return x.across(m.Root, kept, m.Path, func(dir *os.Root, from, to string) error {
		if now.Kind == plan.Absent {
			return x.place(dir, from, to)
		}
		return x.swapBack(m, dir, from, to, spare)
	})
}

// keptAt is the name under which what was at a path is kept, "" for none, and
// the other name.
func (x *txn) keptAt(m move) (kept, spare string, err error) {
	for i, name := range []string{m.Old, m.New} {
		s, err := x.state(m.Root, name)
		if err != nil {
			return "", "", err
		}
		if s.Same(m.Before) {
			return name, []string{m.New, m.Old}[i], nil
		}
	}
	return "", "", nil
}

// swapBack is replace the other way round.
func (x *txn) swapBack(m move, dir *os.Root, from, to, spare string) error {
	check := func(name string) error {
		out, err := x.disk.state(x.ctx, dir, name, x.buf)
		if err == nil && !out.Same(m.After) {
			err = clash(m.Path)
		}
		return err
	}
	err := x.act("exchange", to, func() error { return exchange(dir, from, to) })
	if noExchange(err) {
		spare = path.Base(spare)
		if err := x.rename(dir, to, spare); err != nil {
			return err
		}
		if err := check(spare); err != nil {
			return errors.Join(err, x.place(dir, spare, to))
		}
		return x.place(dir, from, to)
	}
	if err != nil {
		return err
	}
	if err := check(from); err != nil {
		return errors.Join(err, x.act("exchange", to, func() error { return exchange(dir, from, to) }))
	}
	return nil
}

// backIn undoes takeOut.
func (x *txn) backIn(m move) error {
	now, err := x.state(m.Root, m.Path)
	if err != nil || now.Same(m.Before) {
		return err
	}
	if now.Kind != plan.Absent {
		return clash(m.Path)
	}
	if err := x.remake(m.Root, path.Dir(m.Path)); err != nil {
		return err
	}
	kept, err := x.state(m.Root, m.Old)
	if err != nil {
		return err
	}
	if !kept.Same(m.Before) {
		if err := x.prepare(m, m.Before, m.Old); err != nil {
			return err
		}
	}
	return x.across(m.Root, m.Old, m.Path, x.place)
}

// backAside undoes moveAside.
func (x *txn) backAside(m move) error {
	return x.across(m.Root, m.Old, m.Path, func(dir *os.Root, from, to string) error {
		if _, err := dir.Lstat(to); err == nil {
			return nil // never moved, or a person's now
		}
		if _, err := dir.Lstat(from); errors.Is(err, fs.ErrNotExist) {
			return x.remake(m.Root, m.Path)
		}
		return x.rename(dir, from, to)
	})
}

// remake makes the directories at, above and below one again that have been
// removed with what was in them, with the modes that they had.
func (x *txn) remake(root int, dir string) error {
	all := slices.Clone(x.j.Parents)
	slices.SortFunc(all, func(a, b place) int { return cmp.Or(cmp.Compare(a.Root, b.Root), strings.Compare(a.Path, b.Path)) })
	for _, p := range all {
		if p.Root != root || !inside(p.Path, dir) && !inside(dir, p.Path) {
			continue
		}
		err := x.in(root, p.Path, func(parent *os.Root, name string) error {
			if _, err := parent.Lstat(name); err == nil {
				return nil
			}
			temp := tempPrefix + sum([]byte("dir\x00" + p.Path)).String()[:16] + oldSuffix
			if err := x.remove(parent, temp); err != nil {
				return err
			}
			err := x.act("mkdir", temp, func() error { return parent.Mkdir(temp, 0o700) })
			if err == nil {
				err = x.act("chmod", temp, func() error { return parent.Chmod(temp, os.FileMode(p.Mode)) })
			}
			if err == nil {
				err = x.rename(parent, temp, name)
			}
			return err
		})
		if err != nil {
			return err
		}
		x.touch(root, p.Path)
	}
	return nil
}

// removeDir removes a directory that is empty.
func (x *txn) removeDir(d place) error {
	err := x.in(d.Root, d.Path, func(parent *os.Root, name string) error {
		fi, err := parent.Lstat(name)
		if err != nil {
			return err
		}
		if !fi.IsDir() {
			return errNotDir
		}
		return x.act("rmdir", name, func() error { return parent.Remove(name) })
	})
	x.touch(d.Root, d.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// notEmpty reports why a directory stays.
func notEmpty(err error) bool {
	return errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST) ||
		errors.Is(err, errNotDir) || errors.Is(err, errThroughLink)
}
