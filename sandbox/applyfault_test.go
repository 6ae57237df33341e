package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
)

// T36: the n-th call to the file system fails, once or from then on, until none
// fails: the kind of the error is right, everything is as it was or can be
// ended either way, and nothing of ours is left then.
func TestEveryCallFails(t *testing.T) {
	kinds := []struct {
		err  syscall.Errno
		kind fault.Kind
	}{
		{syscall.ENOSPC, fault.Exhausted}, {syscall.EIO, fault.Unavailable}, {syscall.EROFS, fault.Denied},
		{syscall.EACCES, fault.Denied}, {syscall.EDQUOT, fault.Exhausted}, {syscall.EMFILE, fault.Exhausted},
	}
	before, after := small()
	seen := map[syscall.Errno]int{}
	for _, forever := range []bool{false, true} {
		for n := 1; ; n++ {
			k := kinds[n%len(kinds)]
			failed, where := 0, ""
			for _, back := range []bool{false, true} {
				a := newApplying(t, before, after)
				calls := 0
				a.fault = func(op, path string) error {
					calls++
					if calls == n || forever && calls > n {
						if failed++; failed == 1 {
							where = op + " " + path
						}
						return k.err
					}
					return nil
				}
				err := a.apply()
				a.fault = nil
				what := fmt.Sprintf("call %d (%s) fails with %s, for ever %v, back %v", n, where, k.err, forever, back)
				if err == nil && failed == 0 {
					a.is("nothing failed", a.now)
					break
				}
				seen[k.err]++
				if err != nil && !fault.Is(err, k.kind) && !(k.err == syscall.EACCES && err == nil) {
					t.Errorf("%s: %v is %s, want %s", what, err, fault.As(err).Kind, k.kind)
				}
				if err != nil && fault.As(err).Hint == "" {
					t.Errorf("%s: %v: no way out", what, err)
				}
				at, serr := a.target.Stage(context.Background(), "P")
				must(t, serr)
				if got := picture(t, a.live); err != nil && !forever && at == engine.StageNone && !cmp.Equal(got, a.before) {
					t.Errorf("%s: not rolled back: %s", what, cmp.Diff(a.before, got))
				}
				if back {
					a.settle(true)
					a.is(what, a.before)
				} else {
					must(t, a.apply())
					a.is(what, a.now)
				}
				if t.Failed() {
					return
				}
			}
			if failed == 0 {
				t.Logf("%d calls, for ever %v", n-1, forever)
				break
			}
		}
	}
	for _, k := range kinds {
		if seen[k.err] < 10 {
			t.Errorf("%s was tried %d times", k.err, seen[k.err])
		}
	}
}

