package builtin

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
)

// The bounds of a walk.
const (
	maxVisits  = 200_000
	maxEntries = 50_000 // of one directory
	maxDepth   = 100
)

// walk is one pass over the files below a directory, in order of their names.
type walk struct {
	view
	visits int
	cut    string // why not everything was visited, "" when it was
}

// files calls visit with every path below dir that is not a directory, until
// visit returns false. Links are visited and not followed; .git and directories
// that cannot be read are left out.
func (w *walk) files(ctx context.Context, dir string, visit func(p string, m fs.FileMode) (bool, error)) error {
	_, err := w.dir(ctx, dir, 0, visit)
	return err
}

func (w *walk) dir(ctx context.Context, dir string, depth int, visit func(string, fs.FileMode) (bool, error)) (bool, error) {
	if depth > maxDepth {
		w.cut = "directories nested deeper than 100 were left out"
		return true, nil
	}
	entries, whole, err := w.entries(dir)
	if err != nil {
		if depth == 0 {
			return false, err
		}
		w.cut = "directories that cannot be read were left out"
		return true, nil
	}
	if !whole {
		w.cut = "a directory has more than 50000 entries; the rest was left out"
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if w.visits++; w.visits > maxVisits {
			w.cut = "stopped after 200000 files"
			return false, nil
		}
		p := path.Join(dir, e.Name())
		on := true
		switch {
		case isGit(e.Name()):
		case e.IsDir():
			on, err = w.dir(ctx, p, depth+1, visit)
		default:
			on, err = visit(p, e.Type())
		}
		if !on || err != nil {
			return false, err
		}
	}
	return true, nil
}

// entries returns at most maxEntries of a directory, sorted, and whether those
// are all.
func (t view) entries(dir string) ([]fs.DirEntry, bool, error) {
	f, err := t.sight.Open(dir, syscall.O_DIRECTORY)
	if err != nil {
		return nil, false, fsFault(dir, err)
	}
	defer f.Close()
	var all []fs.DirEntry
	whole := false
	for len(all) < maxEntries {
		batch, err := f.ReadDir(1024)
		all = append(all, batch...)
		if errors.Is(err, io.EOF) {
			whole = true
			break
		}
		if err != nil {
			return nil, false, fsFault(dir, err)
		}
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all, whole, nil
}
