package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/resource"
)

// benchTree is a tree of about 2,000 files in 100 directories, or the one that
// AGENTS_BENCH_TREE names.
func benchTree(b *testing.B) *world {
	b.Helper()
	w := newWorld(b, nil)
	if dir := os.Getenv("AGENTS_BENCH_TREE"); dir != "" {
		w.res = resource.Resource{ID: "RES", Name: "local/res", Type: resource.FSDirectory, Location: dir}
		return w
	}
	text := make([]byte, 24<<10)
	for i := range 2000 {
		for j := range text {
			text[j] = byte('a' + (i*31+j*j)%26)
		}
		dir := filepath.Join(w.res.Location, string(rune('a'+i%10)), string(rune('a'+i/10%10)))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, string(rune('A'+i/100))+".txt"), text[:(i*13)%len(text)], 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return w
}

func statAll(b *testing.B, dir string) {
	b.Helper()
	err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil {
			_, err = d.Info()
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkTrees compares each operation with what a plain tool would take:
// a plain copy for copying, a walk with a stat of everything for looking.
func BenchmarkTrees(b *testing.B) {
	w := benchTree(b)
	dir := w.res.Location
	b.Run("anchor plain copy", func(b *testing.B) {
		for b.Loop() {
			to := filepath.Join(b.TempDir(), "copy")
			if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			if err := os.RemoveAll(to); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	})
	b.Run("anchor walk and stat", func(b *testing.B) {
		for b.Loop() {
			statAll(b, dir)
		}
	})
	b.Run("first snapshot", func(b *testing.B) {
		for b.Loop() {
			w.snapshot()
			b.StopTimer()
			if err := os.RemoveAll(w.path("bases")); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	})
	base := w.snapshot()
	base = w.snapshot()
	b.Run("unchanged snapshot", func(b *testing.B) {
		for b.Loop() {
			base = w.snapshot()
		}
	})
	b.Run("fork", func(b *testing.B) {
		for b.Loop() {
			if _, err := w.trees.Open(context.Background(), "P", []plan.Base{base}); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			if err := w.trees.Remove(context.Background(), "P"); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	})
	s, err := w.trees.Open(context.Background(), "P", []plan.Base{base})
	if err != nil {
		b.Fatal(err)
	}
	look := func(b *testing.B) {
		if c, err := s.Changes(context.Background()); err != nil || len(c.Set) != 0 {
			b.Fatal(len(c.Set), err)
		}
	}
	b.Run("no changes", func(b *testing.B) {
		for b.Loop() {
			look(b)
		}
	})
	b.Run("no changes, opened anew", func(b *testing.B) {
		for b.Loop() {
			if s, err = w.trees.Open(context.Background(), "P", []plan.Base{base}); err != nil {
				b.Fatal(err)
			}
			look(b)
		}
	})
}
