package sandbox

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"sync"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

var sideName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9_-]*$`) })

// Keep writes the bytes of one side of a conflict below the plan's own
// directory and returns the absolute path; a link is kept as a file that holds
// its target. For a side that has no bytes it returns "".
func (t *Target) Keep(ctx context.Context, id ident.PlanID, side, p string, f plan.FileState) (where string, err error) {
	defer func() { err = full(t.cfg.Kept, err) }()
	if err := errors.Join(checkID(string(id)), checkPath(p)); err != nil {
		return "", err
	}
	if !sideName().MatchString(side) {
		return "", fault.New(fault.Invalid, "%q is not a side of a conflict", side)
	}
	if f.Kind != plan.Regular && f.Kind != plan.Symlink {
		return "", nil
	}
	if _, ok := digestOf(f.Hash); !ok {
		return "", fault.New(fault.Invalid, "keep %s: %q is not a hash", p, f.Hash)
	}
	// The hash keeps equal paths of two resources apart.
	dir := filepath.Join(t.cfg.Kept, string(id), side+"-"+f.Hash[:12])
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fault.New(fault.Unavailable, "keep %s: %w", p, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", fault.New(fault.Unavailable, "keep %s: %w", p, err)
	}
	defer root.Close()
	_, err = makeParents(root, path.Dir(p))
	if err == nil {
		err = at(root, p, func(dir *os.Root, name string) error {
			return writeFile(dir, name, writer{mode: 0o600, sync: true, fill: func(out *os.File) error {
				return t.cfg.Blobs.GetTo(ctx, f.Hash, out)
			}})
		})
	}
	if err != nil {
		return "", blame(p, err)
	}
	return filepath.Abs(filepath.Join(dir, filepath.FromSlash(p)))
}
