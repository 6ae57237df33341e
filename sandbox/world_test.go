package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/blob"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/resource"
)

// world is a resource, its sandboxes and their store.
type world struct {
	t     testing.TB
	trees *Trees
	blobs *blob.Store
	res   resource.Resource
}

func newWorld(t testing.TB, files map[string]string) *world {
	t.Helper()
	dir := t.TempDir()
	blobs, err := blob.Open(filepath.Join(dir, "blobs"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := blobs.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &world{t, New(Config{Dir: filepath.Join(dir, "sandboxes"), Blobs: blobs}), blobs,
		resource.Resource{ID: "RES", Name: "local/res", Type: resource.FSDirectory, Location: filepath.Join(dir, "live")}}
	w.write(files)
	return w
}

func (w *world) write(files map[string]string) {
	w.t.Helper()
	for name, text := range files {
		path := filepath.Join(w.res.Location, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) snapshot() plan.Base {
	w.t.Helper()
	base, err := w.trees.Snapshot(context.Background(), w.res)
	if err != nil {
		w.t.Fatal(err)
	}
	return base
}

func (w *world) fork(id ident.PlanID, base plan.Base) map[string]string {
	w.t.Helper()
	s, err := w.trees.Open(context.Background(), id, []plan.Base{base})
	if err != nil {
		w.t.Fatal(err)
	}
	return texts(w.t, s.Dir())
}

func texts(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		out[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (w *world) path(parts ...string) string {
	return filepath.Join(append([]string{w.trees.cfg.Dir}, parts...)...)
}

func check(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}
