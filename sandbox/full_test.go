package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

// T40: a snapshot whose manifest is gone or damaged is taken anew, although
// nothing in the resource has changed.
func TestLostManifest(t *testing.T) {
	files := map[string]string{"a": "one", "dir/b": "two"}
	for name, damage := range map[string]func(path string) error{
		"lost":    os.Remove,
		"changed": func(path string) error { return os.WriteFile(path, []byte("\x00damaged"), 0o600) },
		"empty":   func(path string) error { return os.Truncate(path, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, files)
			base := w.snapshot()
			path := filepath.Join(filepath.Dir(w.trees.cfg.Dir), "blobs", base.Snapshot[:2], base.Snapshot)
			if err := damage(path); err != nil {
				t.Fatal(err)
			}
			if _, err := w.trees.Open(context.Background(), "OLD", []plan.Base{base}); err == nil {
				t.Fatal("forked from a manifest that is gone")
			}
			check(t, "after a new snapshot", files, w.fork("P", w.snapshot()))
		})
	}
}

// noRoom is a blob store on a disk that is full.
type noRoom struct{ Blobs }

func (noRoom) Mend(context.Context, []byte) (string, error) {
	return "", fault.New(fault.Unavailable, "put: %w", &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC})
}

func (n noRoom) PutAll(ctx context.Context, _ [][]byte) ([]string, error) {
	_, err := n.Mend(ctx, nil)
	return nil, err
}

func (n noRoom) GetTo(ctx context.Context, _ string, _ io.Writer) error {
	_, err := n.Mend(ctx, nil)
	return err
}

func TestFullDisk(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "one"})
	base := w.snapshot()
	box, err := w.trees.Open(context.Background(), "P", []plan.Base{base})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(box.Dir(), "a"), []byte("two"), 0o600); err != nil {
		t.Fatal(err)
	}
	changed, err := box.Changes(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(box.Dir(), "a"), []byte("three"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.write(map[string]string{"c": "new"})
	w.trees.cfg.Blobs = noRoom{w.blobs}
	target := NewTarget(TargetConfig{Blobs: noRoom{w.blobs}, Kept: filepath.Join(t.TempDir(), "kept"), Dir: t.TempDir()})
	for what, do := range map[string]func() error{
		"snapshot": func() error { _, err := w.trees.Snapshot(context.Background(), w.res); return err },
		"changes":  func() error { _, err := box.Changes(context.Background()); return err },
		"restore":  func() error { return box.Restore(context.Background(), changed.Set) },
		"apply": func() error {
			_, err := target.Apply(context.Background(), engine.Application{Plan: "P", Parts: []engine.Part{{Location: w.res.Location, Changes: changed.Set[:1]}}})
			return err
		},
		"keep": func() error {
			_, err := target.Keep(context.Background(), "P", "ours", "a", changed.Set[0].After)
			return err
		},
	} {
		err := do()
		if !fault.Is(err, fault.Exhausted) || !strings.Contains(err.Error(), "no space left") || fault.As(err).Hint == "" {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, err := range []error{errors.New("odd"), nil, fault.New(fault.Exhausted, "said: %w", syscall.ENOSPC)} {
		if got := full("d", err); got != err {
			t.Errorf("%v became %v", err, got)
		}
	}
	if got := full("d", fmt.Errorf("x: %w", syscall.EDQUOT)); !fault.Is(got, fault.Exhausted) {
		t.Errorf("a quota: %v", got)
	}
}
