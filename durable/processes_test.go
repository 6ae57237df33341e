package durable

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cleveragents/agents/fault"
)

func TestProcesses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "workers")
	if alive, stale, err := Processes(dir, true); alive != 0 || stale != 0 || err != nil {
		t.Fatalf("no directory: %d %d %v", alive, stale, err)
	}
	if _, err := os.Lstat(dir); err == nil {
		t.Error("looking made the directory")
	}
	w, err := NewWorkers(dir, "W1")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, name := range []string{"W2-77.lock", "W3-78.new", "note.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		remove bool
		stale  int
	}{{false, 2}, {false, 2}, {true, 2}, {true, 0}} {
		if alive, stale, err := Processes(dir, c.remove); alive != 1 || stale != c.stale || err != nil {
			t.Errorf("%d alive and %d stale (%v), want 1 and %d", alive, stale, err, c.stale)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "note.txt")); err != nil {
		t.Errorf("a file that is no lock: %v", err)
	}
	if _, _, err := Processes(filepath.Join(dir, "note.txt"), false); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a file for a directory: %v", err)
	}
}
