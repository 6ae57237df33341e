package durable

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/cleveragents/agents/fault"
)

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, e := range entries {
		got = append(got, e.Name())
	}
	return got
}

func TestAliveFollowsTheProcess(t *testing.T) {
	dir := t.TempDir()
	a, err := NewWorkers(dir, "A")
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewWorkers(dir, "B")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []*Workers{a, b} {
		for _, of := range []*Workers{a, b} {
			if !w.Alive(t.Context(), of.Self()) {
				t.Errorf("to %s, %s is dead", w.Self(), of.Self())
			}
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if a.Alive(t.Context(), b.Self()) {
		t.Error("a closed worker is alive")
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); len(got) > 0 {
		t.Errorf("files left: %v", got)
	}
}

func TestAKilledProcessIsDeadAtOnceAndItsFileGoes(t *testing.T) {
	dir := stateDir(t)
	workers := filepath.Join(dir, "workers")
	for _, sweep := range []bool{false, true} {
		w, err := NewWorkers(workers, "A")
		if err != nil {
			t.Fatal(err)
		}
		cmd := holder(t, dir, "p.1", 0)
		dead := names(t, workers)
		if len(dead) != 2 {
			t.Fatalf("files %v, want two", dead)
		}
		kill(cmd)
		if sweep {
			b, err := NewWorkers(workers, "B")
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
		} else {
			claimed := dead[1][:len(dead[1])-len(lockSuffix)]
			if w.Alive(t.Context(), claimed) {
				t.Errorf("%s is alive", claimed)
			}
		}
		if diff := cmp.Diff([]string{w.Self() + lockSuffix}, names(t, workers)); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Two who ask about a dead process at once must not take each other for it.
func TestAnAskerIsNotTakenForTheProcess(t *testing.T) {
	dir := t.TempDir()
	w, err := NewWorkers(dir, "A")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	asker, err := os.Create(filepath.Join(dir, "B-1"+lockSuffix))
	if err != nil {
		t.Fatal(err)
	}
	defer asker.Close()
	if err := flock(asker, unix.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	if w.Alive(t.Context(), "B-1") {
		t.Error("the other asker is taken for the process")
	}
}

func TestALockDoesNotPassToChildren(t *testing.T) {
	dir := t.TempDir()
	a, err := NewWorkers(dir, "A")
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewWorkers(dir, "B")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer kill(child)
	if err := a.lock.Close(); err != nil { // what the kernel does when a process dies
		t.Fatal(err)
	}
	if b.Alive(t.Context(), a.Self()) {
		t.Error("the child keeps its parent's lock")
	}
	_ = a.dir.Close()
}

func TestNamesFromRecordsAreNotPaths(t *testing.T) {
	dir := t.TempDir()
	w, err := NewWorkers(filepath.Join(dir, "workers"), "A")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	outside := filepath.Join(dir, "x-1.lock")
	if err := os.WriteFile(outside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, holder := range []string{"", "../x-1", "x", "a/b-1", "x-1\n", ".-1"} {
		if w.Alive(t.Context(), holder) {
			t.Errorf("%q is alive", holder)
		}
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error("a file outside was removed")
	}
	if _, err := NewWorkers(dir, "../x"); !fault.Is(err, fault.Internal) {
		t.Errorf("NewWorkers = %v, want Internal", err)
	}
}
