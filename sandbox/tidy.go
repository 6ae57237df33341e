package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path"

	"github.com/cleveragents/agents/plan"
)

// tidy removes every name that the application has made beside its targets,
// once all of it is in place or all is back. Bytes under such a name that are
// neither what was nor what was to come were written by a person in the moment
// of the swap, through a file that they had open: they are kept and noted.
func (x *txn) tidy() error {
	for _, m := range x.j.Moves {
		if err := x.tidyMove(m); err != nil {
			return fail(m.Path, err)
		}
	}
	return x.flush()
}

func (x *txn) tidyMove(m move) error {
	names := []string{m.New, m.Old}
	if m.How == aside {
		names = []string{m.New}
		if err := x.tidyAside(m); err != nil {
			return err
		}
	}
	if m.Lock != "" {
		s, err := x.state(m.Root, m.Lock)
		if err != nil {
			return err
		}
		if s.Same(m.After) { // another one is of the person's git
			names = append(names, m.Lock)
		}
	}
	for _, name := range names {
		if name == "" {
			continue
		}
		s, err := x.state(m.Root, name)
		if goneDir(err) { // with the directory that it was in
			continue
		}
		if err != nil {
			return err
		}
		if s.Kind == plan.Regular && !s.Same(m.Before) && !s.Same(m.After) {
			if err := x.rescue(m, name, s); err != nil {
				return err
			}
		}
		for _, n := range []string{name, name + partSuffix} {
			err := x.in(m.Root, n, func(dir *os.Root, base string) error { return x.remove(dir, base) })
			if err != nil && !goneDir(err) {
				return err
			}
			x.touch(m.Root, n)
		}
	}
	return nil
}

// tidyAside removes a directory that made room. What a person put into it
// meanwhile stays, under the name of ours.
func (x *txn) tidyAside(m move) error {
	dir, err := descend(x.roots[m.Root], m.Old)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir) {
		return nil
	}
	if err != nil {
		return err
	}
	var dirs []place
	err = fs.WalkDir(dir.FS(), ".", func(at string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs = append(dirs, place{Root: m.Root, Path: path.Join(m.Old, at)})
		}
		return err
	})
	if err := errors.Join(err, dir.Close()); err != nil {
		return err
	}
	for i := len(dirs) - 1; i >= 0; i-- { // what lies below comes first
		err := x.removeDir(dirs[i])
		if notEmpty(err) {
			x.leave(m.Old)
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rescue keeps what a person wrote into a file that was being swapped.
func (x *txn) rescue(m move, name string, s plan.FileState) error {
	err := x.in(m.Root, name, func(dir *os.Root, base string) error {
		want, err := lstatFile(dir, base)
		if err != nil {
			return err
		}
		f, _, err := openFile(dir, base, want)
		if err != nil {
			return err
		}
		_, _, err = x.t.cfg.Blobs.PutFrom(x.ctx, f)
		return errors.Join(err, f.Close())
	})
	if err != nil {
		return err
	}
	kept, err := x.t.Keep(x.ctx, x.j.Plan, "yours", m.Path, s)
	if err == nil {
		x.leave(m.Path + " (your version is in " + kept + ")")
	}
	return err
}

// prune removes the directories that a removal has left empty.
func (x *txn) prune() error {
	for _, m := range x.j.Moves {
		if m.How != takeOut {
			continue
		}
		for d := path.Dir(m.Path); d != "."; d = path.Dir(d) {
			err := x.removeDir(place{Root: m.Root, Path: d})
			if notEmpty(err) {
				break
			}
			if err != nil {
				return fail(d, err)
			}
		}
	}
	return x.flush()
}
