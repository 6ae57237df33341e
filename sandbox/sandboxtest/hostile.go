package sandboxtest

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/resource"
)

// plant puts what a walk should not touch into dir, and returns how a special
// list names it.
func plant(t *testing.T, dir string) []string {
	t.Helper()
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644))
	// The path of a socket is short, so it is made by its relative name.
	addr := filepath.Join(dir, "sock")
	if len(addr) < 100 {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: addr, Net: "unix"})
		must(t, err)
		l.SetUnlinkOnClose(false)
		must(t, l.Close())
	} else {
		must(t, syscall.Mknod(addr, syscall.S_IFSOCK|0o644, 0))
	}
	must(t, os.WriteFile(filepath.Join(dir, "new\nline"), []byte("x"), 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "bad\xff"), []byte("x"), 0o644))
	must(t, os.MkdirAll(filepath.Join(dir, "odd\xfedir", "below"), 0o755))
	special := []string{"fifo pipe", `name "bad\xff"`, `name "new\nline"`, `name "odd\xfedir"`, "socket sock"}
	if syscall.Mknod(filepath.Join(dir, "dev"), syscall.S_IFCHR|0o666, 1<<8|5) == nil { // a zero device, endless to read
		special = append([]string{"device dev"}, special...)
	}
	return special
}

// T09, T64
func trapsInLive(t *testing.T, b Backend) {
	secret := filepath.Join(t.TempDir(), "secret")
	must(t, os.WriteFile(secret, []byte("canary"), 0o600))
	r := live(t, map[string]string{"a": "1", "out": "-> " + secret, "up": "-> ..", "loop": "-> loop", strings.Repeat("n", 255): "long"})
	want := tree(t, r.Location)
	plant(t, r.Location)
	within(t, func() {
		s, _ := b.fork(t, r)
		diff(t, "the sandbox", want, tree(t, s.Dir()))
		got := b.changes(t, s)
		diff(t, "changes", map[string]string{}, brief(got.Set))
		diff(t, "special", 0, len(got.Special))
		f, err := s.Base(context.Background(), res, "pipe")
		must(t, err)
		diff(t, "a FIFO in the base", plan.FileState{Kind: plan.Other}, f)
	})
}

// T09
func trapsInSandbox(t *testing.T, b Backend) {
	r := live(t, map[string]string{"a": "1", "d/e": "2", "f": "3"})
	s, _ := b.fork(t, r)
	special := plant(t, s.Dir())
	outside := filepath.Join(t.TempDir(), "outside")
	must(t, os.MkdirAll(outside, 0o755))
	put(t, outside, map[string]string{"e": "canary"})
	must(t, os.RemoveAll(filepath.Join(s.Dir(), "d")))
	put(t, s.Dir(), map[string]string{"d": "-> " + outside, "loop": "-> loop"})
	must(t, os.Remove(filepath.Join(s.Dir(), "f")))
	must(t, syscall.Mkfifo(filepath.Join(s.Dir(), "f"), 0o644))
	must(t, os.MkdirAll(filepath.Join(s.Dir(), "shut"), 0o755))
	put(t, s.Dir(), map[string]string{"shut/x": "hidden"})
	must(t, os.Chmod(filepath.Join(s.Dir(), "shut/x"), 0))
	must(t, os.Chmod(filepath.Join(s.Dir(), "shut"), 0))
	within(t, func() {
		got := b.changes(t, s)
		diff(t, "changes", map[string]string{
			"d": "other to symlink", "d/e": "file 644 1 to absent", "loop": "absent to symlink", "f": "file 644 1 to absent",
			"shut/x": "absent to file 0 6",
		}, brief(got.Set))
		want := append([]string{}, special...)
		for i, s := range want {
			if s > "fifo f" {
				want = append(want[:i], append([]string{"fifo f"}, want[i:]...)...)
				break
			}
		}
		diff(t, "special", want, got.Special)
		must(t, s.Restore(context.Background(), nil))
	})
	diff(t, "the tree after Restore", tree(t, r.Location), tree(t, s.Dir(), "new\nline", "bad\xff", "odd\xfedir"))
	diff(t, "outside", map[string]string{"e": `file -rw-r--r-- "canary"`}, tree(t, outside))
}

