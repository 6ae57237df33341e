package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/jail"
	"github.com/cleveragents/agents/proc"
	"github.com/cleveragents/agents/tool"
)

func TestShell(t *testing.T) {
	b := newBench(t, map[string]string{"sub/f": "x"})
	exit := func(n int) *int { return &n }
	backend, _, err := testJail(t).Backend(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		args   args
		status tool.Status
		exit   *int
		output string
	}{
		{"script", args{"script": "echo a; echo b >&2"}, tool.OK, exit(0), "a\nb\n"},
		{"argv is not a script", args{"argv": []string{"echo", "$HOME; exit 1"}}, tool.OK, exit(0), "$HOME; exit 1\n"},
		{"silent", args{"argv": []string{"true"}}, tool.OK, exit(0), "[no output]"},
		{"exit status", args{"script": "echo no; exit 3"}, tool.Failed, exit(3), "no\n[exit status 3]"},
		{"signal", args{"script": "kill -SEGV $$"}, tool.Failed, exit(139), "[exit status 139]"},
		{"dir", args{"dir": "sub", "argv": []string{"ls"}}, tool.OK, exit(0), "f\n"},
		{"timeout", args{"script": "echo part; sleep 600", "timeout_seconds": 1}, tool.Exceeded, exit(137), "part\n[stopped: still running after 1 s]"},
		{"bad UTF-8", args{"script": `printf 'a\377b'`}, tool.OK, exit(0), "a\uFFFDb"},
		{"both", args{"script": "true", "argv": []string{"true"}}, tool.Failed, nil, "error: give either argv or script"},
		{"neither", args{}, tool.Failed, nil, "error: give either argv or script"},
		{"no such program", args{"argv": []string{"no-such-program"}}, tool.Failed, nil, "error: program \"no-such-program\" is not on the PATH\ninstall no-such-program, or give its full path"},
		{"no such dir", args{"dir": "none", "script": "true"}, tool.Failed, nil, "error: none is not there"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := b.call("shell", tt.args)
			want := tool.Result{Status: tt.status, Exit: tt.exit, Output: tt.output}
			if tt.exit != nil {
				want.Backend = string(backend)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestShellIsCancelled(t *testing.T) {
	b := newBench(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(b.path("ready")); err == nil {
				cancel()
				return
			}
			runtime.Gosched()
		}
	}()
	if res, err := b.try(ctx, "shell", args{"script": ": >ready; sleep 600"}); !fault.Is(err, fault.Cancelled) {
		t.Errorf("got %+v, %v", res, err)
	}
}

// T30: a secret in our environment is not in the program's, and its home is
// not ours.
func TestShellSeesNoSecret(t *testing.T) {
	for _, name := range []string{"AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GITHUB_TOKEN", "AGENTS_DB_PASSWORD"} {
		t.Setenv(name, canary)
	}
	b := newBench(t, nil)
	out := b.must("shell", args{"script": `env; cat /proc/self/environ; echo; test -d "$HOME" -a -w "$TMPDIR" && cd && pwd`})
	if strings.Contains(out, canary) {
		t.Errorf("a secret is in\n%s", out)
	}
	home := lastLine([]byte(out))
	if home == os.Getenv("HOME") || strings.HasPrefix(home, b.dir) || !filepath.IsAbs(home) {
		t.Errorf("HOME is %q", home)
	}
}

func TestShellKeepsAGivenScratch(t *testing.T) {
	b := newBench(t, nil)
	b.in.Scratch = filepath.Join(t.TempDir(), "scratch")
	b.must("shell", args{"script": `echo kept >"$HOME/f"`})
	if out := b.must("shell", args{"script": `cat "$HOME/f"`}); out != "kept\n" {
		t.Errorf("got %q", out)
	}
	out, err := NewChecker(testJail(t), 0).Check(t.Context(), b.in.Place, tool.Validation{Command: `test ! -e "$HOME/f" && echo mine >"$HOME/f"`})
	if err != nil || out.Verdict != tool.Passed {
		t.Errorf("a validation sees the home of tools: %+v, %v", out, err)
	}
	if out := b.must("shell", args{"script": `cat "$HOME/f"`}); out != "kept\n" {
		t.Errorf("a validation wrote into the home of tools: %q", out)
	}
}

// T07 (the shell's part): what a script leaves running is gone.
func TestShellLeavesNothingRunning(t *testing.T) {
	b := newBench(t, nil)
	// Its number is another one outside; how long it sleeps names it.
	long := fmt.Sprintf("600.%d", os.Getpid())
	b.must("shell", args{"script": `(setsid sh -c 'echo $$ >pid; exec sleep ` + long + `' >/dev/null 2>&1 &); while ! [ -s pid ]; do :; done`})
	for deadline := time.Now().Add(2 * time.Second); ; runtime.Gosched() {
		left := sleepers(t, long)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("processes %v are left", left)
			for _, pid := range left {
				syscall.Kill(pid, syscall.SIGKILL)
			}
			return
		}
	}
}

// sleepers are the processes that sleep that long.
func sleepers(t *testing.T, long string) (pids []int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if line, err := os.ReadFile(f); err == nil && strings.Contains(string(line), "sleep\x00"+long) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f)))
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	return pids
}

