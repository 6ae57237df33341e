package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
)

// git runs the real program, as the person would.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimRight(string(out), "\n")
}

// repository is a repository with one commit, and the changes of small to it.
func repository(t testing.TB) *applying {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git to compare with")
	}
	before, after := small()
	a := newApplying(t, before, after)
	git(t, a.live, "init", "-q", "-b", "main")
	git(t, a.live, "config", "user.name", "Ada L")
	git(t, a.live, "config", "user.email", "ada@example.org")
	git(t, a.live, "add", "-A")
	git(t, a.live, "commit", "-qm", "first")
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.FixedZone("", 2*3600))
	a.order.Commit = &engine.Commit{Message: "mend it\n\nmore words", When: at}
	return a
}

// plainly is picture without the repository.
func plainly(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := picture(t, dir)
	for name := range out {
		if name == ".git" || strings.HasPrefix(name, ".git/") {
			delete(out, name)
		}
	}
	return out
}

// A commit is what git would have made of the same files, and git finds nothing
// to do afterwards.
func TestCommit(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T, a *applying)
		ref  string
	}{
		{"loose", nil, "refs/heads/main"},
		{"packed", func(t *testing.T, a *applying) {
			for i := range 30 { // deltas
				must(t, os.WriteFile(filepath.Join(a.live, "big"), []byte(strings.Repeat("line\n", 500+i)), 0o644))
				git(t, a.live, "add", "big")
				git(t, a.live, "commit", "-qm", fmt.Sprint(i))
			}
			git(t, a.live, "gc", "-q", "--aggressive", "--prune=now")
			git(t, a.live, "pack-refs", "--all")
		}, "refs/heads/main"},
		{"detached", func(t *testing.T, a *applying) { git(t, a.live, "checkout", "-q", "--detach") }, "HEAD"},
		{"deep branch", func(t *testing.T, a *applying) {
			git(t, a.live, "checkout", "-q", "-b", "feature/x/y")
			git(t, a.live, "pack-refs", "--all")
		}, "refs/heads/feature/x/y"},
		{"index of version 4", func(t *testing.T, a *applying) { git(t, a.live, "update-index", "--index-version", "4") }, "refs/heads/main"},
		{"index of version 3", func(t *testing.T, a *applying) {
			must(t, os.WriteFile(filepath.Join(a.live, "z"), nil, 0o644))
			git(t, a.live, "add", "z")
			git(t, a.live, "commit", "-qm", "z")
			git(t, a.live, "update-index", "--skip-worktree", "z")
		}, "refs/heads/main"},
		{"borrowed objects", func(t *testing.T, a *applying) {
			other := filepath.Join(filepath.Dir(a.live), "other")
			git(t, filepath.Dir(a.live), "clone", "-q", "--shared", a.live, other)
			git(t, other, "config", "user.name", "Ada L")
			git(t, other, "config", "user.email", "ada@example.org")
			a.live, a.order.Parts[0].Location = other, other
		}, "refs/heads/main"},
		{"linked work tree", func(t *testing.T, a *applying) {
			other := filepath.Join(filepath.Dir(a.live), "linked")
			git(t, a.live, "worktree", "add", "-q", other, "-b", "side")
			a.live, a.order.Parts[0].Location = other, other
		}, "refs/heads/side"},
		{"hostile configuration", func(t *testing.T, a *applying) {
			mark := filepath.Join(filepath.Dir(a.live), "ran")
			for _, k := range []string{"core.fsmonitor", "gpg.program", "core.sshCommand", "core.editor", "filter.x.clean", "filter.x.smudge"} {
				git(t, a.live, "config", k, "touch "+mark)
			}
			git(t, a.live, "config", "commit.gpgsign", "true")
			for _, h := range []string{"pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change", "prepare-commit-msg"} {
				p := filepath.Join(a.live, ".git", "hooks", h)
				must(t, os.MkdirAll(filepath.Dir(p), 0o755))
				must(t, os.WriteFile(p, []byte("#!/bin/sh\ntouch "+mark+"\n"), 0o755))
			}
			t.Cleanup(func() { // T12
				if _, err := os.Lstat(mark); err == nil {
					t.Error("a program of the repository ran")
				}
			})
		}, "refs/heads/main"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := repository(t)
			if tt.make != nil {
				tt.make(t, a)
			}
			before := git(t, a.live, "rev-parse", "HEAD")
			if tt.name == "hostile configuration" {
				must(t, os.RemoveAll(filepath.Join(filepath.Dir(a.live), "ran"))) // the test's own git may have
			}
			l, err := a.target.Apply(context.Background(), a.order)
			must(t, err)
			must(t, a.target.Forget(context.Background(), "P"))
			if tt.name == "hostile configuration" {
				if len(l.Notes) != 1 || !strings.Contains(l.Notes[0], "not signed") {
					t.Errorf("notes: %q", l.Notes)
				}
				return // what git itself would run now is not ours
			}
			if l.Ref != tt.ref {
				t.Errorf("ref %s, want %s", l.Ref, tt.ref)
			}
			check(t, "HEAD", l.Commit, git(t, a.live, "rev-parse", "HEAD"))
			check(t, "its parent", before, git(t, a.live, "rev-parse", "HEAD^"))
			check(t, "status", "", git(t, a.live, "status", "--porcelain"))
			check(t, "who and what", "Ada L <ada@example.org> 2026-03-04T05:06:07+02:00 mend it", git(t, a.live, "log", "-1", "--format=%an <%ae> %aI %s"))
			check(t, "fsck", "", git(t, a.live, "fsck", "--strict", "--no-progress", "--no-dangling"))
			git(t, a.live, "add", "-A")
			check(t, "what git makes of the files", git(t, a.live, "rev-parse", "HEAD^{tree}"), git(t, a.live, "write-tree"))
			if log := git(t, a.live, "reflog", "-1"); !strings.Contains(log, "commit: mend it") {
				t.Errorf("reflog: %s", log)
			}
			locks, err := exec.Command("find", a.live, "(", "-name", "*.lock", "-o", "-name", tempPrefix+"*", ")").CombinedOutput()
			must(t, err)
			check(t, "left", "", string(locks))
		})
	}
}

