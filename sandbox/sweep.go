package sandbox

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
)

// Plans returns the plans that have a sandbox, or part of one.
func (t *Trees) Plans() ([]ident.PlanID, error) {
	names, err := t.names("plans")
	var out []ident.PlanID
	seen := map[string]bool{}
	for _, name := range names {
		id := strings.TrimSuffix(name, ".new")
		if checkID(id) == nil && !seen[id] {
			seen[id] = true
			out = append(out, ident.PlanID(id))
		}
	}
	return out, err
}

// Bases returns the resources that have a base.
func (t *Trees) Bases() ([]ident.ResourceID, error) {
	names, err := t.names("bases")
	var out []ident.ResourceID
	for _, name := range names {
		if checkID(name) == nil {
			out = append(out, ident.ResourceID(name))
		}
	}
	return out, err
}

// names lists a directory below cfg.Dir without making it.
func (t *Trees) names(dir string) ([]string, error) {
	top, err := os.OpenRoot(t.cfg.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.New(fault.Unavailable, "sandboxes: %w", err)
	}
	defer top.Close()
	sub, err := top.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.New(fault.Unavailable, "sandboxes: %w", err)
	}
	defer sub.Close()
	return readNames(sub)
}

// PlanSize returns the bytes of the plan's sandbox and when its directory was
// last changed; a sandbox that is not there has none.
func (t *Trees) PlanSize(ctx context.Context, id ident.PlanID) (size int64, changed time.Time, err error) {
	if err := checkID(string(id)); err != nil {
		return 0, changed, err
	}
	plans, err := t.open("plans")
	if err != nil {
		return 0, changed, err
	}
	defer plans.Close()
	for _, name := range []string{string(id), string(id) + ".new"} {
		fi, err := plans.Lstat(name)
		if err != nil {
			continue
		}
		if fi.ModTime().After(changed) {
			changed = fi.ModTime()
		}
		n, err := sizeOf(ctx, plans, name)
		if err != nil {
			return 0, changed, err
		}
		size += n
	}
	return size, changed, nil
}

// RemoveBase removes the copy of a resource that was not looked at since t, and
// returns how many bytes that freed; with dry it only tells. A snapshot changes
// the directory of the base each time, so what is older is used by no plan but
// those that recorded it, for which the caller looked after t. The empty
// directory and its lock stay: somebody may wait for it, and then takes the
// snapshot anew.
func (t *Trees) RemoveBase(ctx context.Context, id ident.ResourceID, since time.Time, dry bool) (int64, error) {
	b, err := t.openBase(ctx, id, true)
	if err != nil {
		return 0, err
	}
	defer b.close()
	fi, err := b.root.Lstat(".")
	if err != nil {
		return 0, fault.New(fault.Unavailable, "base: %w", err)
	}
	if !fi.ModTime().Before(since) {
		return 0, nil
	}
	names, err := readNames(b.root)
	if err != nil {
		return 0, err
	}
	var freed int64
	for _, name := range names {
		if name == "lock" {
			continue
		}
		n, err := sizeOf(ctx, b.root, name)
		if err == nil && !dry {
			err = removeAll(b.root, name)
		}
		if err != nil {
			return freed, err
		}
		freed += n
	}
	return freed, nil
}

// sizeOf adds up the files at and below name. What cannot be listed counts
// nothing: it is only told.
func sizeOf(ctx context.Context, root *os.Root, name string) (int64, error) {
	var n int64
	err := fs.WalkDir(root.FS(), filepath.ToSlash(name), func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if fi, err := d.Info(); err == nil && fi.Mode().IsRegular() {
			n += fi.Size()
		}
		return ctx.Err()
	})
	return n, err
}
