package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
)

// T38: of two applications to one directory, or to one in the other, one goes
// on and the other is told that it is busy.
func TestTwoApplications(t *testing.T) {
	for _, where := range []string{"the same", "below", "above", "beside"} {
		t.Run(where, func(t *testing.T) {
			a := newApplying(t, map[string]string{"top/f": "old", "top/d/g": "old", "other/h": "old"}, nil)
			dir := map[string]string{"the same": "top", "below": "top/d", "above": ".", "beside": "other"}[where]
			first := engine.Application{Plan: "P", Parts: []engine.Part{{Location: filepath.Join(a.live, "top"),
				Changes: changesOf(t, a.target.cfg.Blobs, nil, map[string]string{"n": "new"})}}}
			second := engine.Application{Plan: "Q", Parts: []engine.Part{{Location: filepath.Join(a.live, dir),
				Changes: changesOf(t, a.target.cfg.Blobs, nil, map[string]string{"m": "new"})}}}
			var inner error
			tried := false
			a.fault = func(op, _ string) error {
				if op == "link" && !tried {
					tried = true
					_, inner = a.target.Apply(context.Background(), second)
				}
				return nil
			}
			_, err := a.target.Apply(context.Background(), first)
			must(t, err)
			if !tried {
				t.Fatal("the second was not tried")
			}
			_, there := os.Lstat(filepath.Join(a.live, dir, "m"))
			if where == "beside" {
				must(t, inner)
				must(t, there)
				return
			}
			if !fault.Is(inner, fault.Busy) || fault.As(inner).Hint == "" {
				t.Errorf("got %v, want Busy", inner)
			}
			if there == nil {
				t.Error("the second one wrote")
			}
			a.fault = nil
			_, err = a.target.Apply(context.Background(), second)
			must(t, err) // the lock went with the first
		})
	}
}

// T38: while the person's git holds the lock of its index nothing is written,
// neither when it is there at the start nor when it comes before the commit.
func TestGitIsAtWork(t *testing.T) {
	for _, tree := range []string{"repository", "linked work tree", "below"} {
		for _, when := range []string{"before", "meanwhile"} {
			t.Run(tree+" "+when, func(t *testing.T) {
				a := newApplying(t, map[string]string{"sub/f": "old"}, map[string]string{"sub/f": "new"})
				git := filepath.Join(a.live, ".git")
				switch tree {
				case "linked work tree":
					git = filepath.Join(t.TempDir(), "worktrees", "w")
					must(t, os.WriteFile(filepath.Join(a.live, ".git"), []byte("gitdir: "+git+"\n"), 0o644))
				case "below":
					a.order.Parts[0].Location = filepath.Join(a.live, "sub")
					a.order.Parts[0].Changes[0].Path = "f"
				}
				must(t, os.MkdirAll(git, 0o755))
				lock := filepath.Join(git, "index.lock")
				done := when == "before"
				if done {
					must(t, os.WriteFile(lock, nil, 0o644))
				}
				a.fault = func(op, _ string) error {
					if op == "create" && !done {
						if entries, _ := filepath.Glob(filepath.Join(a.live, "sub", tempPrefix+"*")); len(entries) > 0 {
							done = true
							return os.WriteFile(lock, nil, 0o644)
						}
					}
					if op == "fsync" && !done {
						done = true
						return os.WriteFile(lock, nil, 0o644)
					}
					return nil
				}
				err := a.apply()
				if !fault.Is(err, fault.Busy) || !strings.Contains(fault.As(err).Hint, lock) {
					t.Fatalf("got %v, want Busy and the file in the hint", err)
				}
				b, err := os.ReadFile(filepath.Join(a.live, "sub", "f"))
				must(t, err)
				names, err := filepath.Glob(filepath.Join(a.live, "sub", ".*"))
				must(t, err)
				if string(b) != "old" || len(names) > 0 {
					t.Errorf("f is %q, left: %q", b, names)
				}
				must(t, os.Remove(lock))
				must(t, a.apply())
			})
		}
	}
}

