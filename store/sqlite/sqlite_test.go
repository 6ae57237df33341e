package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/store"
	"github.com/cleveragents/agents/store/sqlite"
	"github.com/cleveragents/agents/store/storetest"
)

func open(t testing.TB, path string, o sqlite.Options) *store.DB {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// dbPath is a store's path in a directory that only we can write.
func dbPath(t testing.TB) string { return filepath.Join(t.TempDir(), "state", "agents.db") }

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) engine.Store { return open(t, dbPath(t), sqlite.Options{}) })
}