// A git in the tree does not find the repository around it.
func TestShellDoesNotFindAnOuterRepository(t *testing.T) {
	if _, err := proc.Lookup("git"); err != nil {
		t.Fatal(err) // ./test installs it
	}
	b := newBench(t, nil)
	b.put(".git/HEAD", "ref: refs/heads/main\n", 0o644)
	b.put(".git/objects/.keep", "", 0o644)
	b.put(".git/refs/.keep", "", 0o644)
	b.put("box/f", "", 0o644)
	if out := b.must("shell", args{"argv": []string{"git", "rev-parse", "--is-inside-work-tree"}}); out != "true\n" {
		t.Fatalf("the outer repository is not one: %s", out)
	}
	b.in.Dir = b.path("box")
	b.want("shell", args{"argv": []string{"git", "rev-parse", "--show-toplevel"}}, tool.Failed, "not a git repository")
}

// T06 (the output's part): a flood is stopped, memory stays bounded, and a cut
// output can be paged through to its last byte.
func TestOutputIsCutAndPaged(t *testing.T) {
	b := newBench(t, nil)
	blobs := map[string][]byte{}
	b.in.Page = func(h string) ([]byte, error) {
		blob, ok := blobs[h]
		if !ok {
			return nil, fault.New(fault.NotFound, "no output %s", h)
		}
		return blob, nil
	}
	res := b.call("shell", args{"script": `i=0; while [ $i -lt 20000 ]; do echo "zeile ü $i"; i=$((i+1)); done`})
	if res.Status != tool.OK || len(res.Output) > maxOutput+300 || !strings.HasSuffix(res.Output, "zeile ü 19999\n") {
		t.Fatalf("%s, %d bytes, ends %q", res.Status, len(res.Output), res.Output[len(res.Output)-40:])
	}
	if i := strings.IndexRune(res.Output, '\uFFFD'); i >= 0 {
		t.Errorf("a character was cut at %d", i)
	}
	var left, offset int
	var h string
	marker := res.Output[strings.Index(res.Output, "\n[")+1:]
	if _, err := fmt.Sscanf(marker, "[%d bytes are left out here; see them with page, hash=%64s offset=%d]", &left, &h, &offset); err != nil {
		t.Fatalf("%.200q: %v", marker, err)
	}
	if h != hash(res.Spill) {
		t.Errorf("the hash is %s", h)
	}
	blobs[h] = res.Spill
	got := res.Output[:strings.Index(res.Output, "\n[")]
	for range 100 {
		out := b.must("page", args{"hash": h, "offset": offset})
		i := strings.LastIndex(out, "\n[bytes ")
		got += out[:i]
		j := strings.LastIndex(out, "offset=")
		if j < i {
			break
		}
		fmt.Sscanf(out[j:], "offset=%d", &offset)
	}
	if got != string(res.Spill) {
		t.Errorf("the pages have %d bytes, the output %d", len(got), len(res.Spill))
	}
	b.want("page", args{"hash": h, "offset": len(res.Spill)}, tool.Failed, "after the end")
	b.want("page", args{"hash": strings.Repeat("0", 64)}, tool.Failed, "no output")
}

