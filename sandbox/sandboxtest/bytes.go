package sandboxtest

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/resource"
)

// T37
func exactBytes(t *testing.T, b Backend) {
	r := live(t, map[string]string{
		"crlf.txt": "a\r\nb\r\n", "bom.txt": "\ufeffx\n", "open.txt": "no end of line", "nul.bin": "a\x00b\xff\xfe",
		"empty": "", "run.sh": "+x #!/bin/sh\n", "deep/er/file": "x", "hollow/": "", "a link": "-> deep/er", "out": "-> /etc/passwd",
		"loop": "-> loop", "odd -> name": "\t", "big": string(make([]byte, 700<<10)) + "end",
	})
	must(t, os.Chmod(filepath.Join(r.Location, "open.txt"), 0o440))
	must(t, os.Chmod(filepath.Join(r.Location, "deep"), 0o750))
	mtime := time.Unix(1_600_000_000, 123)
	must(t, os.Chtimes(filepath.Join(r.Location, "crlf.txt"), mtime, mtime))
	s, _ := b.fork(t, r)
	diff(t, "the sandbox", tree(t, r.Location), tree(t, s.Dir()))
	fi, err := os.Stat(filepath.Join(s.Dir(), "crlf.txt"))
	must(t, err)
	if !fi.ModTime().Equal(mtime) {
		t.Errorf("time of a file: got %v, want %v", fi.ModTime(), mtime)
	}

	// T08: bits that raise privileges do not come along.
	must(t, os.Chmod(filepath.Join(r.Location, "run.sh"), 0o755|os.ModeSetuid|os.ModeSetgid))
	must(t, b.Sandboxes.Remove(context.Background(), planID))
	s, _ = b.fork(t, r)
	fi, err = os.Stat(filepath.Join(s.Dir(), "run.sh"))
	must(t, err)
	if fi.Mode() != 0o755 {
		t.Errorf("mode of a setuid file: got %v, want 0755", fi.Mode())
	}
}

// T14
func gitStates(t *testing.T, b Backend) {
	dirty := map[string]string{"tracked.go": "package x // edited\n", "untracked.go": "package x\n", ".gitignore": "*.log\n", "a.log": "ignored\n"}
	repo := func(extra map[string]string) map[string]string {
		out := map[string]string{
			".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n", ".git/index": "DIRC",
			".git/refs/heads/main": "1111111111111111111111111111111111111111\n",
		}
		for k, v := range dirty {
			out[k] = v
		}
		for k, v := range extra {
			out[k] = v
		}
		return out
	}
	tests := map[string]map[string]string{
		"no git":          dirty,
		"dirty":           repo(nil),
		"detached":        repo(map[string]string{".git/HEAD": "1111111111111111111111111111111111111111\n"}),
		"no commits":      repo(map[string]string{".git/refs/heads/main": ""}),
		"mid-rebase":      repo(map[string]string{".git/rebase-merge/onto": "x\n"}),
		"index locked":    repo(map[string]string{".git/index.lock": ""}),
		"shallow":         repo(map[string]string{".git/shallow": "1111\n"}),
		"linked worktree": {".git": "gitdir: /nowhere/.git/worktrees/x\n", "tracked.go": "package x // edited\n", "untracked.go": "package x\n", ".gitignore": "*.log\n", "a.log": "ignored\n"},
		"submodule":       repo(map[string]string{"sub/.git": "gitdir: ../.git/modules/sub\n", "sub/.gitignore": "x\n"}),
	}
	for name, files := range tests {
		t.Run(name, func(t *testing.T) {
			r := live(t, files)
			r.Type = resource.GitCheckout
			before := tree(t, r.Location)
			must(t, b.Sandboxes.Remove(context.Background(), planID))
			s, _ := b.fork(t, r)
			diff(t, "the sandbox", tree(t, r.Location, ".git"), tree(t, s.Dir()))
			put(t, s.Dir(), map[string]string{"new.go": "package x\n"})
			diff(t, "changes", map[string]string{"new.go": "absent to file 644 10"}, brief(b.changes(t, s).Set))
			diff(t, "the live tree", before, tree(t, r.Location))
		})
	}
}

