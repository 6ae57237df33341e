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

// TargetConfig is what a Target works with.
type TargetConfig struct {
	Blobs Blobs  // where bytes come from
	Kept  string // where Keep writes
	Dir   string // holds the journals and locks of applications; made with mode 0700
	Git   GitConfig
	// Folds tells whether the file system of a directory takes two spellings of
	// a name for one; nil tries it.
	Folds func(*os.Root) (bool, error)
	// Fault is asked before each call of an application and fails it, for tests.
	Fault func(op, path string) error
}

// Target implements engine.Target on live directories. It is safe for
// concurrent use by several processes that share cfg.Dir.
type Target struct{ cfg TargetConfig }

var _ engine.Target = (*Target)(nil)

// NewTarget returns a target.
func NewTarget(cfg TargetConfig) *Target { return &Target{cfg} }

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
		return clash(p)
	}
	return unreadable(p, err)
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
