package proc_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/proc"
)

func TestMain(m *testing.M) {
	switch os.Getenv("PROC_TEST_ROLE") {
	case "flood": // writes for ever and takes no notice of a closed pipe
		buf := bytes.Repeat([]byte("y\n"), 32<<10)
		for {
			syscall.Write(1, buf)
		}
	case "engine": // runs a child that never ends, to be killed itself
		proc.New(time.Now).Run(context.Background(), proc.Command{
			Argv: []string{"sh", "-c", `echo $$ >"$PIDFILE"; exec sleep 600`},
			Env:  proc.Env(map[string]string{"PIDFILE": os.Getenv("PIDFILE")}),
		})
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func sh(script string, args ...string) proc.Command {
	return proc.Command{Argv: append([]string{"sh", "-c", script, "sh"}, args...), Env: proc.Env(nil)}
}

func run(t *testing.T, c proc.Command) proc.Result {
	t.Helper()
	res, err := proc.New(time.Now).Run(t.Context(), c)
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	return res
}

func TestRunReportsHowItEnded(t *testing.T) {
	type outcome struct {
		Exit     int
		Signal   string
		Output   string
		TimedOut bool
	}
	dir := t.TempDir()
	tests := []struct {
		name string
		cmd  proc.Command
		want outcome
	}{
		{"exit 0", sh("echo out"), outcome{Output: "out\n"}},
		{"exit 3", sh("exit 3"), outcome{Exit: 3}},
		{"both streams in order", sh("echo a; echo b >&2; echo c"), outcome{Output: "a\nb\nc\n"}},
		{"signal", sh("kill -TERM $$"), outcome{Exit: 143, Signal: "SIGTERM"}},
		{"stdin", proc.Command{Argv: []string{"cat"}, Env: proc.Env(nil), Stdin: []byte("in")}, outcome{Output: "in"}},
		{"no stdin is empty", sh("cat; echo end"), outcome{Output: "end\n"}},
		{"stdin nobody reads", proc.Command{Argv: []string{"true"}, Env: proc.Env(nil), Stdin: make([]byte, 1<<20)}, outcome{}},
		{"dir", proc.Command{Argv: []string{"pwd"}, Env: proc.Env(nil), Dir: dir}, outcome{Output: dir + "\n"}},
		{"a session of its own, so no terminal", sh("[ \"$(cut -d' ' -f6 /proc/$$/stat)\" = $$ ]"), outcome{}},
		{"a helper that outlives the leader a little", sh("{ i=0; while [ $i -lt 300 ]; do i=$((i+1)); done; echo late; } & exit 0"), outcome{Output: "late\n"}},
		{"timeout", func() proc.Command {
			c := sh("echo first; sleep 600")
			c.Timeout = 50 * time.Millisecond
			return c
		}(), outcome{Exit: 137, Signal: "SIGKILL", Output: "first\n", TimedOut: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := run(t, tt.cmd)
			got := outcome{res.Exit, res.Signal, string(res.Output), res.TimedOut}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
			if res.Elapsed <= 0 {
				t.Errorf("elapsed %v", res.Elapsed)
			}
		})
	}
}

func TestRunRefusesWhatItCannotStart(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name string
		ctx  context.Context
		cmd  proc.Command
		kind fault.Kind
		code string
	}{
		{"nothing", t.Context(), proc.Command{Env: proc.Env(nil)}, fault.Invalid, "Invalid"},
		{"nil environment inherits", t.Context(), proc.Command{Argv: []string{"true"}}, fault.Internal, "Internal"},
		{"not NAME=value", t.Context(), proc.Command{Argv: []string{"true"}, Env: []string{"X"}}, fault.Invalid, "Invalid"},
		{"NUL argument", t.Context(), proc.Command{Argv: []string{"true", "a\x00b"}, Env: proc.Env(nil)}, fault.Invalid, "Invalid"},
		{"not on PATH", t.Context(), proc.Command{Argv: []string{"no-such-program"}, Env: proc.Env(nil)}, fault.NotFound, "ProgramNotFound"},
		{"no such file", t.Context(), proc.Command{Argv: []string{"./no-such"}, Env: proc.Env(nil)}, fault.NotFound, "ProgramNotFound"},
		{"not executable", t.Context(), proc.Command{Argv: []string{plain}, Env: proc.Env(nil)}, fault.Denied, "Denied"},
		{"no such directory", t.Context(), proc.Command{Argv: []string{"true"}, Env: proc.Env(nil), Dir: plain + ".d"}, fault.NotFound, "NotFound"},
		{"cancelled before", cancelled, sh("exit 0"), fault.Cancelled, "Cancelled"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := proc.New(time.Now).Run(tt.ctx, tt.cmd)
			if !fault.Is(err, tt.kind) || fault.CodeOf(err) != tt.code {
				t.Errorf("got %v, want %v %s", err, tt.kind, tt.code)
			}
		})
	}
}

func TestCancelReturnsWhatCame(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	file := filepath.Join(t.TempDir(), "ready")
	go func() {
		awaitFile(file)
		cancel()
	}()
	res, err := proc.New(time.Now).Run(ctx, sh(`echo before; : >"$1"; sleep 600`, file))
	if !fault.Is(err, fault.Cancelled) || string(res.Output) != "before\n" {
		t.Errorf("got %q, %v", res.Output, err)
	}
}

