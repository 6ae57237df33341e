package sandboxtest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

// file stores text and returns the state of a file that holds it.
func (b Backend) file(t tb, text string, mode uint32) plan.FileState {
	t.Helper()
	hash, err := b.Blobs.Put(context.Background(), []byte(text))
	must(t, err)
	return plan.FileState{Kind: plan.Regular, Mode: mode, Size: int64(len(text)), Hash: hash}
}

func (b Backend) link(t tb, target string) plan.FileState {
	t.Helper()
	f := b.file(t, target, 0)
	f.Kind = plan.Symlink
	return f
}

var absent = plan.FileState{Kind: plan.Absent}

// write applies changes to a live directory and forgets that it did.
func (b Backend) write(location string, set ...plan.Change) error {
	ctx := context.Background()
	_, err := b.Target.Apply(ctx, engine.Application{Plan: planID, Parts: []engine.Part{{Location: location, Changes: set}}})
	if err != nil {
		return err
	}
	return b.Target.Forget(ctx, planID)
}

func states(t *testing.T, b Backend) {
	r := live(t, map[string]string{"f": "+x text", "l": "-> f", "d/x": "y", "through": "-> d"})
	must(t, syscall.Mkfifo(filepath.Join(r.Location, "pipe"), 0o644))
	paths := []string{"f", "l", "d", "d/x", "pipe", "gone", "gone/too", "f/below"}
	within(t, func() {
		got, err := b.Target.States(context.Background(), r.Location, paths)
		must(t, err)
		diff(t, "states", map[string]plan.FileState{
			"f": b.file(t, "text", 0o755), "l": b.link(t, "f"), "d": {Kind: plan.Other}, "d/x": b.file(t, "y", 0o644),
			"pipe": {Kind: plan.Other}, "gone": absent, "gone/too": absent, "f/below": absent,
		}, got)
	})
	for _, p := range []string{"through/x", "../live/f", "/etc/passwd", "d/../f", "", ".", ".git/config"} {
		if _, err := b.Target.States(context.Background(), r.Location, []string{p}); !fault.Is(err, fault.Denied) {
			t.Errorf("%q: got %v, want Denied", p, err)
		}
	}
}

