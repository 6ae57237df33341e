package sandbox

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/blob"
	"github.com/cleveragents/agents/crash"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

// childEnv makes the test binary a process that applies what lies in a
// directory, or with "back" takes it back.
const childEnv = "AGENTS_SANDBOX_TEST_CHILD"

// allEnv makes the harness try each second point after each first one, which
// takes some minutes.
const allEnv = "AGENTS_CRASH_ALL"

func TestMain(m *testing.M) {
	dir, back := strings.CutPrefix(os.Getenv(childEnv), "back:")
	if dir == "" {
		flag.Parse() // these processes wait for the disk much more than they compute
		if err := flag.Set("test.parallel", "8"); err != nil {
			panic(err)
		}
		os.Exit(m.Run())
	}
	if err := child(dir, back); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func child(dir string, back bool) error {
	b, err := os.ReadFile(filepath.Join(dir, "order"))
	if err != nil {
		return err
	}
	var a engine.Application
	if err := json.Unmarshal(b, &a); err != nil {
		return err
	}
	a.Parts[0].Location = filepath.Join(dir, "live")
	blobs, err := blob.Open(filepath.Join(filepath.Dir(dir), "blobs"), nil)
	if err != nil {
		return err
	}
	target := NewTarget(TargetConfig{Blobs: blobs, Kept: filepath.Join(dir, "kept"), Dir: filepath.Join(dir, "applies")})
	if back {
		_, err = target.Settle(context.Background(), a.Plan, true)
		if fault.Is(err, fault.NotFound) {
			err = nil
		}
	} else {
		_, err = target.Apply(context.Background(), a)
	}
	return err
}

// killable is a tree with changes to it, in a directory that can be copied.
type killable struct {
	dir, top    string // top holds the blobs and every copy
	before, now map[string]string
}

// picture is all that a tree is: bytes, modes, links and directories.
func picture(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, p)
		text := fi.Mode().String()
		switch {
		case fi.Mode().IsRegular():
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			text += " " + string(b)
		case fi.Mode()&os.ModeSymlink != 0:
			to, err := os.Readlink(p)
			if err != nil {
				return err
			}
			text += " -> " + to
		}
		out[name] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// quick is a directory for tests that apply thousands of times: in memory, where
// there is such a place.
func quick(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "agents-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	return dir
}

// lay makes files below dir: a directory ends with /, a link begins with "-> ",
// an executable with "+x ".
func lay(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	must(t, os.MkdirAll(dir, 0o755))
	for name, text := range files {
		p := filepath.Join(dir, name)
		up := filepath.Dir(p)
		if strings.HasSuffix(name, "/") {
			up = p
		}
		if err := os.MkdirAll(up, 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			err = os.Symlink(to, p)
		} else if body, ok := strings.CutPrefix(text, "+x "); ok {
			err = os.WriteFile(p, []byte(body), 0o755)
		} else if !strings.HasSuffix(name, "/") {
			err = os.WriteFile(p, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// newKillable has a live tree and the changes that lead to another one.
func newKillable(t testing.TB, before, after map[string]string) *killable {
	t.Helper()
	top := quick(t)
	k := &killable{dir: filepath.Join(top, "first"), top: top}
	lay(t, filepath.Join(k.dir, "live"), before)
	lay(t, filepath.Join(top, "want"), after)
	k.before, k.now = picture(t, filepath.Join(k.dir, "live")), picture(t, filepath.Join(top, "want"))
	blobs, err := blob.Open(filepath.Join(top, "blobs"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer blobs.Close()
	set := changesOf(t, blobs, before, after)
	b, err := json.Marshal(engine.Application{Plan: "P", Parts: []engine.Part{{Location: "live", Changes: set}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(k.dir, "order"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	return k
}

// changesOf is the change set between two trees as lay makes them.
func changesOf(t testing.TB, blobs engine.Blobs, before, after map[string]string) (set plan.ChangeSet) {
	t.Helper()
	state := func(all map[string]string, name string) plan.FileState {
		text, ok := all[name]
		if !ok {
			for other := range all {
				if strings.HasPrefix(other, name+"/") {
					return plan.FileState{Kind: plan.Other}
				}
			}
			return plan.FileState{Kind: plan.Absent}
		}
		s := plan.FileState{Kind: plan.Regular, Mode: 0o644}
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			s.Kind, s.Mode, text = plan.Symlink, 0, to
		} else if body, ok := strings.CutPrefix(text, "+x "); ok {
			s.Mode, text = 0o755, body
		}
		var err error
		if s.Hash, err = blobs.Put(context.Background(), []byte(text)); err != nil {
			t.Fatal(err)
		}
		s.Size = int64(len(text))
		return s
	}
	names := map[string]bool{}
	for _, m := range []map[string]string{before, after} {
		for name := range m {
			names[name] = !strings.HasSuffix(name, "/")
		}
	}
	for name, file := range names {
		was, is := state(before, name), state(after, name)
		if is.Kind == plan.Other {
			is = plan.FileState{Kind: plan.Absent}
		}
		if file && !was.Same(is) && (was.Kind != plan.Other || is.Kind != plan.Absent) {
			set = append(set, plan.Change{Resource: "R", Path: name, Before: was, After: is})
		}
	}
	set.Sort()
	return set
}

// copyTo makes a copy of the live tree and the journals.
func (k *killable) copyTo(t testing.TB, name string) *killable {
	t.Helper()
	c := &killable{dir: filepath.Join(k.top, name), top: k.top, before: k.before, now: k.now}
	links := map[uint64]string{} // two names of one file stay that
	must(t, filepath.WalkDir(k.dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		must(t, err)
		rel, _ := filepath.Rel(k.dir, p)
		to := filepath.Join(c.dir, rel)
		switch {
		case d.IsDir():
			must(t, os.MkdirAll(to, 0o755))
			return os.Chmod(to, fi.Mode().Perm())
		case fi.Mode()&os.ModeSymlink != 0:
			link, err := os.Readlink(p)
			must(t, err)
			return os.Symlink(link, to)
		}
		ino := stampOf(fi).ino
		if other, ok := links[ino]; ok {
			return os.Link(other, to)
		}
		links[ino] = to
		b, err := os.ReadFile(p)
		must(t, err)
		must(t, os.WriteFile(to, b, 0o600))
		return os.Chmod(to, fi.Mode().Perm())
	}))
	// The roots in a journal are of the directory that it was made in.
	journal := filepath.Join(c.dir, "applies", "P.json")
	if b, err := os.ReadFile(journal); err == nil {
		must(t, os.WriteFile(journal, []byte(strings.ReplaceAll(string(b), k.dir+"/", c.dir+"/")), 0o600))
	}
	return c
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run starts a process that dies at the n-th point, or at none for 0. It
// reports whether it died.
func (k *killable) run(t testing.TB, n int, back bool) (died bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	spec := k.dir
	if back {
		spec = "back:" + spec
	}
	cmd.Env = append(os.Environ(), childEnv+"="+spec)
	if n > 0 {
		cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d", crash.AtEnv, n))
	}
	out, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); n > 0 && ok && s.Signaled() && s.Signal() == syscall.SIGKILL {
		return true
	}
	t.Fatalf("point %d: %v: %s", n, err, out)
	return false
}

// ended checks that the tree is the one, that nothing of ours is left in it, and
// that doing the same again changes nothing.
func (k *killable) ended(t testing.TB, what string, want map[string]string) {
	t.Helper()
	for i := range 2 {
		if diff := cmp.Diff(want, picture(t, filepath.Join(k.dir, "live"))); diff != "" {
			t.Errorf("%s, look %d (-want +got):\n%s", what, i+1, diff)
		}
		if i == 0 && !cmp.Equal(want, k.before) {
			k.run(t, 0, false) // already applied
		}
	}
}

// small is a change of every kind with as few files as that takes.
func small() (before, after map[string]string) {
	return map[string]string{"a": "old", "gone/x": "x", "turn": "file", "dir/in": "in", "l": "-> a"},
		map[string]string{"a": "+x new", "new/deep/n": "n", "turn/y": "y", "dir": "file now", "l": "-> b"}
}

// T33: a process that is killed at every point of an application, and again at
// every point of what ends it: the tree is all old or all new, byte for byte,
// and nothing of ours is left in it.
func TestApplyKilledTwice(t *testing.T) {
	before, after := small()
	var mu sync.Mutex
	histories := 0
	k := newKillable(t, before, after)
	t.Cleanup(func() {
		t.Logf("%d crash histories", histories)
		if histories < 300 {
			t.Errorf("only %d histories", histories)
		}
	})
	points := 0
	for n := 1; ; n++ {
		c := k.copyTo(t, fmt.Sprintf("at%d", n))
		if !c.run(t, n, false) {
			c.ended(t, "never killed", k.now)
			break
		}
		points++
	}
	for n := 1; n <= points; n++ {
		t.Run(fmt.Sprint("killed at ", n), func(t *testing.T) {
			t.Parallel()
			at := &killable{dir: filepath.Join(k.top, fmt.Sprintf("at%d", n)), top: k.top, before: k.before, now: k.now}
			count := 0
			for _, back := range []bool{false, true} {
				want := k.now
				if back {
					want = k.before
				}
				every := 8 // each residue has its turn as n goes on
				if os.Getenv(allEnv) != "" {
					every = 1
				}
				for m := 1 + n%every; ; m += every {
					c := at.copyTo(t, fmt.Sprintf("at%d-%v-%d", n, back, m))
					died := c.run(t, m, back)
					if died {
						c.run(t, 0, back)
					}
					count++
					c.ended(t, fmt.Sprintf("killed at %d, then at %d, back %v", n, m, back), want)
					must(t, os.RemoveAll(c.dir))
					if !died || t.Failed() {
						break
					}
				}
			}
			mu.Lock()
			histories += count
			mu.Unlock()
		})
	}
}
