package sandboxtest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cleveragents/agents/plan"
)

func changes(t *testing.T, b Backend) {
	r := live(t, map[string]string{
		"same": "s", "edit": "one", "gone": "g", "mode": "m", "link": "-> same", "relink": "-> same",
		"todir": "f", "d/e/f": "x", "tofile/in": "y", "hollow/": "", "tolink": "z",
		"big": strings.Repeat("0123456789abcdef", 80<<10),
	})
	s, _ := b.fork(t, r)
	diff(t, "no changes", plan.ChangeSet{}, b.changes(t, s).Set)
	dir := s.Dir()
	must(t, os.Remove(filepath.Join(dir, "gone")))
	must(t, os.Chmod(filepath.Join(dir, "mode"), 0o755))
	must(t, os.RemoveAll(filepath.Join(dir, "tofile")))
	put(t, dir, map[string]string{
		"edit": "two", "relink": "-> edit", "todir/x": "new", "tofile": "now", "n/e/w": "+x new", "tolink": "-> same", "empty/": "",
		"big": strings.Repeat("0123456789ABCDEF", 80<<10),
	})
	got := b.changes(t, s)
	diff(t, "changes", map[string]string{
		"big":       "file 644 1310720 to file 644 1310720",
		"edit":      "file 644 3 to file 644 3",
		"gone":      "file 644 1 to absent",
		"mode":      "file 644 1 to file 755 1",
		"relink":    "symlink to symlink",
		"todir":     "file 644 1 to absent",
		"todir/x":   "absent to file 644 3",
		"tofile":    "other to file 644 3",
		"tofile/in": "file 644 1 to absent",
		"n/e/w":     "absent to file 755 3",
		"tolink":    "file 644 1 to symlink",
	}, brief(got.Set))
	sorted := append(plan.ChangeSet{}, got.Set...)
	sorted.Sort()
	diff(t, "order", sorted, got.Set)
	for _, c := range got.Set {
		if c.Before.Hash != "" { // what was replaced can be shown and undone
			stored, err := b.Blobs.Get(context.Background(), c.Before.Hash)
			must(t, err)
			diff(t, "size of what was "+c.Path, c.Before.Size, int64(len(stored)))
		}
		if c.After.Kind == plan.Absent {
			continue
		}
		var want []byte
		if c.After.Kind == plan.Regular {
			var err error
			want, err = os.ReadFile(filepath.Join(dir, c.Path))
			must(t, err)
		} else {
			target, err := os.Readlink(filepath.Join(dir, c.Path))
			must(t, err)
			want = []byte(target)
		}
		stored, err := b.Blobs.Get(context.Background(), c.After.Hash)
		must(t, err)
		if !bytes.Equal(stored, want) {
			t.Errorf("%s: stored %q, want %q", c.Path, stored, want)
		}
	}
	diff(t, "a second look", got, b.changes(t, s))
	f, err := s.Base(context.Background(), res, "edit")
	must(t, err)
	diff(t, "edit in the base", got.Set[1].Before, f)
	f, err = s.Base(context.Background(), res, "n/e/w")
	must(t, err)
	diff(t, "a new path in the base", plan.FileState{Kind: plan.Absent}, f)
}

// sameSizeAndTime edits files so that only ctime or nothing but the inode
// tells; at once after the last look, when clocks are too coarse.
func sameSizeAndTime(t *testing.T, b Backend) {
	s, _ := b.fork(t, live(t, map[string]string{"a": "one", "b": "one"}))
	for i, text := range []string{"two", "six", "ten", "one", "two"} {
		want := map[string]string{"a": "file 644 3 to file 644 3"}
		if text == "one" {
			want = map[string]string{}
		}
		path := filepath.Join(s.Dir(), "a")
		fi, err := os.Stat(path)
		must(t, err)
		if i%2 == 0 {
			must(t, os.WriteFile(path, []byte(text), 0o644))
		} else {
			must(t, os.WriteFile(path+".tmp", []byte(text), 0o644))
			must(t, os.Rename(path+".tmp", path))
		}
		must(t, os.Chtimes(path, fi.ModTime(), fi.ModTime()))
		got := b.changes(t, s).Set
		diff(t, "changes after "+text, want, brief(got))
		if len(got) > 0 {
			stored, err := b.Blobs.Get(context.Background(), got[0].After.Hash)
			must(t, err)
			diff(t, "stored", text, string(stored))
		}
	}
}

func ignored(t *testing.T, b Backend) {
	r := live(t, map[string]string{
		".gitignore": "*.log\n/build/\n!keep.log\n# note\n", "sub/.gitignore": "local\r\n", "was.log": "in the base",
		"build/old": "in the base", "main.go": "x",
	})
	s, _ := b.fork(t, r)
	put(t, s.Dir(), map[string]string{
		"new.log": "1", "keep.log": "2", "was.log": "edited", "build/new": "3", "build/old": "edited", "sub/local": "4", "local": "5",
		"node_modules/.gitignore": "*", "node_modules/x.js": "6",
		// Rules that a tool writes hide nothing.
		".gitignore": "*\n",
	})
	got := b.changes(t, s)
	diff(t, "changes", map[string]string{
		".gitignore": "file 644 31 to file 644 2", "keep.log": "absent to file 644 1", "was.log": "file 644 11 to file 644 6",
		"build/old": "file 644 11 to file 644 6", "local": "absent to file 644 1",
		"node_modules/.gitignore": "absent to file 644 1", "node_modules/x.js": "absent to file 644 1",
	}, brief(got.Set))
	diff(t, "ignored", []string{"build/new", "new.log", "sub/local"}, got.Ignored)

	must(t, s.Restore(context.Background(), nil))
	left := b.changes(t, s)
	diff(t, "changes after Restore", plan.ChangeSet{}, left.Set)
	diff(t, "ignored after Restore", got.Ignored, left.Ignored)
}
