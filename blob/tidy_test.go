package blob

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	old, young := filepath.Join(dir, tempDir, tempPrefix+"1-1"), filepath.Join(dir, tempDir, tempPrefix+"2-1")
	for _, path := range []string{old, young} {
		if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	if err := os.Chtimes(old, now.Add(-2*time.Hour), now.Add(-2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	limit := now.Add(-time.Hour)
	if n, bytes, err := s.Leftovers(t.Context(), limit); n != 1 || bytes != 4 || err != nil {
		t.Errorf("%d leftovers, %d bytes, %v", n, bytes, err)
	}
	if n, err := s.Sweep(t.Context(), limit); n != 1 || err != nil {
		t.Errorf("swept %d, %v", n, err)
	}
	if _, err := os.Stat(young); err != nil {
		t.Errorf("a file that is being written: %v", err)
	}
	if n, _, err := s.Leftovers(t.Context(), limit); n != 0 || err != nil {
		t.Errorf("%d leftovers after the sweep, %v", n, err)
	}
}

func TestMissingDirs(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if n := s.MissingDirs(); n != 0 {
		t.Errorf("%d directories are missing from the first", n)
	}
	for _, name := range []string{"0a", "7f"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.MissingDirs(); n != 2 {
		t.Errorf("%d directories are missing, want 2", n)
	}
	if err := s.MakeDirs(); err != nil || s.MissingDirs() != 0 {
		t.Errorf("made: %v, %d are missing", err, s.MissingDirs())
	}
}
