package sandboxtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

func restores(t *testing.T, b Backend) {
	r := live(t, map[string]string{"a": "1", "d/e": "2", "l": "-> a", "hollow/": "", "todir": "3", "tofile/x": "4"})
	s, _ := b.fork(t, r)
	put(t, s.Dir(), map[string]string{"a": "+x edited", "new/file": "n", "l": "-> d"})
	want, set := tree(t, s.Dir()), b.changes(t, s).Set
	keepA, err := os.Lstat(filepath.Join(s.Dir(), "a"))
	must(t, err)

	must(t, os.RemoveAll(filepath.Join(s.Dir(), "d")))
	must(t, os.RemoveAll(filepath.Join(s.Dir(), "tofile")))
	must(t, os.RemoveAll(filepath.Join(s.Dir(), "hollow")))
	put(t, s.Dir(), map[string]string{"d": "now a file", "todir/x": "y", "tofile": "-> d", "new/file": "other", "more/dirs/": "", "extra": "x"})
	must(t, s.Restore(context.Background(), set))
	diff(t, "the tree", want, tree(t, s.Dir()))
	diff(t, "changes", set, b.changes(t, s).Set)
	now, err := os.Lstat(filepath.Join(s.Dir(), "a"))
	must(t, err)
	if !os.SameFile(keepA, now) {
		t.Error("Restore wrote a file that did not differ")
	}
	must(t, s.Restore(context.Background(), nil))
	diff(t, "the base", tree(t, r.Location), tree(t, s.Dir()))

	for name, bad := range map[string]plan.ChangeSet{
		"outside":        {{Resource: res, Path: "../x", After: set[0].After}},
		"absolute":       {{Resource: res, Path: "/x", After: set[0].After}},
		"git":            {{Resource: res, Path: ".git/config", After: set[0].After}},
		"other kind":     {{Resource: res, Path: "x", After: plan.FileState{Kind: plan.Other}}},
		"file in a file": {{Resource: res, Path: "a/b", After: set[0].After}},
		"no resource":    {{Resource: otherRes, Path: "x", After: set[0].After}},
	} {
		if err := s.Restore(context.Background(), bad); err == nil {
			t.Errorf("%s: restored", name)
		}
	}
	diff(t, "the base after refusals", tree(t, r.Location), tree(t, s.Dir()))
}

// T42
func restoreAny(t *testing.T, b Backend) {
	r := live(t, map[string]string{"a": "1", "b": "2", "d/a": "3", "d/e/a": "4", "l": "-> a"})
	s, _ := b.fork(t, r)
	rapid.Check(t, func(t *rapid.T) {
		must(t, s.Restore(context.Background(), nil))
		diff(t, "the base", tree(t, r.Location), tree(t, s.Dir()))
		type point struct {
			tree map[string]string
			set  plan.ChangeSet
		}
		var points []point
		for range rapid.IntRange(1, 4).Draw(t, "checkpoints") {
			for range rapid.IntRange(0, 6).Draw(t, "edits") {
				edit(t, s.Dir())
			}
			points = append(points, point{plain(t, s.Dir()), b.changes(t, s).Set})
		}
		for range 3 {
			p := rapid.SampledFrom(points).Draw(t, "checkpoint")
			must(t, s.Restore(context.Background(), p.set))
			diff(t, "restored", p.tree, plain(t, s.Dir()))
			diff(t, "changes", p.set, b.changes(t, s).Set)
		}
	})
}

// plain is tree without directories: those as such are not kept.
func plain(t tb, dir string) map[string]string {
	out := tree(t, dir)
	for name, what := range out {
		if len(what) > 3 && what[:3] == "dir" {
			delete(out, name)
		}
	}
	return out
}

// edit does one random thing to a tree, with few names, so that files,
// directories and links take each other's place.
func edit(t *rapid.T, dir string) {
	name := rapid.SampledFrom([]string{"a", "b", "d", "d/a", "d/e", "d/e/a", "l", "n", "n/a", "n/b"}).Draw(t, "name")
	path := filepath.Join(dir, name)
	switch rapid.IntRange(0, 5).Draw(t, "edit") {
	case 0:
		if isRealDir(filepath.Dir(path)) {
			must(t, os.RemoveAll(path))
		}
	case 1:
		if isRealDir(filepath.Dir(path)) {
			must(t, os.RemoveAll(path))
			must(t, os.Symlink(rapid.SampledFrom([]string{"a", "d", "../x", "n"}).Draw(t, "target"), path))
		}
	case 2:
		if fi, err := os.Lstat(path); err == nil && fi.Mode().IsRegular() && isRealDir(filepath.Dir(path)) {
			must(t, os.Chmod(path, rapid.SampledFrom([]os.FileMode{0o600, 0o644, 0o755, 0o444}).Draw(t, "mode")))
		}
	default:
		makeWay(t, dir, filepath.Dir(path))
		must(t, os.RemoveAll(path))
		must(t, os.WriteFile(path, fmt.Appendf(nil, "%d", rapid.IntRange(0, 9).Draw(t, "text")), 0o644))
	}
}

// isRealDir reports whether path is a directory that is reached through no link:
// in these trees a link is at most one level up.
func isRealDir(path string) bool {
	fi, err := os.Lstat(path)
	if err != nil || !fi.IsDir() {
		return false
	}
	up, err := os.Lstat(filepath.Dir(path))
	return err == nil && up.IsDir()
}

// T40
func restoreDamaged(t *testing.T, b Backend) {
	r := live(t, map[string]string{"a": "1", "b": "2"})
	s, _ := b.fork(t, r)
	put(t, s.Dir(), map[string]string{"a": "edited", "c": "new"})
	set := b.changes(t, s).Set
	lost := append(plan.ChangeSet{}, set...)
	const nowhere = "00000000000000000000000000000000000000000000000000000000000000aa"
	lost[1].After.Hash = nowhere
	put(t, s.Dir(), map[string]string{"a": "later", "b": "later", "c": "later"})
	before := tree(t, s.Dir())
	if err := s.Restore(context.Background(), lost); !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Corrupt) {
		t.Errorf("lost bytes: got %v, want NotFound or Corrupt", err)
	}
	diff(t, "the tree", before, tree(t, s.Dir()))
	must(t, s.Restore(context.Background(), set))
	diff(t, "another checkpoint", set, b.changes(t, s).Set)
}