func ownInodes(t *testing.T, b Backend) {
	r := live(t, map[string]string{"a": "1", "d/b": "2"})
	must(t, os.Link(filepath.Join(r.Location, "a"), filepath.Join(r.Location, "hard")))
	s, _ := b.fork(t, r)
	for _, name := range []string{"a", "hard", "d/b"} {
		l, err := os.Lstat(filepath.Join(r.Location, name))
		must(t, err)
		f, err := os.Lstat(filepath.Join(s.Dir(), name))
		must(t, err)
		if os.SameFile(l, f) {
			t.Errorf("%s is one inode in the sandbox and outside", name)
		}
		if n := f.Sys().(*syscall.Stat_t).Nlink; n != 1 {
			t.Errorf("%s has %d links, want 1", name, n)
		}
	}
	// Writing through the sandbox's file reaches nothing else.
	must(t, os.WriteFile(filepath.Join(s.Dir(), "a"), []byte("overwritten"), 0o644))
	must(t, b.Sandboxes.Remove(context.Background(), planID))
	again, _ := b.fork(t, r)
	diff(t, "a new sandbox", tree(t, r.Location), tree(t, again.Dir()))
}

func liveEdits(t *testing.T, b Backend) {
	r := live(t, map[string]string{"a": "one\n", "b": "two\n", "c/d": "three\n"})
	s, bases := b.fork(t, r)
	before := tree(t, s.Dir())
	put(t, r.Location, map[string]string{"a": "edited\n", "new": "x"})
	must(t, os.RemoveAll(filepath.Join(r.Location, "c")))
	diff(t, "the sandbox", before, tree(t, s.Dir()))
	diff(t, "changes", map[string]string{}, brief(b.changes(t, s).Set))
	f, err := s.Base(context.Background(), res, "a")
	must(t, err)
	diff(t, "size in the base", int64(4), f.Size)
	baseFile(t, s, "a", "one\n")

	// A new snapshot sees the edits; the old one still can be forked.
	next, err := b.Sandboxes.Snapshot(context.Background(), r)
	must(t, err)
	if next.Snapshot == bases[0].Snapshot {
		t.Fatal("an edit did not change the snapshot")
	}
	baseFile(t, s, "a", "one\n") // its bytes went from the base into the store
	if _, err := s.BaseFile(context.Background(), res, "a", 3); !fault.Is(err, fault.Exhausted) {
		t.Errorf("a file over the limit: got %v, want Exhausted", err)
	}
	for _, name := range []string{"c", "none"} {
		if _, err := s.BaseFile(context.Background(), res, name, 100); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: got %v, want NotFound", name, err)
		}
	}
	other, err := b.Sandboxes.Open(context.Background(), "OTHERPLAN", []plan.Base{next})
	must(t, err)
	diff(t, "the new sandbox", tree(t, r.Location), tree(t, other.Dir()))
}

// oldSnapshots forks every snapshot of a history after its end.
func oldSnapshots(t *testing.T, b Backend) {
	r := live(t, map[string]string{"keep": "k", "a": "0", "dir/x": "x"})
	steps := []func(){
		func() {},
		func() { put(t, r.Location, map[string]string{"a": "1"}) },
		func() { must(t, os.RemoveAll(filepath.Join(r.Location, "dir"))) },
		func() { put(t, r.Location, map[string]string{"dir": "now a file"}) },
		func() { put(t, r.Location, map[string]string{"a": "-> keep"}) },
		func() { must(t, os.Chmod(filepath.Join(r.Location, "keep"), 0o600)) },
		func() { must(t, os.Remove(filepath.Join(r.Location, "dir"))) },
		func() { put(t, r.Location, map[string]string{"dir/y/z": "deep", "a": "0"}) },
	}
	var bases []plan.Base
	var wants []map[string]string
	for _, step := range steps {
		step()
		base, err := b.Sandboxes.Snapshot(context.Background(), r)
		must(t, err)
		bases, wants = append(bases, base), append(wants, tree(t, r.Location))
	}
	must(t, os.RemoveAll(r.Location))
	for i, base := range bases {
		must(t, b.Sandboxes.Remove(context.Background(), planID))
		s, err := b.Sandboxes.Open(context.Background(), planID, []plan.Base{base})
		must(t, err)
		diff(t, "snapshot "+string(rune('0'+i)), wants[i], tree(t, s.Dir()))
	}
}

