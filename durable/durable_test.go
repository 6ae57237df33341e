package durable

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cleveragents/agents/crash"
	"github.com/cleveragents/agents/fault"
)

// The child is this test binary again: it runs one key of steps steps in dir,
// and appends a line to the file "calls" at each call of a step.
const (
	childDir   = "DURABLE_CHILD_DIR"
	childKey   = "DURABLE_CHILD_KEY"
	childSteps = "DURABLE_CHILD_STEPS"
	childHold  = "DURABLE_CHILD_HOLD" // the step in which it waits for ever
	childFail  = "DURABLE_CHILD_FAIL" // the step that is denied
)

func TestMain(m *testing.M) {
	if os.Getenv(childDir) != "" {
		if err := child(); err != nil {
			fmt.Println(err) // the parent reads it
			os.Exit(fault.Exit(err))
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func child() error {
	dir := os.Getenv(childDir)
	w, err := NewWorkers(filepath.Join(dir, "workers"), fmt.Sprintf("C%d", os.Getpid()))
	if err != nil {
		return err
	}
	defer w.Close()
	r, err := Open(context.Background(), Config{Path: filepath.Join(dir, "engine.db"), Live: w})
	if err != nil {
		return err
	}
	defer r.Close()
	var steps int
	hold, fail := -1, -1
	fmt.Sscan(os.Getenv(childSteps), &steps)
	fmt.Sscan(os.Getenv(childHold), &hold)
	fmt.Sscan(os.Getenv(childFail), &fail)
	return r.Run(context.Background(), os.Getenv(childKey), func(_ context.Context, n int) (bool, error) {
		if err := note(dir, "%d", n); err != nil {
			return false, err
		}
		if n == hold {
			fmt.Println("holding")
			select {}
		}
		crash.Point("child.step")
		if n == fail {
			return false, fault.New(fault.Denied, "step %d is denied", n)
		}
		return n == steps-1, nil
	})
}

func note(dir, format string, args ...any) error {
	f, err := os.OpenFile(filepath.Join(dir, "calls"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = fmt.Fprintf(f, format+"\n", args...)
	return err
}

func calls(t *testing.T, dir string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "calls"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Fields(string(b))
}

func command(dir, key string, steps int, env ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir, childKey+"="+key, fmt.Sprintf("%s=%d", childSteps, steps))
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

// holder starts a child and waits until it is inside the given step.
func holder(t *testing.T, dir, key string, step int) *exec.Cmd {
	t.Helper()
	cmd := command(dir, key, step+2, fmt.Sprintf("%s=%d", childHold, step))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kill(cmd) })
	line := make([]byte, len("holding\n"))
	if _, err := out.Read(line); err != nil || string(line) != "holding\n" {
		t.Fatalf("child said %q, %v", line, err)
	}
	return cmd
}

func kill(cmd *exec.Cmd) {
	if cmd.ProcessState == nil {
		_ = cmd.Process.Signal(syscall.SIGKILL)
		_ = cmd.Wait()
	}
}

// emptyFile is a workflow file in which nothing has run: making one costs many
// times what opening one does, most of all under the race detector.
var emptyFile = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "durable")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "engine.db")
	r, err := Open(context.Background(), Config{Path: path, Live: deadTo{nobody{}}})
	if err != nil {
		return nil, err
	}
	if err := r.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

type nobody struct{}

func (nobody) Self() string { return "nobody" }

// stateDir is a directory with an empty workflow file.
func stateDir(t testing.TB) string {
	t.Helper()
	b, err := emptyFile()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "engine.db"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// open opens a runner of this process, enrolled under a fresh id.
func open(t testing.TB, dir string) *Runner { return openKeeping(t, dir, 0) }

func openKeeping(t testing.TB, dir string, keep int) *Runner {
	t.Helper()
	w, err := NewWorkers(filepath.Join(dir, "workers"), fmt.Sprintf("P%d", time.Now().UnixNano()))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open(context.Background(), Config{Path: filepath.Join(dir, "engine.db"), Live: w, Keep: keep})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// count is a step function of so many steps that keeps the numbers it is
// called with.
func count(steps int, got *[]int) func(context.Context, int) (bool, error) {
	return func(_ context.Context, n int) (bool, error) {
		*got = append(*got, n)
		return n == steps-1, nil
	}
}
