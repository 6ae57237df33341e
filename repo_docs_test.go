package agents_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// testMark stands on the line before a code block that has to work.
const testMark = "<!-- test -->"

// block is one marked sh block of a document.
type block struct {
	line int // of its first line of code
	code string
}

// blocks returns the marked sh blocks of Markdown text. A mark without an sh
// block right below it, and a block without an end, are errors: they would not
// run and nobody would know.
func blocks(text string) ([]block, error) {
	var out []block
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		if strings.TrimSpace(lines[i]) != testMark {
			continue
		}
		if i+1 >= len(lines) || lines[i+1] != "```sh" {
			return nil, fmt.Errorf("line %d: no sh block below %s", i+1, testMark)
		}
		b := block{line: i + 3}
		for i += 2; ; i++ {
			if i >= len(lines) {
				return nil, fmt.Errorf("line %d: the block has no end", b.line)
			}
			if lines[i] == "```" {
				break
			}
			b.code += strings.TrimPrefix(lines[i], "$ ") + "\n"
		}
		out = append(out, b)
	}
	return out, nil
}

// TestDocsRun runs the marked blocks of each document, in order, as one script
// with the built program in PATH and a HOME with nothing in it.
func TestDocsRun(t *testing.T) {
	var bin string
	for _, f := range tree(t) {
		if filepath.Ext(f.path) != ".md" {
			continue
		}
		bs, err := blocks(string(f.text))
		if err != nil {
			t.Errorf("%s: %v", f.path, err)
		}
		if len(bs) == 0 {
			continue
		}
		if bin == "" {
			bin = build(t)
		}
		t.Run(f.path, func(t *testing.T) {
			script := "set -eu\n"
			for _, b := range bs {
				script += fmt.Sprintf("echo '== line %d' >&2\n%s", b.line, b.code)
			}
			if out, err := shell(t, bin, script); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// build compiles the program once.
func build(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if out, err := exec.Command("go", "build", "-o", dir, "./cmd/agents").CombinedOutput(); err != nil {
		t.Fatalf("go build ./cmd/agents: %v\n%s", err, out)
	}
	return dir
}

// shell runs a script with nothing of our environment but PATH.
func shell(t *testing.T, bin, script string) ([]byte, error) {
	t.Helper()
	home := t.TempDir()
	repo, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Dir = home
	cmd.WaitDelay = 5 * time.Second
	cmd.Env = []string{
		"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + home, "TMPDIR=" + home, "LANG=C.UTF-8", "REPO=" + repo,
	}
	return cmd.CombinedOutput()
}

func TestBlocks(t *testing.T) {
	const fence = "```"
	text := "a\n" + testMark + "\n" + fence + "sh\n$ agents version\necho done\n" + fence + "\n" +
		fence + "sh\nnot marked\n" + fence + "\n  " + testMark + "\n" + fence + "sh\nlast\n" + fence + "\n"
	got, err := blocks(text)
	want := []block{{4, "agents version\necho done\n"}, {12, "last\n"}}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(block{})); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	for bad, want := range map[string]string{
		testMark + "\n\n" + fence + "sh\nx\n" + fence + "\n": "line 1: no sh block",
		testMark: "line 1: no sh block",
		testMark + "\n" + fence + "go\nx\n" + fence + "\n": "line 1: no sh block",
		testMark + "\n" + fence + "sh\nx\n":                "line 3: the block has no end",
	} {
		if _, err := blocks(bad); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", bad, err, want)
		}
	}
}

func TestDocsShell(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "agents"), []byte("#!/bin/sh\necho ours\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AGENTS_TOKEN", "secret")
	out, err := shell(t, bin, `set -eu
test "$(agents)" = ours
test -z "$(ls -A "$HOME")"
test -z "${AGENTS_TOKEN-}"
echo good`)
	if err != nil || string(out) != "good\n" {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := shell(t, bin, "set -eu\nfalse\ntrue\n"); err == nil {
		t.Error("a block that fails is taken for one that works")
	}
}
