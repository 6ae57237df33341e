package sandbox_test

import (
	"path/filepath"
	"testing"

	"github.com/cleveragents/agents/blob"
	"github.com/cleveragents/agents/sandbox"
	"github.com/cleveragents/agents/sandbox/sandboxtest"
)

func newBlobs(t testing.TB, dir string) *blob.Store {
	t.Helper()
	blobs, err := blob.Open(filepath.Join(dir, "blobs"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := blobs.Close(); err != nil {
			t.Error(err)
		}
	})
	return blobs
}

func TestCopy(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T) sandboxtest.Backend {
		dir := t.TempDir()
		blobs := newBlobs(t, dir)
		return sandboxtest.Backend{
			Sandboxes: sandbox.New(sandbox.Config{Dir: filepath.Join(dir, "sandboxes"), Blobs: blobs}),
			Target:    sandbox.NewTarget(sandbox.TargetConfig{Blobs: blobs, Kept: filepath.Join(dir, "kept"), Dir: filepath.Join(dir, "applies")}),
			Blobs:     blobs,
		}
	})
}
