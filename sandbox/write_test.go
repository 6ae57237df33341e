package sandbox

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

// meddler edits a file while the bytes that shall replace it are being read.
type meddler struct {
	Blobs
	edit func() error
}

func (m meddler) GetTo(ctx context.Context, hash string, w io.Writer) error {
	return errors.Join(m.edit(), m.Blobs.GetTo(ctx, hash, w))
}

func (m meddler) Get(ctx context.Context, hash string) ([]byte, error) {
	b, err := m.Blobs.Get(ctx, hash)
	return b, errors.Join(m.edit(), err)
}

// T34, T35: an edit between the first look and the rename is not overwritten.
func TestEditDuringWrite(t *testing.T) {
	for _, kind := range []plan.FileKind{plan.Regular, plan.Symlink} {
		w := newWorld(t, map[string]string{"f": "old"})
		m := meddler{w.blobs, func() error {
			return os.WriteFile(filepath.Join(w.res.Location, "f"), []byte("user"), 0o644)
		}}
		next, err := w.blobs.Put(context.Background(), []byte("new"))
		if err != nil {
			t.Fatal(err)
		}
		target := NewTarget(m, t.TempDir())
		states, err := target.States(context.Background(), w.res.Location, []string{"f"})
		if err != nil {
			t.Fatal(err)
		}
		c := plan.Change{Path: "f", Before: states["f"], After: plan.FileState{Kind: kind, Hash: next}}
		if err := target.Write(context.Background(), w.res.Location, c); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: got %v, want Conflict", kind, err)
		}
		check(t, "the live tree", map[string]string{"f": "user"}, texts(t, w.res.Location))
	}
}

// T33: a temp file of a Write that was killed is cleaned up by the next one.
func TestWriteAfterKill(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "old", tempName("f"): "half"})
	target := NewTarget(w.blobs, t.TempDir())
	next, err := w.blobs.Put(context.Background(), []byte("new"))
	if err != nil {
		t.Fatal(err)
	}
	states, err := target.States(context.Background(), w.res.Location, []string{"f"})
	if err != nil {
		t.Fatal(err)
	}
	c := plan.Change{Path: "f", Before: states["f"], After: plan.FileState{Kind: plan.Regular, Mode: 0o644, Hash: next}}
	for range 2 {
		if err := target.Write(context.Background(), w.res.Location, c); err != nil {
			t.Fatal(err)
		}
		check(t, "the live tree", map[string]string{"f": "new"}, texts(t, w.res.Location))
		w.write(map[string]string{tempName("f"): "half"}) // killed after the rename of a later one
	}
}
