package e2e_test

import (
	"bytes"
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
	place := func(n int) string {
		t.Helper()
		p := filepath.Join(dir, "place") // the paths in the records are of one place
		if err := os.RemoveAll(p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	// The project was recorded under its first path: each history works there,
	// on what it was.
	kept := place(0)
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
		run(first, "plan", "apply", "fix")
		if out := run(first, "plan", "apply", "fix"); !strings.Contains(out, "already applied") {
			t.Errorf("point %d (%s): a second apply says %s", n+1, names[n], out)
		}
		if out := run(first, "db", "status", "--check"); !strings.Contains(out, "ok") {
			t.Errorf("point %d (%s): %s", n+1, names[n], out)
		}
		got, err := exec.Command("sh", "-c", `cd "$1" && find . -mindepth 1 | sort && cat a d e/n`, "sh", project).CombinedOutput()
		if err != nil || !bytes.Equal(got, []byte("./a\n./d\n./e\n./e/n\nnew\nnew\nnew\n")) {
			t.Errorf("point %d (%s): %v:\n%s", n+1, names[n], err, got)
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