// T36: a disk that is really full, in a mount of our own.
func TestFullFileSystem(t *testing.T) {
	if dir := os.Getenv("AGENTS_SANDBOX_TEST_TMPFS"); dir != "" {
		fullFileSystem(t, dir)
		return
	}
	dir := t.TempDir()
	cmd := exec.Command("unshare", "--map-root-user", "--mount", "sh", "-c",
		`mount -t tmpfs -o size=1m agents "$1" || exit 77; exec "$2" -test.run='^TestFullFileSystem$' -test.v`, "sh", dir, os.Args[0])
	cmd.Env = append(os.Environ(), "AGENTS_SANDBOX_TEST_TMPFS="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(string(out), "TestFullFileSystem") {
		t.Skipf("no file system can be mounted here: %v: %s", err, out)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: TestFullFileSystem") {
		t.Fatalf("%v: %s", err, out)
	}
}

func fullFileSystem(t *testing.T, dir string) {
	big := strings.Repeat("new and large ", 20_000)
	before := map[string]string{"a": "old", "b": "old", "d/c": "old"}
	a := newApplying(t, before, map[string]string{"a": big, "b": big, "d/c": big})
	live := filepath.Join(dir, "live")
	lay(t, live, before)
	a.live, a.order.Parts[0].Location = live, live
	fill := filepath.Join(dir, "fill")
	for n := 0; ; n++ { // from an empty disk to a full one
		must(t, os.WriteFile(fill, make([]byte, n*64<<10), 0o600))
		err := a.apply()
		if err != nil {
			if !fault.Is(err, fault.Exhausted) {
				t.Fatalf("with %d blocks filled: %v", n, err)
			}
			a.is("a full disk", a.before)
			must(t, os.Remove(fill))
			must(t, a.apply())
			a.is("after space was made", a.now)
			if n < 2 {
				t.Errorf("it was full at once")
			}
			return
		}
		a.is("room enough", a.now)
		a.settle(true)
		a.is("and back", a.before)
		must(t, a.target.Forget(context.Background(), "P"))
	}
}

// T37: a file is synced before it gets a name, the names before the journal
// says that they are to be put in place, and the directories before it says
// that they are.
func TestOrderOfSyncs(t *testing.T) {
	before, after := small()
	a := newApplying(t, before, after)
	var log []string
	a.fault = func(op, path string) error { log = append(log, op+" "+path); return nil }
	must(t, a.apply())
	a.is("the tree", a.now)
	last := func(what string) int {
		for i := len(log) - 1; i >= 0; i-- {
			if strings.HasPrefix(log[i], what) {
				return i
			}
		}
		return -1
	}
	var journals []int // each time it is durable
	for i, l := range log {
		if l == "syncdir P.json" {
			journals = append(journals, i)
		}
	}
	if len(journals) != 4 {
		t.Fatalf("the journal was written %d times: %q", len(journals), log)
	}
	staged, committed, done := journals[0], journals[1], journals[2]
	puts := 0
	for i, l := range log {
		op, name, _ := strings.Cut(l, " ")
		switch {
		case op == "create" && strings.HasSuffix(name, partSuffix):
			puts++
			sync := slices.Index(log[i:], "fsync "+name) + i
			named := slices.Index(log[i:], "rename "+strings.TrimSuffix(name, partSuffix)) + i
			if !(staged < i && i < sync && sync < named && named < committed) {
				t.Errorf("%s: made at %d, synced at %d, named at %d; journals at %v", name, i, sync, named, journals)
			}
		case (op == "exchange" || op == "link" || op == "mkdir") && !(committed < i && i < done):
			t.Errorf("%s at %d, journals at %v", l, i, journals)
		}
	}
	if puts < 4 {
		t.Errorf("%d files were made", puts)
	}
	// The last effect is followed by a sync of its directory, before the journal.
	effect := max(last("exchange"), last("unlink"), last("link"), last("mkdir"))
	if i := slices.IndexFunc(log[effect:], func(l string) bool { return strings.HasPrefix(l, "syncdir .") }) + effect; i <= effect || i >= done {
		t.Errorf("the last effect is at %d, the next sync of a directory at %d, the journal at %d", effect, i, done)
	}
}

// T37: the same seen from outside, in the calls of a process.
func TestOrderOfSyncsInTheKernel(t *testing.T) {
	before, after := small()
	k := newKillable(t, before, after)
	trace := filepath.Join(k.top, "trace")
	cmd := exec.Command("strace", "-f", "-y", "-s", "300", "-o", trace, "-e", "trace=fsync,symlinkat,rename,renameat,renameat2,linkat,unlinkat", os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childEnv+"="+k.dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("no strace: %v: %s", err, out)
	}
	b, err := os.ReadFile(trace)
	must(t, err)
	lines := strings.Split(string(b), "\n")
	synced, links, named := map[string]int{}, map[string]bool{}, 0
	for i, l := range lines {
		if _, rest, ok := strings.Cut(l, "symlinkat("); ok {
			parts := strings.Split(rest, "\"")
			links[parts[len(parts)-2]] = true // which has no bytes to sync
		}
		if _, rest, ok := strings.Cut(l, "fsync("); ok {
			if _, p, ok := strings.Cut(rest, "<"); ok {
				p, _, _ = strings.Cut(p, ">")
				synced[filepath.Base(p)] = i
			}
		}
		if _, rest, ok := strings.Cut(l, ", \""+tempPrefix); ok && strings.Contains(l, "rename") && strings.Contains(rest, newSuffix+partSuffix+"\"") {
			name, _, _ := strings.Cut(rest, "\"")
			named++
			if _, ok := synced[tempPrefix+name]; !ok && !links[tempPrefix+name] {
				t.Errorf("%s was named before it was synced:\n%s", name, l)
			}
		}
	}
	if named < 4 || len(synced) < 4 {
		t.Errorf("%d files named, %d synced:\n%s", named, len(synced), b)
	}
	k.ended(t, "traced", k.now)
}