// T07: nothing is left, and the call returns in time, whatever the program
// does to get out of reach and while something holds the pipe.
func TestNoProcessIsLeft(t *testing.T) {
	tests := []struct{ name, script string }{
		{"background", `sleep 600 & echo $! >"$1"; PAUSE`},
		{"own session", `setsid sh -c 'echo $$ >"$1"; exec sleep 600' sh "$1" & PAUSE`},
		{"double fork and own session", `(setsid sh -c 'echo $$ >"$1"; exec sleep 600' sh "$1" &) ; PAUSE`},
		{"own session, no pipe", `(setsid sh -c 'echo $$ >"$1"; exec sleep 600' sh "$1" >/dev/null 2>&1 &) ; PAUSE`},
		{"deaf to signals", `(trap '' HUP INT TERM; setsid sh -c 'echo $$ >"$1"; exec sleep 600' sh "$1" &) ; PAUSE`},
		{"cleared environment, parent alive", `setsid env -i PATH="$PATH" sh -c 'echo $$ >"$1"; exec sleep 600' sh "$1" & PAUSE`},
	}
	for _, end := range []string{"timeout", "exit"} {
		for _, tt := range tests {
			if end == "exit" && strings.HasPrefix(tt.name, "cleared") {
				continue // out of reach, as the package comment says
			}
			t.Run(end+"/"+tt.name, func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "pid")
				pause := `while ! [ -s "$1" ]; do :; done`
				if end == "timeout" {
					pause += "; sleep 600"
				}
				c := sh(strings.Replace(tt.script, "PAUSE", pause, 1), file)
				c.Timeout = 2 * time.Second
				if end == "exit" {
					c.Timeout = time.Minute
				}
				res := run(t, c)
				if end == "timeout" && (!res.TimedOut || res.Elapsed > c.Timeout+time.Second) {
					t.Errorf("timed out %v after %v", res.TimedOut, res.Elapsed)
				}
				if end == "exit" && (res.Exit != 0 || res.Elapsed > 5*time.Second) {
					t.Errorf("exit %d after %v", res.Exit, res.Elapsed)
				}
				wantGone(t, pidIn(t, file))
			})
		}
	}
}

// T07: a killed engine takes its child along.
func TestChildEndsWithTheEngine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	engine := exec.Command(os.Args[0])
	engine.Env = append(proc.Env(nil), "PROC_TEST_ROLE=engine", "PIDFILE="+file)
	if err := engine.Start(); err != nil {
		t.Fatal(err)
	}
	awaitFile(file)
	engine.Process.Kill()
	engine.Wait()
	wantGone(t, pidIn(t, file))
}

// T06: output without end is stopped, and only a bounded part is kept.
func TestOutputIsBounded(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res := run(t, proc.Command{
		Argv: []string{os.Args[0]}, Env: proc.Env(map[string]string{"PROC_TEST_ROLE": "flood"}),
		MaxOutput: 1 << 20, StopAt: 64 << 20, Timeout: time.Minute,
	})
	runtime.ReadMemStats(&after)
	if !res.Flooded || res.TimedOut || !res.Truncated || res.Signal != "SIGKILL" {
		t.Errorf("flooded %v, timed out %v, truncated %v, signal %q", res.Flooded, res.TimedOut, res.Truncated, res.Signal)
	}
	if n := len(res.Output); n < 1<<20 || n > 1<<20+100 {
		t.Errorf("%d bytes kept", n)
	}
	if res.Total < 64<<20 || res.Total > 64<<20+64<<10 {
		t.Errorf("%d bytes came", res.Total)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 16<<20 {
		t.Errorf("%d bytes were allocated", grown)
	}
}

func TestOutputKeepsBothEnds(t *testing.T) {
	c := sh(`echo start; i=0; while [ $i -lt 3000 ]; do echo "line $i"; i=$((i+1)); done; echo end`)
	c.MaxOutput = 4096
	res := run(t, c)
	out := string(res.Output)
	if !strings.HasPrefix(out, "start\nline 0\n") || !strings.HasSuffix(out, "line 2999\nend\n") {
		t.Errorf("the ends are %q and %q", out[:20], out[len(out)-20:])
	}
	want := fmt.Sprintf("\n[%d bytes dropped here]\n", res.Total-4096)
	if strings.Count(out, want) != 1 || len(out) != 4096+len(want) {
		t.Errorf("%d bytes without %q", len(out), want)
	}
}

func awaitFile(file string) {
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); runtime.Gosched() {
		if info, err := os.Stat(file); err == nil && (info.Size() > 0 || filepath.Base(file) == "ready") {
			return
		}
	}
}

func pidIn(t *testing.T, file string) int {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// wantGone fails unless the process is dead within two seconds. A zombie that
// nobody reaps, as in a container without an init, is dead.
func wantGone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Second); time.Now().Before(deadline); runtime.Gosched() {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || bytes.Contains(b[bytes.LastIndexByte(b, ')'):], []byte(") Z ")) {
			return
		}
	}
	t.Errorf("process %d is left", pid)
	syscall.Kill(pid, syscall.SIGKILL)
}

func BenchmarkRun(b *testing.B) {
	r := proc.New(time.Now)
	env := proc.Env(nil)
	for b.Loop() {
		if _, err := r.Run(context.Background(), proc.Command{Argv: []string{"true"}, Env: env}); err != nil {
			b.Fatal(err)
		}
	}
}