// A commit onto a branch without commits is its first.
func TestFirstCommit(t *testing.T) {
	a := repository(t)
	must(t, os.RemoveAll(filepath.Join(a.live, ".git")))
	git(t, a.live, "init", "-q", "-b", "main")
	git(t, a.live, "config", "user.name", "Ada L")
	git(t, a.live, "config", "user.email", "ada@example.org")
	a.order.Parts[0].Changes = changesOf(t, a.target.cfg.Blobs, nil, map[string]string{"only": "this"})
	l, err := a.target.Apply(context.Background(), a.order)
	must(t, err)
	check(t, "HEAD", l.Commit, git(t, a.live, "rev-parse", "HEAD"))
	check(t, "its files", "only", git(t, a.live, "ls-tree", "-r", "--name-only", "HEAD"))
	check(t, "fsck", "", git(t, a.live, "fsck", "--strict", "--no-progress"))
}

// A commit on a new branch leaves the files, HEAD and the index as they are,
// what is staged and not committed too.
func TestCommitOnABranch(t *testing.T) {
	for _, prefix := range []string{"", "sub"} {
		a := repository(t)
		if prefix != "" {
			git(t, a.live, "checkout", "-q", "-b", "moved")
			must(t, os.MkdirAll(filepath.Join(a.live, prefix), 0o755))
			for _, name := range []string{"a", "gone", "turn", "dir", "l"} {
				git(t, a.live, "mv", name, filepath.Join(prefix, name))
			}
			git(t, a.live, "commit", "-qm", "moved")
			a.order.Parts[0].Location = filepath.Join(a.live, prefix)
		}
		must(t, os.WriteFile(filepath.Join(a.live, "mine"), []byte("staged"), 0o644))
		git(t, a.live, "add", "mine")
		must(t, os.WriteFile(filepath.Join(a.live, "loose"), []byte("not staged"), 0o644))
		head, status, files := git(t, a.live, "rev-parse", "HEAD"), git(t, a.live, "status", "--porcelain"), plainly(t, a.live)
		index, err := os.ReadFile(filepath.Join(a.live, ".git", "index"))
		must(t, err)
		a.order.Commit.Branch = "agents/fix"
		l, err := a.target.Apply(context.Background(), a.order)
		must(t, err)
		must(t, a.target.Forget(context.Background(), "P"))
		check(t, "the branch", l.Commit, git(t, a.live, "rev-parse", "agents/fix"))
		check(t, "its parent", head, git(t, a.live, "rev-parse", "agents/fix^"))
		check(t, "HEAD", head, git(t, a.live, "rev-parse", "HEAD"))
		now, err := os.ReadFile(filepath.Join(a.live, ".git", "index"))
		must(t, err)
		check(t, "the index", string(index), string(now))
		check(t, "status", status, git(t, a.live, "status", "--porcelain"))
		check(t, "the files", files, plainly(t, a.live))
		check(t, "fsck", "", git(t, a.live, "fsck", "--strict", "--no-progress", "--no-dangling"))
		git(t, a.live, "reset", "-q", "--hard")
		git(t, a.live, "checkout", "-q", "agents/fix")
		a.live = filepath.Join(a.live, prefix)
		got := plainly(t, a.live)
		delete(got, "loose")
		check(t, "the files of the branch", a.now, got)
		if _, err := a.target.Apply(context.Background(), a.order); !fault.Is(err, fault.Exists) {
			t.Errorf("a second one: %v, want Exists", err)
		}
	}
}

