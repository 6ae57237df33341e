package e2e_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBuiltinCommandOnARealModule does the job that needs no model on a module
// that nobody here wrote: what is formatted is applied, and a command that
// breaks the build leaves the tree and the user's .git as they were, to the
// byte.
//
// T14: a repository with a dirty tree.
func TestBuiltinCommandOnARealModule(t *testing.T) {
	dir := realModule(t)
	ugly := "package unix\n\nfunc   ugly( ) {  }\n"
	must(t, os.WriteFile(filepath.Join(dir, "unix", "zz_ugly.go"), []byte(ugly), 0o644))
	git := fingerprint(t, filepath.Join(dir, ".git"), "")

	run := func(want int, args ...string) string {
		t.Helper()
		cmd := exec.Command("agents", append([]string{"run", "builtin/command", "-p", ".", "--automation-profile", "ci", "--no-input"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+home(t))
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Fatalf("exit %d, want %d:\n%s", got, want, out)
		}
		return string(out)
	}

	run(0, "--arg", "command=gofmt -s -w .", "--arg", "validate=go build ./...")
	got, err := os.ReadFile(filepath.Join(dir, "unix", "zz_ugly.go"))
	must(t, err)
	if want := "package unix\n\nfunc ugly() {}\n"; string(got) != want {
		t.Errorf("the file is %q, want %q", got, want)
	}

	before := fingerprint(t, dir, ".git")
	out := run(5, "--arg", "command=rm unix/syscall_linux.go && gofmt -s -w .", "--arg", "validate=go build ./...")
	if !strings.Contains(out, "validate") {
		t.Errorf("the output does not name the validation:\n%s", out)
	}
	if after := fingerprint(t, dir, ".git"); after != before {
		t.Error("a command that breaks the build changed the tree")
	}
	if after := fingerprint(t, filepath.Join(dir, ".git"), ""); after != git {
		t.Error("the user's .git changed")
	}
}

// home is one empty home directory a test, with Go's build cache of the one
// who runs it, so that the standard library is not compiled again.
func home(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	must(t, err)
	t.Setenv("GOCACHE", strings.TrimSpace(string(out)))
	return filepath.Join(t.TempDir(), "home")
}

// realModule copies a module of the cache into a git repository of its own.
func realModule(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/sys").Output()
	must(t, err)
	dir := filepath.Join(t.TempDir(), "sys")
	must(t, os.CopyFS(dir, os.DirFS(strings.TrimSpace(string(out)))))
	files := 0
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files++
			err = os.Chmod(path, 0o644) // the cache is read-only
		}
		return err
	}))
	if files < 300 {
		t.Fatalf("the module has only %d files", files)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=t", "-c", "user.email=t@t.invalid", "commit", "-qm", "start"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args[0], err, out)
		}
	}
	return dir
}

// fingerprint is the hash of every path, mode and content below dir, but of
// what is below skip.
func fingerprint(t *testing.T, dir, skip string) string {
	t.Helper()
	h := sha256.New()
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if skip != "" && d.Name() == skip {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s %s\n", rel, info.Mode())
		if !d.Type().IsRegular() {
			return nil
		}
		b, err := os.ReadFile(path)
		h.Write(b)
		return err
	}))
	return hex.EncodeToString(h.Sum(nil))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
