package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/cleveragents/agents/ident"
)

// A snapshot whose manifest is gone from the blob store is recorded anew,
// although nothing of the resource changed.
func TestSnapshotAfterItsManifestIsGone(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "1", "d/b": "2"})
	first := w.snapshot()
	for start := time.Now(); time.Since(start) < 100*time.Millisecond; { // until the stats vouch for the files
		first = w.snapshot()
	}
	gone := filepath.Join(filepath.Dir(w.trees.cfg.Dir), "blobs", first.Snapshot[:2], first.Snapshot)
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	again := w.snapshot()
	if again.Snapshot != first.Snapshot {
		t.Errorf("snapshot %s, want %s", again.Snapshot, first.Snapshot)
	}
	check(t, "fork", map[string]string{"a": "1", "d/b": "2"}, w.fork("P", again))
}

func TestSweepOfPlansAndBases(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "12345"})
	base := w.snapshot()
	w.fork("P", base)
	if err := os.Mkdir(w.path("plans", "Q.new"), 0o700); err != nil {
		t.Fatal(err)
	}
	plans, err := w.trees.Plans()
	slices.Sort(plans)
	if err != nil || !slices.Equal(plans, []ident.PlanID{"P", "Q"}) {
		t.Errorf("plans %v %v", plans, err)
	}
	bases, err := w.trees.Bases()
	if err != nil || !slices.Equal(bases, []ident.ResourceID{base.Resource}) {
		t.Errorf("bases %v %v", bases, err)
	}
	if n, at, err := w.trees.PlanSize(t.Context(), "P"); err != nil || n < 5 || at.IsZero() {
		t.Errorf("size %d of %v (%v)", n, at, err)
	}
	fi, err := os.Stat(w.path("bases", string(base.Resource)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		since time.Time
		dry   bool
		gone  bool
		freed bool
	}{
		{"young", fi.ModTime(), false, false, false},
		{"dry", fi.ModTime().Add(time.Hour), true, false, true},
		{"old", fi.ModTime().Add(time.Hour), false, true, true},
	} {
		n, err := w.trees.RemoveBase(t.Context(), base.Resource, c.since, c.dry)
		_, serr := os.Stat(w.path("bases", string(base.Resource), treeName))
		if err != nil || (n > 0) != c.freed || os.IsNotExist(serr) != c.gone {
			t.Errorf("%s: freed %d, %v, tree %v", c.name, n, err, serr)
		}
	}
	check(t, "made again", map[string]string{"a": "12345"}, w.fork("R", w.snapshot()))
	if _, err := New(Config{Dir: filepath.Join(t.TempDir(), "none")}).Plans(); err != nil {
		t.Errorf("no directory: %v", err)
	}
}
