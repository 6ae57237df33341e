package sqlite_test

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/store"
	"github.com/cleveragents/agents/store/sqlite"
)

// steps returns the real migrations and one more.
func steps(t *testing.T, more string) fs.FS {
	t.Helper()
	out := fstest.MapFS{fmt.Sprintf("%04d_more.sql", latest(t)+1): {Data: []byte("-- +goose Up\n" + more)}}
	names, err := fs.Glob(store.Migrations(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(store.Migrations(), name)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = &fstest.MapFile{Data: text}
	}
	return out
}

// latest is the version of the real schema.
func latest(t *testing.T) int64 {
	t.Helper()
	v, err := store.Latest(store.Migrations())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func version(t *testing.T, path string) (v int64) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if v, err = store.Version(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return v
}

// T50: an upgrade copies the old file first, keeps the records, and happens
// once however many start together.
func TestUpgrade(t *testing.T) {
	path := used(t)
	next := steps(t, "ALTER TABLE settings ADD COLUMN note TEXT;")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			s, err := sqlite.Open(t.Context(), path, sqlite.Options{Steps: next})
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			err = s.View(t.Context(), func(tx engine.Tx) error {
				es, err := tx.Events("one", 0, 0)
				if len(es) != 50 {
					t.Errorf("got %d events after the upgrade, want 50", len(es))
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got, want := version(t, path), latest(t)+1; got != want {
		t.Errorf("got schema %d, want %d", got, want)
	}
	backup := fmt.Sprintf("%s.v%d.bak", path, latest(t))
	st, err := os.Lstat(backup)
	if err != nil {
		t.Fatal(err)
	}
	if got := st.Mode().Perm(); got != 0o600 {
		t.Errorf("got mode %o of the backup, want 600", got)
	}
	// The copy is a store that the old program can open.
	old := open(t, backup, sqlite.Options{})
	if err := old.View(t.Context(), func(tx engine.Tx) error {
		es, err := tx.Events("one", 0, 0)
		if len(es) != 50 {
			t.Errorf("got %d events in the backup, want 50", len(es))
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	if _, err := sqlite.Open(t.Context(), path, sqlite.Options{}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got error %v from the old program, want Unavailable", err)
	}
}

// T50: a step that fails in its middle leaves the old schema and all records.
func TestUpgradeFails(t *testing.T) {
	path := used(t)
	bad := steps(t, "CREATE TABLE half (x TEXT);\nINSERT INTO nowhere VALUES (1);")
	for range 2 { // the second time there is a backup already
		_, err := sqlite.Open(t.Context(), path, sqlite.Options{Steps: bad})
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "nowhere") {
			t.Fatalf("got error %v, want one that names the file and the step", err)
		}
	}
	if got, want := version(t, path), latest(t); got != want {
		t.Errorf("got schema %d, want %d", got, want)
	}
	s := open(t, path, sqlite.Options{})
	if err := s.Update(t.Context(), count); err != nil {
		t.Error(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var name string
	if err := db.QueryRow("SELECT name FROM sqlite_master WHERE name = 'half'").Scan(&name); !errors.Is(err, sql.ErrNoRows) {
		t.Errorf("got table %q and error %v, want nothing of the failed step", name, err)
	}
}
