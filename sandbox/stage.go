package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

// The names that an application makes in a person's tree, for as long as it
// lasts: what was prepared, what is kept to go back, and what is half written.
const (
	tempPrefix = ".agents-"
	newSuffix  = ".new"
	oldSuffix  = ".old"
	partSuffix = ".part"
)

func isTemp(name string) bool {
	name = strings.TrimSuffix(name, partSuffix)
	return strings.HasPrefix(name, tempPrefix) && (strings.HasSuffix(name, newSuffix) || strings.HasSuffix(name, oldSuffix))
}

// survey makes the moves of one root out of its changes. It looks at every
// target and writes nothing; those that are neither what the plan began with
// nor what it wants are in the fault.
type survey struct {
	x     *txn
	root  int
	going map[string]bool // paths that are taken out
	files map[string]bool // directories that turn into files
	bad   []string
}

func (x *txn) survey(root int, set plan.ChangeSet) error {
	s := &survey{x: x, root: root, going: map[string]bool{}, files: map[string]bool{}}
	set = slices.Clone(set)
	set.Sort()
	for i := range set {
		c := &set[i]
		if err := checkPath(c.Path); err != nil {
			return err
		}
		switch c.After.Kind {
		case plan.Absent:
			s.going[c.Path] = true
		case plan.Regular, plan.Symlink:
			c.After.Mode &= 0o777
			if c.Before.Kind == plan.Other {
				s.files[c.Path] = true
			}
		default:
			return fault.New(fault.Invalid, "%s: a change cannot make a %q", c.Path, c.After.Kind)
		}
	}
	var todo plan.ChangeSet
	for _, c := range set {
		need, err := s.check(c)
		if err = ranInto(c.Path, err); isClash(err) {
			s.bad = append(s.bad, c.Path)
		} else if err != nil {
			return err
		}
		if need {
			todo = append(todo, c)
		}
	}
	if len(s.bad) > 0 {
		return clash(s.bad...)
	}
	if err := x.folds(root, set); err != nil {
		return err
	}
	for _, how := range []how{takeOut, aside, putIn} {
		for _, c := range todo {
			if err := s.move(how, c); err != nil {
				return ranInto(c.Path, err)
			}
		}
	}
	return nil
}

// check reports whether a path has to be changed, and is a clash when it must
// not.
func (s *survey) check(c plan.Change) (need bool, err error) {
	now, err := s.x.state(s.root, c.Path)
	if errors.Is(err, errThroughLink) && s.belowGoing(c.Path) {
		now, err = plan.FileState{Kind: plan.Absent}, nil // the link itself goes
	}
	switch {
	case err != nil:
		return false, err
	case now.Same(c.After):
		return false, nil
	case c.Before.Kind == plan.Other && now.Kind == plan.Other:
		return true, s.x.hollow(s.root, c.Path, s.going)
	case c.Before.Kind == plan.Other && now.Kind == plan.Absent, now.Same(c.Before):
	default:
		return false, clash(c.Path)
	}
	if c.After.Kind == plan.Absent {
		return true, nil
	}
	_, _, err = s.parent(c.Path)
	return true, err
}

// belowGoing reports whether a path lies below one that is taken out.
func (s *survey) belowGoing(p string) bool {
	for d := path.Dir(p); d != "."; d = path.Dir(d) {
		if s.going[d] {
			return true
		}
	}
	return false
}

// parent returns the deepest directory above a path that is there and stays,
// and those below it that have to be made.
func (s *survey) parent(p string) (stays string, missing []string, err error) {
	var above []string
	for d := path.Dir(p); d != "."; d = path.Dir(d) {
		above = append(above, d)
	}
	slices.Reverse(above)
	stays = "."
	for i, d := range above {
		there, err := s.isDir(d)
		switch {
		case err != nil:
			return "", nil, err
		case s.files[d]:
			return stays, nil, nil // only what is taken out lies below
		case there:
			stays = d
		default:
			return stays, above[i:], nil
		}
	}
	return stays, nil, nil
}

// isDir reports whether a path is a directory; something else that stays there
// is a clash.
func (s *survey) isDir(p string) (is bool, err error) {
	err = s.x.in(s.root, p, func(dir *os.Root, name string) error {
		fi, err := dir.Lstat(name)
		if err == nil && !fi.IsDir() && !s.going[p] {
			return clash(p)
		}
		is = err == nil && fi.IsDir()
		return err
	})
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir) || errors.Is(err, errThroughLink) && s.belowGoing(p) {
		return false, nil
	}
	return is, err
}

// move adds the moves of that kind for a change to the journal.
func (s *survey) move(kind how, c plan.Change) error {
	gone := c.After.Kind == plan.Absent
	if (kind == takeOut) != gone || kind == aside && c.Before.Kind != plan.Other {
		return nil
	}
	stays, missing, err := s.parent(c.Path)
	if err != nil {
		return err
	}
	j := s.x.j
	temp := join(stays, tempPrefix+sum([]byte(string(j.Plan) + "\x00" + string(kind) + "\x00" + c.Path)).String()[:16])
	m := move{How: kind, Root: s.root, Path: c.Path, Before: c.Before, After: c.After, Old: temp + oldSuffix}
	if kind == putIn {
		m.New = temp + newSuffix
		if c.Before.Kind == plan.Absent || c.Before.Kind == plan.Other {
			m.Old = ""
		}
		for _, d := range missing {
			if p := (place{Root: s.root, Path: d}); !slices.Contains(j.Dirs, p) {
				j.Dirs = append(j.Dirs, p)
			}
		}
	} else if err := s.remember(c.Path); err != nil {
		return err
	}
	j.Moves = append(j.Moves, m)
	return nil
}

// remember notes the directories at, above and below a path that goes, since
// they may go with it.
func (s *survey) remember(p string) error {
	note := func(d string, mode fs.FileMode) {
		e := place{Root: s.root, Path: d, Mode: uint32(mode.Perm())}
		if !slices.Contains(s.x.j.Parents, e) {
			s.x.j.Parents = append(s.x.j.Parents, e)
		}
	}
	for d := path.Dir(p); d != "."; d = path.Dir(d) {
		err := s.x.in(s.root, d, func(dir *os.Root, name string) error {
			fi, err := dir.Lstat(name)
			if err == nil && fi.IsDir() {
				note(d, fi.Mode())
			}
			return err
		})
		if err != nil && !goneDir(err) {
			return err
		}
	}
	dir, err := descend(s.x.roots[s.root], p)
	if err != nil {
		return nil // a file
	}
	defer dir.Close()
	return fs.WalkDir(dir.FS(), ".", func(at string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		fi, err := d.Info()
		if err == nil {
			note(path.Join(p, at), fi.Mode())
		}
		return err
	})
}
