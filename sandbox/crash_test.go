package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

// T41: a sandbox whose making was cut short is made again.
func TestHalfMadeSandbox(t *testing.T) {
	files := map[string]string{"a": "1", "d/b": "2"}
	tests := []struct {
		name   string
		damage func(w *world) error
	}{
		{"left aside", func(w *world) error { return os.Rename(w.path("plans", "P"), w.path("plans", "P.new")) }},
		{"no marker", func(w *world) error {
			return errors.Join(os.Remove(w.path("plans", "P", madeName)), os.Remove(w.path("plans", "P", "0", treeName, "a")))
		}},
		{"marker cut short", func(w *world) error {
			return errors.Join(os.Truncate(w.path("plans", "P", madeName), 0), os.Truncate(w.path("plans", "P", "0", treeName, "a"), 0))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, files)
			base := w.snapshot()
			w.fork("P", base)
			if err := tt.damage(w); err != nil {
				t.Fatal(err)
			}
			check(t, "made again", files, w.fork("P", base))
			if _, err := os.Lstat(w.path("plans", "P.new")); !os.IsNotExist(err) {
				t.Errorf("what was left aside is still there (%v)", err)
			}
		})
	}
}

// faulty fails the n-th call that reads or stores bytes.
type faulty struct {
	Blobs
	left int
}

var errInjected = errors.New("injected")

func (f *faulty) hit() error {
	f.left--
	if f.left == 0 {
		return errInjected
	}
	return nil
}

func (f *faulty) Put(ctx context.Context, b []byte) (string, error) {
	if err := f.hit(); err != nil {
		return "", err
	}
	return f.Blobs.Put(ctx, b)
}

func (f *faulty) PutAll(ctx context.Context, bs [][]byte) ([]string, error) {
	if err := f.hit(); err != nil {
		return nil, err
	}
	return f.Blobs.PutAll(ctx, bs)
}

func (f *faulty) PutFrom(ctx context.Context, r io.Reader) (string, int64, error) {
	if err := f.hit(); err != nil {
		return "", 0, err
	}
	return f.Blobs.PutFrom(ctx, r)
}

func (f *faulty) GetTo(ctx context.Context, hash string, w io.Writer) error {
	if err := f.hit(); err != nil {
		return err
	}
	return f.Blobs.GetTo(ctx, hash, w)
}

// T41: a snapshot that fails or dies anywhere costs neither the new bytes nor
// those of older snapshots.
func TestSnapshotCutShort(t *testing.T) {
	before := map[string]string{"same": "s", "edit": "old", "gone": "g", "big": strings.Repeat("o", putSmall+1), "dir/x": "x"}
	after := map[string]string{"same": "s", "edit": "new", "made": "m", "big": strings.Repeat("n", putSmall+1), "dir": "now a file"}
	change := func(w *world) {
		for _, name := range []string{"gone", "dir"} {
			if err := os.RemoveAll(filepath.Join(w.res.Location, name)); err != nil {
				t.Fatal(err)
			}
		}
		w.write(after)
	}
	verify := func(t *testing.T, w *world, old plan.Base) {
		check(t, "the old snapshot", before, w.fork("OLD", old))
		next := w.snapshot()
		check(t, "the new snapshot", after, w.fork("NEW", next))
		if err := w.trees.Remove(context.Background(), "OLD"); err != nil {
			t.Fatal(err)
		}
		check(t, "the old snapshot, later", before, w.fork("OLD", old))
	}
	for n := 1; ; n++ {
		w := newWorld(t, before)
		old := w.snapshot()
		change(w)
		f := &faulty{Blobs: w.blobs, left: n}
		w.trees.cfg.Blobs = f
		_, err := w.trees.Snapshot(context.Background(), w.res)
		w.trees.cfg.Blobs = w.blobs
		if err == nil {
			if n < 3 {
				t.Fatalf("only %d calls could fail", n-1)
			}
			break
		}
		if !errors.Is(err, errInjected) {
			t.Fatalf("call %d: got %v", n, err)
		}
		t.Run(fmt.Sprintf("call %d fails", n), func(t *testing.T) { verify(t, w, old) })
	}
	t.Run("dies in the middle", func(t *testing.T) {
		w := newWorld(t, before)
		old := w.snapshot()
		change(w)
		// As keep, forget and the first of the new files leave it.
		b, err := w.trees.openBase(context.Background(), "RES", true)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := b.tree()
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(b.keep(context.Background(), tree, filesOf(b.state.entries)), b.forget(), b.close(), tree.Close()); err != nil {
			t.Fatal(err)
		}
		dir := w.path("bases", "RES", treeName)
		if err := errors.Join(os.WriteFile(filepath.Join(dir, "edit"), []byte("new"), 0o600), os.Remove(filepath.Join(dir, "gone")),
			os.WriteFile(filepath.Join(dir, tempName("big")), []byte("nnn"), 0o600)); err != nil {
			t.Fatal(err)
		}
		verify(t, w, old)
		if _, err := os.Lstat(filepath.Join(dir, tempName("big"))); !os.IsNotExist(err) {
			t.Errorf("the temp file is still there (%v)", err)
		}
	})
	t.Run("first one dies", func(t *testing.T) {
		w := newWorld(t, before)
		w.snapshot()
		if err := errors.Join(os.Rename(w.path("bases", "RES", treeName), w.path("bases", "RES", newTreeName)), os.Remove(w.path("bases", "RES", stateName))); err != nil {
			t.Fatal(err)
		}
		check(t, "made again", before, w.fork("P", w.snapshot()))
	})
	t.Run("state damaged", func(t *testing.T) {
		w := newWorld(t, before)
		old := w.snapshot()
		if err := os.Truncate(w.path("bases", "RES", stateName), 100); err != nil {
			t.Fatal(err)
		}
		check(t, "the old snapshot", before, w.fork("P", old))
		change(w)
		verify(t, w, old)
	})
}

// T40: a copy in the base that is not what it was is found, reported and, by
// the next snapshot, made good.
func TestDamagedBase(t *testing.T) {
	files := map[string]string{"a": "one", "b": "two"}
	for name, damage := range map[string]func(path string) error{
		"changed":   func(path string) error { return os.WriteFile(path, []byte("eno"), 0o600) },
		"truncated": func(path string) error { return os.Truncate(path, 0) },
		"lost":      os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, files)
			base := w.snapshot()
			if err := damage(w.path("bases", "RES", treeName, "a")); err != nil {
				t.Fatal(err)
			}
			_, err := w.trees.Open(context.Background(), "P", []plan.Base{base})
			if !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), "a") {
				t.Fatalf("got %v, want Corrupt", err)
			}
			check(t, "after a new snapshot", files, w.fork("P", w.snapshot()))
		})
	}
	t.Run("touched only", func(t *testing.T) {
		w := newWorld(t, files)
		base := w.snapshot()
		at := time.Unix(1, 0)
		if err := os.Chtimes(w.path("bases", "RES", treeName, "a"), at, at); err != nil {
			t.Fatal(err)
		}
		check(t, "the sandbox", files, w.fork("P", base))
	})
}