func TestFloodIsStopped(t *testing.T) {
	b := newBench(t, nil)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res := b.call("shell", args{"argv": []string{"yes", strings.Repeat("flood ", 200)}, "timeout_seconds": 60})
	runtime.ReadMemStats(&after)
	if res.Status != tool.Exceeded || !strings.Contains(res.Output, "[stopped: it wrote ") {
		t.Errorf("%s: %s", res.Status, res.Output[max(0, len(res.Output)-100):])
	}
	if len(res.Output) > maxOutput+300 || len(res.Spill) > proc.DefaultMaxOutput+100 {
		t.Errorf("%d bytes shown, %d kept", len(res.Output), len(res.Spill))
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 128<<20 {
		t.Errorf("%d bytes were allocated", grown)
	}
	if _, err := json.Marshal(res); err != nil {
		t.Error(err)
	}
}

func TestTimesOfTheShellTool(t *testing.T) {
	b := newBench(t, nil)
	b.box = New(Config{Jail: testJail(t), ShellTimeout: time.Hour, ShellMaxTimeout: time.Second})
	for _, a := range []args{{"script": "sleep 600"}, {"script": "sleep 600", "timeout_seconds": 30}} {
		if got := b.call("shell", a); got.Status != tool.Exceeded || !strings.Contains(got.Output, "after 1 s") {
			t.Errorf("%v: %+v", a, got)
		}
	}
	for _, c := range []struct {
		config Config
		want   string
	}{
		{Config{}, `"description": "120 when not given, at most 1800"`},
		{Config{ShellTimeout: 90 * time.Second, ShellMaxTimeout: time.Hour}, `"description": "90 when not given, at most 3600"`},
	} {
		for _, s := range New(c.config).Specs() {
			if s.Name == "builtin/shell" && !strings.Contains(string(s.Input), c.want) {
				t.Errorf("the model is told %s", s.Input)
			}
		}
	}
}

// The paths that a search does not show can be seen with page.
func TestPathsBeyondTheListArePaged(t *testing.T) {
	files := map[string]string{}
	for i := range maxListed + 5 {
		files[fmt.Sprintf("f%05d", i)] = ""
	}
	b := newBench(t, files)
	res := b.call("glob", args{"pattern": "f*"})
	b.in.Page = func(h string) ([]byte, error) {
		if h != hash(res.Spill) {
			return nil, fault.New(fault.NotFound, "no output %s", h)
		}
		return res.Spill, nil
	}
	marker := res.Output[strings.Index(res.Output, "["):]
	var shown, all, offset int
	var h string
	if _, err := fmt.Sscanf(marker, "[%d of %d paths; narrow the pattern, or see the others with page, hash=%64s offset=%d]", &shown, &all, &h, &offset); err != nil || shown != maxListed || all != len(files) {
		t.Fatalf("%q: %v", marker, err)
	}
	rest := b.must("page", args{"hash": h, "offset": offset})
	if !strings.HasPrefix(rest, "f01000\nf01001\n") || !strings.Contains(rest, "f01004\n") {
		t.Errorf("the rest is %q", rest)
	}
	if few := b.call("glob", args{"pattern": "f0000*"}); few.Spill != nil {
		t.Error("a whole list was kept")
	}
}

// T05 (the tools' part): a program that must be confined and cannot be is not
// run, and that is not for the model to solve.
func TestProgramsThatMustBeConfined(t *testing.T) {
	b := newBench(t, nil)
	nothing := jail.New(jail.Config{Proc: proc.New(time.Now), Dir: filepath.Join(t.TempDir(), "jail"), Use: jail.Unconfined})
	b.box = New(Config{Jail: nothing})
	b.in.Confine = true
	if res, err := b.try(t.Context(), "shell", args{"script": ": >ran"}); fault.CodeOf(err) != jail.NoSandbox {
		t.Errorf("the tool: %+v, %v", res, err)
	}
	check := NewChecker(nothing, 0)
	if out, err := check.Check(t.Context(), b.in.Place, tool.Validation{Command: ": >ran"}); fault.CodeOf(err) != jail.NoSandbox {
		t.Errorf("the validation: %+v, %v", out, err)
	}
	if _, err := os.Stat(b.path("ran")); err == nil {
		t.Error("a program ran")
	}
	b.in.Confine = false
	if res := b.call("shell", args{"argv": []string{"true"}}); res.Status != tool.OK || res.Backend != "none" {
		t.Errorf("where it need not be: %+v", res)
	}
}