func baseFile(t *testing.T, s engine.Sandbox, name, want string) {
	t.Helper()
	got, err := s.BaseFile(context.Background(), res, name, len(want))
	must(t, err)
	diff(t, "bytes in the base", want, string(got))
}

func severalResources(t *testing.T, b Backend) {
	one := live(t, map[string]string{"same": "1"})
	two := live(t, map[string]string{"same": "2"})
	two.ID = otherRes
	s, _ := b.fork(t, one, two)
	diff(t, "the first tree", tree(t, one.Location), tree(t, s.Dir()))
	for id, want := range map[ident.ResourceID]string{res: "1", otherRes: "2"} {
		f, err := s.Base(context.Background(), id, "same")
		must(t, err)
		got, err := b.Blobs.Put(context.Background(), []byte(want))
		must(t, err)
		diff(t, "hash in the base", got, f.Hash)
	}
	put(t, s.Dir(), map[string]string{"same": "edited"})
	set := b.changes(t, s).Set
	diff(t, "changes", map[string]string{"same": "file 644 1 to file 644 6"}, brief(set))
	diff(t, "whose change", res, set[0].Resource)
	if _, err := s.Base(context.Background(), "NORESOURCE", "same"); !fault.Is(err, fault.NotFound) {
		t.Errorf("a resource that is not there: got %v, want NotFound", err)
	}
}

func reopen(t *testing.T, b Backend) {
	r := live(t, map[string]string{"a": "1"})
	s, bases := b.fork(t, r)
	put(t, s.Dir(), map[string]string{"a": "edited"})
	again, err := b.Sandboxes.Open(context.Background(), planID, bases)
	must(t, err)
	diff(t, "changes", map[string]string{"a": "file 644 1 to file 644 6"}, brief(b.changes(t, again).Set))
	bases[0].Snapshot = ""
	if _, err := b.Sandboxes.Open(context.Background(), planID, bases); !fault.Is(err, fault.Conflict) {
		t.Errorf("other snapshots: got %v, want Conflict", err)
	}
	if _, err := b.Sandboxes.Open(context.Background(), "../../x", bases); !fault.Is(err, fault.Invalid) {
		t.Errorf("a path as id: got %v, want Invalid", err)
	}
}

func remove(t *testing.T, b Backend) {
	must(t, b.Sandboxes.Remove(context.Background(), planID))
	s, _ := b.fork(t, live(t, map[string]string{"a": "1", "d/e": "2"}))
	must(t, os.Chmod(filepath.Join(s.Dir(), "d"), 0))
	must(t, b.Sandboxes.Remove(context.Background(), planID))
	if _, err := os.Lstat(s.Dir()); !os.IsNotExist(err) {
		t.Errorf("after Remove: %v, want nothing there", err)
	}
}

func refusedLocations(t *testing.T, b Backend) {
	file := live(t, map[string]string{"f": "x"})
	file.Location = filepath.Join(file.Location, "f")
	gone := live(t, nil)
	gone.Location = filepath.Join(gone.Location, "gone")
	bare := live(t, map[string]string{"HEAD": "ref: refs/heads/main\n", "objects/": "", "refs/": ""})
	bare.Type = resource.GitCheckout
	relative := live(t, nil)
	relative.Location = "."
	for name, tt := range map[string]struct {
		r    resource.Resource
		want fault.Kind
	}{
		"a file": {file, fault.Invalid}, "not there": {gone, fault.NotFound},
		"bare repository": {bare, fault.Invalid}, "relative": {relative, fault.Invalid},
	} {
		if _, err := b.Sandboxes.Snapshot(context.Background(), tt.r); !fault.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", name, err, tt.want)
		}
	}
}
