package file_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/cleveragents/agents/config"
	"github.com/cleveragents/agents/config/file"
	"github.com/cleveragents/agents/fault"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func to(text string) func([]byte) ([]byte, error) {
	return func([]byte) ([]byte, error) { return []byte(text), nil }
}

func TestUpdate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "config.toml")
	if b, err := file.Read(path); b != nil || err != nil {
		t.Fatalf("no file: %q, %v", b, err)
	}
	if err := file.Update(t.Context(), path, to("one\n")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 || read(t, path) != "one\n" {
		t.Fatalf("%v, %v", info.Mode(), err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	sorry := errors.New("sorry")
	err = file.Update(t.Context(), path, func(old []byte) ([]byte, error) {
		if string(old) != "one\n" {
			t.Errorf("edit gets %q", old)
		}
		return []byte("half"), sorry
	})
	if !errors.Is(err, sorry) || read(t, path) != "one\n" {
		t.Errorf("%v, %q", err, read(t, path))
	}
	if err := file.Update(t.Context(), path, to("two\n")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o640 || read(t, path) != "two\n" {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 2 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestUpdateKeepsALink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "dotfiles", "agents.toml"), filepath.Join(dir, "config.toml")
	write(t, real, "one\n")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	if err := file.Update(t.Context(), link, to("two\n")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() != os.ModeSymlink || read(t, real) != "two\n" {
		t.Errorf("%v, %v, %q", info.Mode(), err, read(t, real))
	}
}

// T47: of many writers at once none is lost.
func TestManyWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	var all sync.WaitGroup
	const writers = 20
	for i := range writers {
		all.Go(func() {
			err := file.Update(t.Context(), path, func(old []byte) ([]byte, error) {
				return fmt.Appendf(old, "%d\n", i), nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := strings.Count(read(t, path), "\n"); n != writers {
		t.Errorf("%d lines of %d", n, writers)
	}
}

func TestAHeldLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	ctx, cancel := context.WithCancel(t.Context())
	err := file.Update(t.Context(), path, func([]byte) ([]byte, error) {
		cancel()
		return nil, file.Update(ctx, path, to("x"))
	})
	if !fault.Is(err, fault.Busy) {
		t.Errorf("the second writer: %v", err)
	}
}

// T09: what is not a plain file is neither followed nor waited for.
func TestTraps(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Read(pipe); !fault.Is(err, fault.Invalid) {
		t.Errorf("a pipe: %v", err)
	}
	if _, err := file.Read(dir); !fault.Is(err, fault.Invalid) {
		t.Errorf("a directory: %v", err)
	}
	outside := filepath.Join(dir, "outside")
	write(t, filepath.Join(outside, "config.toml"), "[plan]\nmax-cost = 1\n")
	for name, trap := range map[string]func(agents string) error{
		"a linked directory": func(a string) error { return os.Symlink(outside, a) },
		"a linked file": func(a string) error {
			return errors.Join(os.Mkdir(a, 0o755), os.Symlink(filepath.Join(outside, "config.toml"), filepath.Join(a, "config.toml")))
		},
		"a pipe": func(a string) error {
			return errors.Join(os.Mkdir(a, 0o755), syscall.Mkfifo(filepath.Join(a, "config.toml"), 0o600))
		},
		"a directory": func(a string) error { return os.MkdirAll(filepath.Join(a, "config.toml"), 0o755) },
	} {
		root := t.TempDir()
		if err := trap(filepath.Join(root, ".agents")); err != nil {
			t.Fatal(err)
		}
		if b, _, err := file.Tree(root); b != nil || !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
}

func TestTree(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{root, filepath.Join(root, "none")} {
		if b, _, err := file.Tree(dir); b != nil || err != nil {
			t.Errorf("no file: %q, %v", b, err)
		}
	}
	write(t, filepath.Join(root, file.InTree), "[plan]\n")
	b, path, err := file.Tree(root)
	if err != nil || string(b) != "[plan]\n" || path != filepath.Join(root, ".agents", "config.toml") {
		t.Errorf("%q, %s, %v", b, path, err)
	}
	write(t, filepath.Join(root, file.InTree), strings.Repeat("#", 2*config.MaxBytes))
	b, path, err = file.Tree(root)
	if err != nil || len(b) != config.MaxBytes+1 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if _, err := config.Parse(path, b, config.Tree); !fault.Is(err, fault.Invalid) {
		t.Errorf("a large file: %v", err)
	}
	plain := t.TempDir()
	write(t, filepath.Join(plain, ".agents"), "a file")
	if b, _, err := file.Tree(plain); !bytes.Equal(b, nil) || err != nil {
		t.Errorf("a file called .agents: %q, %v", b, err)
	}
}