// T37
func writes(t *testing.T, b Backend) {
	tests := []struct {
		name   string
		path   string
		before plan.FileState
		after  plan.FileState
		live   map[string]string
		want   map[string]string
	}{
		{"create", "n", absent, b.file(t, "new\r\n\x00", 0o640), nil, map[string]string{"n": `file -rw-r----- "new\r\n\x00"`}},
		{"create below", "a/b/n", absent, b.file(t, "new", 0o644), nil,
			map[string]string{"a": "dir 755", "a/b": "dir 755", "a/b/n": `file -rw-r--r-- "new"`}},
		{"edit", "f", b.file(t, "old", 0o644), b.file(t, "new", 0o644), map[string]string{"f": "old"},
			map[string]string{"f": `file -rw-r--r-- "new"`}},
		{"mode", "f", b.file(t, "old", 0o644), b.file(t, "old", 0o755), map[string]string{"f": "old"},
			map[string]string{"f": `file -rwxr-xr-x "old"`}},
		{"no setuid", "f", absent, b.file(t, "x", 0o4755), nil, map[string]string{"f": `file -rwxr-xr-x "x"`}},
		{"delete", "d/e/f", b.file(t, "old", 0o644), absent, map[string]string{"d/e/f": "old", "d/g": "stays"},
			map[string]string{"d": "dir 755", "d/g": `file -rw-r--r-- "stays"`}},
		{"delete the last", "d/e/f", b.file(t, "old", 0o644), absent, map[string]string{"d/e/f": "old"}, map[string]string{}},
		{"link", "l", absent, b.link(t, "../out of it"), nil, map[string]string{"l": "-> ../out of it"}},
		{"relink", "l", b.link(t, "a"), b.link(t, "b"), map[string]string{"l": "-> a"}, map[string]string{"l": "-> b"}},
		{"link to file", "l", b.link(t, "f"), b.file(t, "new", 0o644), map[string]string{"l": "-> f", "f": "stays"},
			map[string]string{"l": `file -rw-r--r-- "new"`, "f": `file -rw-r--r-- "stays"`}},
		{"file to link", "l", b.file(t, "old", 0o644), b.link(t, "f"), map[string]string{"l": "old"}, map[string]string{"l": "-> f"}},
		{"delete link", "l", b.link(t, "f"), absent, map[string]string{"l": "-> f", "f": "stays"},
			map[string]string{"f": `file -rw-r--r-- "stays"`}},
		{"emptied directory to file", "d", plan.FileState{Kind: plan.Other}, b.file(t, "new", 0o644), map[string]string{"d/": ""},
			map[string]string{"d": `file -rw-r--r-- "new"`}},
		{"delete what is gone with its directory", "d/e", b.file(t, "old", 0o644), absent, nil, map[string]string{}},
		{"delete below what is a file", "d/e", b.file(t, "old", 0o644), absent, map[string]string{"d": "f"},
			map[string]string{"d": `file -rw-r--r-- "f"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := live(t, tt.live)
			c := plan.Change{Resource: res, Path: tt.path, Before: tt.before, After: tt.after}
			must(t, b.write(r.Location, c))
			diff(t, "the live tree", tt.want, tree(t, r.Location))
			must(t, b.write(r.Location, c))
			diff(t, "the live tree after a second Write", tt.want, tree(t, r.Location))
		})
	}
}

// writesAgain: what is done already is not done again.
func writesAgain(t *testing.T, b Backend) {
	r := live(t, map[string]string{"f": "old"})
	c := plan.Change{Resource: res, Path: "f", Before: b.file(t, "old", 0o644), After: b.file(t, "new", 0o644)}
	must(t, b.write(r.Location, c))
	before, err := os.Lstat(filepath.Join(r.Location, "f"))
	must(t, err)
	must(t, b.write(r.Location, c))
	after, err := os.Lstat(filepath.Join(r.Location, "f"))
	must(t, err)
	if !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
		t.Error("a file that was as wanted was written")
	}
}

// T34
func writeConflicts(t *testing.T, b Backend) {
	old, next := b.file(t, "old", 0o644), b.file(t, "new", 0o644)
	tests := []struct {
		name string
		c    plan.Change
		make func(dir string)
	}{
		{"edited", plan.Change{Path: "f", Before: old, After: next}, func(dir string) { put(t, dir, map[string]string{"f": "edited"}) }},
		{"edited before a delete", plan.Change{Path: "f", Before: old, After: absent}, func(dir string) { put(t, dir, map[string]string{"f": "edited"}) }},
		{"deleted", plan.Change{Path: "f", Before: old, After: next}, func(dir string) {}},
		{"deleted with its directory", plan.Change{Path: "d/f", Before: old, After: next}, func(dir string) {}},
		{"made", plan.Change{Path: "f", Before: absent, After: next}, func(dir string) { put(t, dir, map[string]string{"f": "theirs"}) }},
		{"directory", plan.Change{Path: "f", Before: old, After: next}, func(dir string) { put(t, dir, map[string]string{"f/x": "theirs"}) }},
		{"directory where nothing was", plan.Change{Path: "f", Before: absent, After: next}, func(dir string) { put(t, dir, map[string]string{"f/": ""}) }},
		{"directory that is not empty", plan.Change{Path: "f", Before: plan.FileState{Kind: plan.Other}, After: next},
			func(dir string) { put(t, dir, map[string]string{"f/x": "theirs"}) }},
		{"directory before a delete", plan.Change{Path: "f", Before: old, After: absent}, func(dir string) { put(t, dir, map[string]string{"f/": ""}) }},
		{"link", plan.Change{Path: "f", Before: old, After: next}, func(dir string) { put(t, dir, map[string]string{"f": "-> g", "g": "old"}) }},
		{"link elsewhere", plan.Change{Path: "f", Before: b.link(t, "a"), After: next}, func(dir string) { put(t, dir, map[string]string{"f": "-> b"}) }},
		{"mode", plan.Change{Path: "f", Before: old, After: next}, func(dir string) { put(t, dir, map[string]string{"f": "+x old"}) }},
		{"pipe", plan.Change{Path: "f", Before: old, After: next}, func(dir string) { must(t, syscall.Mkfifo(filepath.Join(dir, "f"), 0o644)) }},
		{"pipe where a directory was", plan.Change{Path: "f", Before: plan.FileState{Kind: plan.Other}, After: next},
			func(dir string) { must(t, syscall.Mkfifo(filepath.Join(dir, "f"), 0o644)) }},
		{"parent is a file", plan.Change{Path: "f/x", Before: absent, After: next}, func(dir string) { put(t, dir, map[string]string{"f": "theirs"}) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := live(t, nil)
			tt.make(r.Location)
			before := tree(t, r.Location)
			within(t, func() {
				err := b.write(r.Location, tt.c)
				if !fault.Is(err, fault.Conflict) {
					t.Fatalf("got %v, want Conflict", err)
				}
				diff(t, "detail path", any(tt.c.Path), fault.As(err).Details["path"])
			})
			diff(t, "the live tree", before, tree(t, r.Location))
		})
	}
}

// T11
func writeRefusals(t *testing.T, b Backend) {
	next := b.file(t, "new", 0o755)
	outside := t.TempDir()
	r := live(t, map[string]string{".git/hooks/": "", "out": "-> " + outside, "in": "-> d", "d/": "", "sub/.git/": ""})
	before := tree(t, r.Location)
	denied := []string{
		".git", ".git/config", ".git/hooks/pre-commit", ".GIT/config", ".Git", "sub/.git/config", "new/.gIt/x", ".git./x", ".git /x",
		"git~1/config", "GIT~1", ".g\u200cit/config", ".git::$INDEX_ALLOCATION/x",
		"../x", "/x", "d/../../x", "a//b", "./a", "", ".", "..", "bad\xff", "new\nline",
	}
	for _, p := range denied {
		for _, c := range []plan.Change{{Path: p, Before: absent, After: next}, {Path: p, Before: next, After: absent}} {
			if err := b.write(r.Location, c); !fault.Is(err, fault.Denied) {
				t.Errorf("%q: got %v, want Denied", p, err)
			}
		}
	}
	for _, p := range []string{"out/x", "out/deep/x", "in/x", "in/deep/x"} {
		if err := b.write(r.Location, plan.Change{Path: p, Before: absent, After: next}); !fault.Is(err, fault.Conflict) {
			t.Errorf("%q leads through a link: got %v, want Conflict", p, err)
		}
	}
	diff(t, "the live tree", before, tree(t, r.Location))
	diff(t, "outside", map[string]string{}, tree(t, outside))
	for _, p := range []string{".gitignore", ".github/x", "git", "x.git", "dot.git/x"} {
		if err := b.write(r.Location, plan.Change{Path: p, Before: absent, After: next}); err != nil {
			t.Errorf("%q: got %v, want it written", p, err)
		}
	}

	// Bytes that are lost leave no trace.
	before = tree(t, r.Location)
	lost := next
	lost.Hash = strings.Repeat("0", 64)
	if err := b.write(r.Location, plan.Change{Path: "m/n/o", Before: absent, After: lost}); !fault.Is(err, fault.NotFound) {
		t.Errorf("lost bytes: got %v, want NotFound", err)
	}
	if err := b.write(r.Location, plan.Change{Path: "p", Before: absent, After: plan.FileState{Kind: plan.Other}}); !fault.Is(err, fault.Invalid) {
		t.Errorf("other kind: got %v, want Invalid", err)
	}
	diff(t, "the live tree after lost bytes", before, tree(t, r.Location))
}

// applyEqualsSandbox carries all changes of a sandbox into the live tree.
func applyEqualsSandbox(t *testing.T, b Backend) {
	r := live(t, map[string]string{
		"edit": "1", "gone": "2", "d/gone": "3", "todir": "4", "tofile/x": "5", "l": "-> edit", "tolink": "6", "mode": "7",
	})
	s, _ := b.fork(t, r)
	for _, name := range []string{"gone", "d", "todir", "tofile"} {
		must(t, os.RemoveAll(filepath.Join(s.Dir(), name)))
	}
	put(t, s.Dir(), map[string]string{"edit": "11", "todir/x/y": "12", "tofile": "13", "l": "now a file", "tolink": "-> mode", "mode": "+x 7", "n/e/w": "14"})
	set := b.changes(t, s).Set
	must(t, b.write(r.Location, set...))
	diff(t, "the live tree", tree(t, s.Dir()), tree(t, r.Location))
	next, err := b.Sandboxes.Snapshot(context.Background(), r)
	must(t, err)
	again, err := b.Sandboxes.Open(context.Background(), "OTHERPLAN", []plan.Base{next})
	must(t, err)
	diff(t, "a sandbox of the result", tree(t, r.Location), tree(t, again.Dir()))
}

func keeps(t *testing.T, b Backend) {
	seen := map[string]bool{}
	for _, text := range []string{"ours", "theirs"} {
		path, err := b.Target.Keep(context.Background(), planID, "left", "d/conflict.txt", b.file(t, text, 0o644))
		must(t, err)
		got, err := os.ReadFile(path)
		must(t, err)
		diff(t, "kept", text, string(got))
		if !filepath.IsAbs(path) || seen[path] {
			t.Errorf("kept at %q: want an absolute path of its own", path)
		}
		seen[path] = true
		again, err := b.Target.Keep(context.Background(), planID, "left", "d/conflict.txt", b.file(t, text, 0o644))
		must(t, err)
		diff(t, "kept again", path, again)
	}
	path, err := b.Target.Keep(context.Background(), planID, "right", "gone", absent)
	if path != "" || err != nil {
		t.Errorf("an absent side: got %q, %v, want nothing", path, err)
	}
	for _, bad := range []struct {
		side, path string
		f          plan.FileState
	}{
		{"../x", "a", b.file(t, "x", 0o644)}, {"left", "../a", b.file(t, "x", 0o644)},
		{"left", "a", plan.FileState{Kind: plan.Regular, Hash: "../../../../../x"}},
	} {
		if _, err := b.Target.Keep(context.Background(), planID, bad.side, bad.path, bad.f); err == nil {
			t.Errorf("%v: kept", bad)
		}
	}
}
