package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// T33: the program itself is killed at points of an apply. The next apply ends
// it, one more says that it is applied, nothing of ours is left in the project,
// and the store checks out.
func TestApplyOfAKilledProgram(t *testing.T) {
	dir := t.TempDir()
	first := filepath.Join(dir, "first")
	at := func(place string, env []string, args ...string) (string, error) {
		cmd := exec.Command("agents", append([]string{"--data-dir", filepath.Join(place, "data"), "-C", filepath.Join(place, "project")}, args...)...)
		cmd.Env = append(append(os.Environ(), "HOME="+place), env...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	run := func(place string, args ...string) string {
		t.Helper()
		out, err := at(place, nil, args...)
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return out
	}
	project := filepath.Join(first, "project")
	if err := os.MkdirAll(filepath.Join(project, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "d/c"} {
		if err := os.WriteFile(filepath.Join(project, name), []byte("old\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run(first, "init", ".", "--name", "shop")
	_, _ = at(first, nil, "run", "builtin/command", "--automation-profile", "auto", "--name", "fix",
		"--arg", "command=echo new > a; rm b; rm -r d; echo new > d; mkdir e; echo new > e/n") // waits, exit 4
	log := filepath.Join(dir, "points")
	// The project was recorded under its first path: each history works there,
	// on what it was.
	kept := filepath.Join(dir, "kept")
	if out, err := exec.Command("cp", "-a", first, kept).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	fresh := func() {
		t.Helper()
		if err := os.RemoveAll(first); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("cp", "-a", kept, first).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	fresh()
	if out, err := at(first, []string{"AGENTS_CRASH_LOG=" + log}, "plan", "apply", "fix"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(string(b))
	tree := func() string {
		out, err := exec.Command("sh", "-c", `cd "$1" && find . -mindepth 1 -printf '%p %M\n' | sort; find . -type f | sort | xargs cat`, "sh", project).CombinedOutput()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	after := tree()
	fresh()
	before := tree()
	histories := 0
	for n := range names {
		if !strings.HasPrefix(names[n], "apply.") && !strings.HasPrefix(names[n], "engine.apply") || n%3 != 0 && strings.HasPrefix(names[n], "apply.") {
			continue
		}
		fresh()
		if out, err := at(first, []string{fmt.Sprintf("AGENTS_CRASH_AT=%d", n+1)}, "plan", "apply", "fix"); err == nil {
			t.Fatalf("point %d (%s): it was not killed: %s", n+1, names[n], out)
		}
		histories++
		switch histories % 3 { // whatever a person does next ends well
		case 1:
			if out, err := at(first, nil, "plan", "apply", "fix", "--abort"); err == nil {
				if got := tree(); got != before {
					t.Errorf("point %d (%s): taken back is\n%s", n+1, names[n], got)
				}
			} else if !strings.Contains(out, "is applied") {
				t.Errorf("point %d (%s): --abort: %s", n+1, names[n], out)
			}
		case 2:
			if out, err := at(first, nil, "plan", "apply", "fix", "--recover"); err == nil {
				if got := tree(); got != after {
					t.Errorf("point %d (%s): recovered is\n%s", n+1, names[n], got)
				}
			} else if !strings.Contains(out, "nothing of plan") && !strings.Contains(out, "was cut short") {
				t.Errorf("point %d (%s): --recover: %s", n+1, names[n], out)
			}
		}
		run(first, "plan", "apply", "fix")
		if out := run(first, "plan", "apply", "fix"); !strings.Contains(out, "already applied") {
			t.Errorf("point %d (%s): a second apply says %s", n+1, names[n], out)
		}
		if out := run(first, "db", "status", "--check"); !strings.Contains(out, "ok") {
			t.Errorf("point %d (%s): %s", n+1, names[n], out)
		}
		if got := tree(); got != after {
			t.Errorf("point %d (%s):\n%s", n+1, names[n], got)
		}
		if t.Failed() {
			return
		}
	}
	if histories < 15 {
		t.Errorf("only %d histories", histories)
	}
	t.Logf("%d histories", histories)
}

// T38: applies of several plans to one project at once, as processes: each
// arrives or is told that it is busy, and in the end all have arrived.
func TestAppliesAtOnce(t *testing.T) {
	place := t.TempDir()
	project := filepath.Join(place, "project")
	if err := os.Mkdir(project, 0o755); err != nil {
		t.Fatal(err)
	}
	agents := func(args ...string) *exec.Cmd {
		cmd := exec.Command("agents", append([]string{"--data-dir", filepath.Join(place, "data"), "-C", project}, args...)...)
		cmd.Env = append(os.Environ(), "HOME="+place)
		return cmd
	}
	if out, err := agents("init", ".", "--name", "shop").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const plans = 4
	for i := range plans {
		_, _ = agents("run", "builtin/command", "--automation-profile", "auto", "--name", fmt.Sprintf("p%d", i),
			"--arg", fmt.Sprintf("command=for n in $(seq 60); do echo %d > p%d-$n; done", i, i)).CombinedOutput() // waits, exit 4
	}
	left := map[int]bool{}
	for i := range plans {
		left[i] = true
	}
	busy := 0
	for round := 0; len(left) > 0 && round < 20; round++ {
		running := map[int]*exec.Cmd{}
		said := map[int]*strings.Builder{}
		for i := range left {
			running[i], said[i] = agents("plan", "apply", fmt.Sprintf("p%d", i)), &strings.Builder{}
			running[i].Stderr = said[i]
			if err := running[i].Start(); err != nil {
				t.Fatal(err)
			}
		}
		for i, cmd := range running {
			err := cmd.Wait()
			switch {
			case err == nil:
				delete(left, i)
			case cmd.ProcessState.ExitCode() == 7 && strings.Contains(said[i].String(), "being written by another plan"):
				busy++
			default:
				t.Fatalf("plan %d: %v: %s", i, err, said[i])
			}
		}
	}
	names, err := filepath.Glob(filepath.Join(project, "*"))
	if err != nil || len(names) != plans*60 || len(left) > 0 {
		t.Errorf("%d files, %d plans left, %v", len(names), len(left), err)
	}
	t.Logf("told %d times that it is busy", busy)
}