// hostile is a .git whose every setting runs a program that leaves a mark.
func hostile(mark string) map[string]string {
	run := mark + " "
	config := fmt.Sprintf(`[core]
	repositoryformatversion = 1
	fsmonitor = %[1]s
	hooksPath = .git/hooks
	sshCommand = %[1]s
	pager = %[1]s
	editor = %[1]s
	askPass = %[1]s
[extensions]
	partialClone = origin
[remote "origin"]
	url = ssh://nowhere/x
	promisor = true
[filter "x"]
	clean = %[1]s
	smudge = %[1]s
	process = %[1]s
	required = true
[diff "x"]
	textconv = %[1]s
	command = %[1]s
[merge "x"]
	driver = %[1]s
[gpg]
	program = %[1]s
[log]
	showSignature = true
[commit]
	gpgSign = true
[diff]
	external = %[1]s
[credential]
	helper = !%[1]s
[alias]
	status = !%[1]s
[include]
	path = more
[uploadpack]
	packObjectsHook = %[1]s
`, run)
	out := map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".git/config": config, ".git/more": "[core]\n\tfsmonitor = " + run + "\n",
		".git/objects/": "", ".git/refs/heads/": "",
		".gitattributes": "* filter=x diff=x merge=x\n", "file.txt": "text\n",
	}
	for _, h := range []string{"pre-commit", "post-checkout", "post-index-change", "reference-transaction", "post-merge", "pre-auto-gc", "fsmonitor-watchman"} {
		out[".git/hooks/"+h] = "+x #!/bin/sh\n" + run + "\n"
	}
	return out
}

// marker makes a program that leaves a file, and returns it and what checks
// that it did not run.
func marker(t *testing.T) (program string, quiet func()) {
	t.Helper()
	dir := t.TempDir()
	program = filepath.Join(dir, "mark")
	must(t, os.WriteFile(program, []byte("#!/bin/sh\n: > "+dir+"/ran\n"), 0o755))
	return program, func() {
		t.Helper()
		if _, err := os.Lstat(filepath.Join(dir, "ran")); err == nil {
			t.Error("a program that the repository names was run")
		}
	}
}

// T12
func hostileRepository(t *testing.T, b Backend) {
	program, quiet := marker(t)
	r := live(t, hostile(program))
	r.Type = resource.GitCheckout
	git := tree(t, filepath.Join(r.Location, ".git"))
	s, _ := b.fork(t, r)
	if _, err := os.Lstat(filepath.Join(s.Dir(), ".git")); !os.IsNotExist(err) {
		t.Errorf("the repository's data is in the sandbox (%v)", err)
	}
	put(t, s.Dir(), map[string]string{"file.txt": "edited\n", "new.txt": "new\n"})
	set := b.changes(t, s).Set
	diff(t, "changes", map[string]string{"file.txt": "file 644 5 to file 644 7", "new.txt": "absent to file 644 4"}, brief(set))
	must(t, s.Restore(context.Background(), set))
	for _, c := range set {
		must(t, b.write(r.Location, c))
	}
	_, err := b.Sandboxes.Snapshot(context.Background(), r)
	must(t, err)
	quiet()
	diff(t, ".git", git, tree(t, filepath.Join(r.Location, ".git")))
}

// T13
func plantedRepository(t *testing.T, b Backend) {
	program, quiet := marker(t)
	r := live(t, map[string]string{"a": "1", "sub/b": "2"})
	s, _ := b.fork(t, r)
	put(t, s.Dir(), hostile(program))
	put(t, filepath.Join(s.Dir(), "sub"), hostile(program))
	put(t, s.Dir(), map[string]string{"file/.git": "gitdir: ../.git\n", "link/.git": "-> ../.git", "case/.GIT/config": "[core]\n"})
	for range 2 {
		got := b.changes(t, s)
		diff(t, "changes", map[string]string{
			".gitattributes": "absent to file 644 26", "file.txt": "absent to file 644 5",
			"sub/.gitattributes": "absent to file 644 26", "sub/file.txt": "absent to file 644 5",
		}, brief(got.Set))
		diff(t, "special", []string{"git .git", "git case/.GIT", "git file/.git", "git link/.git", "git sub/.git"}, got.Special)
		must(t, s.Restore(context.Background(), got.Set))
	}
	quiet()
}
