// Package sandboxtest is what every kind of sandbox has to pass: bytes kept
// exactly, hostile trees survived, nothing of a repository run, restoring
// equal to what was recorded, and a live tree that is written only where it
// still is what it was.
//
// Run is called from the tests of an implementation. It looks at trees with
// plain file access, so that it does not share the code under test. It does
// not cover how an implementation keeps its own state.
package sandboxtest

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/resource"
)

// Backend is what is tested: sandboxes, the target and their blob store, all
// empty.
type Backend struct {
	Sandboxes engine.Sandboxes
	Target    engine.Target
	Blobs     engine.Blobs
}

// Run runs the suite; open makes a new backend for each test.
func Run(t *testing.T, open func(t *testing.T) Backend) {
	tests := []struct {
		name string
		f    func(t *testing.T, b Backend)
	}{
		{"exact bytes", exactBytes},
		{"git states", gitStates},
		{"own inodes", ownInodes},
		{"live edits", liveEdits},
		{"several resources", severalResources},
		{"reopen", reopen},
		{"remove", remove},
		{"changes", changes},
		{"same size and time", sameSizeAndTime},
		{"ignored", ignored},
		{"old snapshots", oldSnapshots},
		{"refused locations", refusedLocations},
		{"traps in the live tree", trapsInLive},
		{"traps in the sandbox", trapsInSandbox},
		{"hostile repository", hostileRepository},
		{"planted repository", plantedRepository},
		{"restore", restores},
		{"restore any checkpoint", restoreAny},
		{"restore with damage", restoreDamaged},
		{"states", states},
		{"write", writes},
		{"write again", writesAgain},
		{"write conflicts", writeConflicts},
		{"write refusals", writeRefusals},
		{"apply equals sandbox", applyEqualsSandbox},
		{"keep", keeps},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.f(t, open(t)) })
	}
}

const (
	res      = ident.ResourceID("01JRESOURCE0000000000000AA")
	otherRes = ident.ResourceID("01JRESOURCE0000000000000BB")
	planID   = ident.PlanID("01JPLAN00000000000000000AA")
)

// tb is what both a test and a property check offer.
type tb interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func must(t tb, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// live makes a directory with files; a path that ends in / is a directory, a
// value that starts with "-> " a link, one that starts with "+x " executable.
func live(t *testing.T, files map[string]string) resource.Resource {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "live")
	must(t, os.Mkdir(dir, 0o755))
	put(t, dir, files)
	return resource.Resource{ID: res, Name: "local/live", Type: resource.FSDirectory, Location: dir}
}

func put(t tb, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			must(t, os.MkdirAll(path, 0o755))
			continue
		}
		makeWay(t, dir, filepath.Dir(path))
		must(t, os.RemoveAll(path))
		if target, ok := strings.CutPrefix(text, "-> "); ok {
			must(t, os.Symlink(target, path))
			continue
		}
		mode := os.FileMode(0o644)
		if rest, ok := strings.CutPrefix(text, "+x "); ok {
			text, mode = rest, 0o755
		}
		must(t, os.WriteFile(path, []byte(text), mode))
		must(t, os.Chmod(path, mode))
	}
}

// makeWay makes path a directory, in place of what is in the way below top.
func makeWay(t tb, top, path string) {
	t.Helper()
	for up := path; up != top; up = filepath.Dir(up) {
		if fi, err := os.Lstat(up); err == nil && !fi.IsDir() {
			must(t, os.Remove(up))
		}
	}
	must(t, os.MkdirAll(path, 0o755))
}

// tree describes every path below dir, except what skip says.
func tree(t tb, dir string, skip ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		for _, s := range skip {
			if d.Name() == s {
				if d.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			out[name] = fmt.Sprintf("dir %o", fi.Mode().Perm())
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			out[name] = "-> " + target
			return err
		case d.Type().IsRegular():
			b, err := os.ReadFile(path)
			out[name] = fmt.Sprintf("file %v %q", fi.Mode()&(fs.ModePerm|fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky), b)
			return err
		default:
			out[name] = fi.Mode().Type().String()
		}
		return nil
	})
	must(t, err)
	return out
}

// fork takes a snapshot and opens the plan's sandbox on it.
func (b Backend) fork(t tb, rs ...resource.Resource) (engine.Sandbox, []plan.Base) {
	t.Helper()
	var bases []plan.Base
	for _, r := range rs {
		base, err := b.Sandboxes.Snapshot(context.Background(), r)
		must(t, err)
		bases = append(bases, base)
	}
	s, err := b.Sandboxes.Open(context.Background(), planID, bases)
	must(t, err)
	return s, bases
}

func (b Backend) changes(t tb, s engine.Sandbox) engine.Changes {
	t.Helper()
	c, err := s.Changes(context.Background())
	must(t, err)
	return c
}

// brief writes a change set in few words: the path, and what it became.
func brief(set plan.ChangeSet) map[string]string {
	out := map[string]string{}
	for _, c := range set {
		out[c.Path] = word(c.Before) + " to " + word(c.After)
	}
	return out
}

func word(f plan.FileState) string {
	if f.Kind == plan.Regular {
		return fmt.Sprintf("file %o %d", f.Mode, f.Size)
	}
	return string(f.Kind)
}

func diff(t tb, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

// within fails the test when f does not return in time, as it would when it
// waits at a pipe.
func within(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
	defer stop()
	select {
	case <-done:
	case <-ctx.Done():
		t.Fatal("does not return: it waits at a special file")
	}
}