// T65: two paths that the file system takes for one are refused before any
// write; one that tells them apart gets both.
func TestPathsThatFold(t *testing.T) {
	tests := []map[string]string{
		{"Readme": "1", "README": "2"},
		{"caf\u00e9": "1", "cafe\u0301": "2"},
		{"Dir/x": "1", "dir/y": "2"},
		{"stra\u00dfe": "1", "STRA\u1e9eE": "2"},
		{"\u212aelvin": "1", "kelvin": "2"},
	}
	for _, files := range tests {
		for _, folding := range []bool{true, false} {
			a := newApplying(t, map[string]string{"f": "old"}, nil)
			files["f"] = "new"
			a.order.Parts[0].Changes = changesOf(t, a.target.cfg.Blobs, map[string]string{"f": "old"}, files)
			asked := 0
			a.target.cfg.Folds = func(*os.Root) (bool, error) { asked++; return folding, nil }
			err := a.apply()
			if asked != 1 {
				t.Errorf("%v: the file system was asked %d times", files, asked)
			}
			if folding {
				if !fault.Is(err, fault.Conflict) || fault.As(err).Code != "SameName" {
					t.Errorf("%v: got %v, want Conflict", files, err)
				}
				a.is("nothing was written", a.before)
				continue
			}
			must(t, err)
		}
	}
	// What differs is not asked about, and the probe itself leaves nothing.
	a := newApplying(t, map[string]string{"f": "old"}, map[string]string{"f": "old", "a": "1", "b": "2"})
	a.target.cfg.Folds = func(*os.Root) (bool, error) { t.Error("asked without a reason"); return true, nil }
	must(t, a.apply())
	root, err := os.OpenRoot(a.live)
	must(t, err)
	defer root.Close()
	if folds, err := foldsNames(root); folds || err != nil {
		t.Errorf("this file system folds names: %v, %v", folds, err)
	}
	a.is("after the probe", a.now)
}

// T38: a lock of a directory keeps away from those in it and above it, and from
// no other.
func TestHold(t *testing.T) {
	locks, err := os.OpenRoot(t.TempDir())
	must(t, err)
	defer locks.Close()
	for _, tt := range []struct {
		first, second []string
		busy          bool
	}{
		{[]string{"/a/b"}, []string{"/a/b"}, true},
		{[]string{"/a/b"}, []string{"/a/b/c/d"}, true},
		{[]string{"/a/b/c/d"}, []string{"/a/b"}, true},
		{[]string{"/a/b"}, []string{"/a/bc"}, false},
		{[]string{"/a/b"}, []string{"/a/c"}, false},
		{[]string{"/x", "/a/b"}, []string{"/a/b/c", "/y"}, true},
		{[]string{"/a/b", "/a/b/.git"}, []string{"/a/b"}, true},
	} {
		release, err := hold(context.Background(), locks, writing, tt.first, false)
		must(t, err)
		again, err := hold(context.Background(), locks, writing, tt.second, false)
		if fault.Is(err, fault.Busy) != tt.busy {
			t.Errorf("%v, then %v: %v", tt.first, tt.second, err)
		}
		if err == nil {
			again()
		}
		release()
		again, err = hold(context.Background(), locks, writing, tt.second, false)
		must(t, err)
		again()
	}
	// One that waits does so until its time is up, or the lock is free.
	release, err := hold(context.Background(), locks, looking, []string{"/a"}, false)
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := hold(ctx, locks, looking, []string{"/a"}, true); !errors.Is(err, context.Canceled) {
		t.Errorf("a wait that was given up: %v", err)
	}
	got := make(chan error)
	go func() {
		again, err := hold(context.Background(), locks, looking, []string{"/a"}, true)
		if err == nil {
			again()
		}
		got <- err
	}()
	release()
	must(t, <-got)
}
