package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

// The stat cache: nothing is read again that did not change.
func TestUnchangedIsNotRead(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "one", "b": "two"})
	old := time.Unix(1_700_000_000, 5)
	first := w.snapshot()
	// Make the cache believe it was taken later, when no file is young.
	dir, err := os.OpenRoot(w.path("bases", "RES"))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	age := func() {
		s, err := loadState(dir)
		if err != nil || s == nil {
			t.Fatal(s, err)
		}
		s.read += int64(time.Hour)
		if err := s.save(dir); err != nil {
			t.Fatal(err)
		}
	}
	age()
	before, err := dir.Lstat(stateName)
	if err != nil {
		t.Fatal(err)
	}
	w.trees.cfg.Blobs = &faulty{Blobs: w.blobs, left: 1} // any use of it fails
	if got := w.snapshot(); got != first {
		t.Errorf("got %v, want %v", got, first)
	}
	w.trees.cfg.Blobs = w.blobs
	after, err := dir.Lstat(stateName)
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("the state was written again (%v)", err)
	}
	// Touching changes no content, so the snapshot stays.
	if err := os.Chtimes(filepath.Join(w.res.Location, "a"), old, old); err != nil {
		t.Fatal(err)
	}
	if got := w.snapshot(); got != first {
		t.Errorf("after touch: got %v, want %v", got, first)
	}
}

func TestRacy(t *testing.T) {
	const second = int64(1e9)
	at := 1000*second + 12345
	for _, tt := range []struct {
		name string
		s    stamp
		read int64
		want bool
	}{
		{"long ago", stamp{mtime: at, ctime: at}, at + second, false},
		{"same tick", stamp{mtime: at, ctime: at}, at + second/1000, true},
		{"mtime set back", stamp{mtime: 5, ctime: at}, at + second/1000, true},
		{"in the future", stamp{mtime: at + 100*second, ctime: at}, at + second, true},
		{"coarse clock", stamp{mtime: 1000 * second, ctime: 1000 * second}, 1001 * second, true},
		{"coarse clock, long ago", stamp{mtime: 1000 * second, ctime: 1000 * second}, 1003 * second, false},
	} {
		if got := tt.s.racy(tt.read); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestNestedLocations(t *testing.T) {
	for name, place := range map[string]func(w *world) string{
		"state inside the resource": func(w *world) string { return filepath.Join(w.res.Location, "state", "deep") },
		"the same":                  func(w *world) string { return w.res.Location },
		"through a link": func(w *world) string {
			link := filepath.Join(filepath.Dir(w.res.Location), "link")
			if err := os.Symlink(filepath.Join(w.res.Location, "d"), link); err != nil {
				t.Fatal(err)
			}
			return filepath.Join(link, "not", "there", "yet")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"d/a": "1"})
			w.trees.cfg.Dir = place(w)
			if _, err := w.trees.Snapshot(context.Background(), w.res); !fault.Is(err, fault.Invalid) {
				t.Errorf("got %v, want Invalid", err)
			}
			check(t, "the resource", map[string]string{"d/a": "1"}, texts(t, w.res.Location))
		})
	}
	t.Run("resource inside the state", func(t *testing.T) {
		w := newWorld(t, map[string]string{"a": "1"})
		w.trees.cfg.Dir = filepath.Dir(w.res.Location)
		if _, err := w.trees.Snapshot(context.Background(), w.res); !fault.Is(err, fault.Invalid) {
			t.Errorf("got %v, want Invalid", err)
		}
	})
}

// T06, T64
func TestBounds(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "1", "b": "2", "c": "3"})
	w.trees.cfg.MaxFiles = 2
	if _, err := w.trees.Snapshot(context.Background(), w.res); !fault.Is(err, fault.Exhausted) {
		t.Errorf("too many files: got %v, want Exhausted", err)
	}
	w.trees.cfg.MaxFiles = 1000
	deep := filepath.Join(w.res.Location, strings.Repeat("d/", maxDepth+5))
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	es, err := w.trees.manifest(context.Background(), w.snapshot().Snapshot)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(es, func(e entry) bool { return e.kind == isSpecial && e.what == "deep" }) {
		t.Error("a tree of any depth is entered")
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := w.trees.Snapshot(ctx, w.res); !fault.Is(err, fault.Cancelled) {
		t.Errorf("cancelled: got %v, want Cancelled", err)
	}
}

func TestSeveralAtOnce(t *testing.T) {
	files := map[string]string{}
	for i := range 60 {
		files[fmt.Sprintf("d%d/f%d", i%7, i)] = strings.Repeat("x", i)
	}
	w := newWorld(t, files)
	base := w.snapshot()
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			// Its own Trees, as another process would have.
			trees := New(w.trees.cfg)
			id := ident.PlanID(fmt.Sprintf("P%d", i))
			s, err := trees.Open(context.Background(), id, []plan.Base{base})
			if err != nil {
				t.Error(err)
				return
			}
			check(t, "a sandbox", files, texts(t, s.Dir()))
			if _, err := trees.Snapshot(context.Background(), w.res); err != nil {
				t.Error(err)
			}
		})
	}
	// The resource changes all the while; the base of the plans does not.
	for i := range 20 {
		w.write(map[string]string{"d0/f0": fmt.Sprint(i), fmt.Sprintf("new%d", i): "n"})
		if _, err := w.trees.Snapshot(context.Background(), w.res); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
}

// A cache that is wrong about a file is believed exactly when the file's times
// are older than the cache by more than a tick of the clock: kernels differ in
// how fine their clocks are, so the test writes the cache itself.
func TestCacheIsBelievedOnlyWhenOld(t *testing.T) {
	for _, tt := range []struct {
		name    string
		later   time.Duration // the cache's time after the file's
		believe bool
	}{{"same tick", time.Millisecond, false}, {"long after", time.Hour, true}} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"a": "one", "b": "two"})
			base := w.snapshot()
			w.fork("P", base)
			for _, place := range [][]string{{"plans", "P", "0"}, {"bases", "RES"}} {
				dir, err := os.OpenRoot(w.path(place...))
				if err != nil {
					t.Fatal(err)
				}
				defer dir.Close()
				s, err := loadState(dir)
				if err != nil || s == nil {
					t.Fatal(s, err)
				}
				for i := range s.entries {
					if e := &s.entries[i]; e.path == "a" {
						e.hash = sum([]byte("wrong"))
						s.read = e.seen.ctime + int64(tt.later)
					}
				}
				if err := s.save(dir); err != nil {
					t.Fatal(err)
				}
			}
			s, err := w.trees.Open(context.Background(), "P", []plan.Base{base})
			if err != nil {
				t.Fatal(err)
			}
			c, err := s.Changes(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if got := len(c.Set) == 1; got != tt.believe {
				t.Errorf("Changes believes it: got %v, want %v", got, tt.believe)
			}
			w.write(map[string]string{"c": "three"}) // so that a manifest is written
			es, err := w.trees.manifest(context.Background(), w.snapshot().Snapshot)
			if err != nil {
				t.Fatal(err)
			}
			if got := indexOf(es)["a"].hash == sum([]byte("wrong")); got != tt.believe {
				t.Errorf("Snapshot believes it: got %v, want %v", got, tt.believe)
			}
		})
	}
}