// What cannot become a commit is refused before anything is written.
func TestCommitRefuses(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T, a *applying)
		kind fault.Kind
		say  string
	}{
		{"a file that was changed and not committed", func(t *testing.T, a *applying) {
			git(t, a.live, "rm", "-q", "--cached", "a")
			git(t, a.live, "commit", "-qm", "without a")
		}, fault.Conflict, "a was not committed as the plan found it"},
		{"git holds the index", func(t *testing.T, a *applying) {
			must(t, os.WriteFile(filepath.Join(a.live, ".git", "index.lock"), nil, 0o644))
		}, fault.Busy, "index.lock"},
		{"git holds the branch", func(t *testing.T, a *applying) {
			must(t, os.WriteFile(filepath.Join(a.live, ".git", "refs", "heads", "main.lock"), nil, 0o644))
		}, fault.Busy, "main.lock"},
		{"a merge", func(t *testing.T, a *applying) {
			must(t, os.WriteFile(filepath.Join(a.live, ".git", "MERGE_HEAD"), nil, 0o644))
		}, fault.Busy, "a merge is under way"},
		{"nobody", func(t *testing.T, a *applying) { git(t, a.live, "config", "--unset", "user.email") }, fault.Invalid, "who you are"},
		{"a filter", func(t *testing.T, a *applying) {
			must(t, os.WriteFile(filepath.Join(a.live, ".gitattributes"), []byte("/new/** filter=lfs\n"), 0o644))
		}, fault.Conflict, "the filter lfs changes it"},
		{"SHA-256", func(t *testing.T, a *applying) { git(t, a.live, "config", "extensions.objectformat", "sha256") }, fault.NotImplemented, "sha256"},
		{"no repository", func(t *testing.T, a *applying) { must(t, os.RemoveAll(filepath.Join(a.live, ".git"))) }, fault.Invalid, "in no git repository"},
		{"a branch that is no name", func(t *testing.T, a *applying) { a.order.Commit.Branch = "../../x" }, fault.Invalid, "not the name of a branch"},
		{"a branch below a branch", func(t *testing.T, a *applying) { a.order.Commit.Branch = "main/x" }, fault.Exists, "there is a branch main already"},
		{"a lost object", func(t *testing.T, a *applying) {
			id := git(t, a.live, "rev-parse", "HEAD^{tree}")
			must(t, os.Remove(filepath.Join(a.live, ".git", "objects", id[:2], id[2:])))
		}, fault.Unavailable, "is not in"},
		{"a damaged object", func(t *testing.T, a *applying) {
			id := git(t, a.live, "rev-parse", "HEAD^{tree}")
			p := filepath.Join(a.live, ".git", "objects", id[:2], id[2:])
			must(t, os.Chmod(p, 0o644))
			must(t, os.WriteFile(p, []byte("nonsense"), 0o644))
		}, fault.Unavailable, "repository"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := repository(t)
			tt.make(t, a)
			before := plainly(t, a.live)
			_, err := a.target.Apply(context.Background(), a.order)
			if !fault.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.say) {
				t.Errorf("got %v, want %s: %s", err, tt.kind, tt.say)
			}
			if diff := cmp.Diff(before, plainly(t, a.live)); diff != "" {
				t.Errorf("something was written:\n%s", diff)
			}
		})
	}
}

// T33, T36: a commit that fails or dies at any call ends with files, branch and
// index all old or all new.
func TestCommitFailsAnywhere(t *testing.T) {
	for _, back := range []bool{false, true} {
		tried := 0
		for n := 1; ; n += 5 {
			a := repository(t)
			old := git(t, a.live, "rev-parse", "HEAD")
			calls := 0
			a.fault = func(op, path string) error {
				if calls++; calls >= n { // as if it had died: nothing works from here on
					return os.ErrInvalid
				}
				return nil
			}
			l, err := a.target.Apply(context.Background(), a.order)
			a.fault = nil
			if err == nil {
				check(t, "HEAD", l.Commit, git(t, a.live, "rev-parse", "HEAD"))
				break
			}
			tried++
			if back {
				a.settle(true)
				check(t, fmt.Sprintf("call %d: HEAD", n), old, git(t, a.live, "rev-parse", "HEAD"))
				check(t, fmt.Sprintf("call %d: files", n), a.before, plainly(t, a.live))
			} else {
				l, err := a.target.Apply(context.Background(), a.order)
				must(t, err)
				check(t, fmt.Sprintf("call %d: HEAD", n), l.Commit, git(t, a.live, "rev-parse", "HEAD"))
				check(t, fmt.Sprintf("call %d: files", n), a.now, plainly(t, a.live))
			}
			check(t, fmt.Sprintf("call %d: status", n), "", git(t, a.live, "status", "--porcelain"))
			locks, err := filepath.Glob(filepath.Join(a.live, ".git", "*.lock"))
			must(t, err)
			if len(locks) > 0 {
				t.Errorf("call %d: left %q", n, locks)
			}
			if t.Failed() {
				return
			}
		}
		if tried < 30 {
			t.Errorf("only %d calls failed", tried)
		}
	}
}
