package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/store"
	"github.com/cleveragents/agents/store/sqlite"
)

func TestCopyBesideAWriter(t *testing.T) {
	path := dbPath(t)
	s := open(t, path, sqlite.Options{})
	set := func(v string) {
		t.Helper()
		if err := s.Update(t.Context(), func(tx engine.Tx) error { return tx.PutSetting("k", v) }); err != nil {
			t.Fatal(err)
		}
	}
	set("old")
	to := filepath.Join(filepath.Dir(path), "copy.db")
	// The copy is taken while a transaction is open that has written already.
	err := s.Update(t.Context(), func(tx engine.Tx) error {
		if err := tx.PutSetting("k", "new"); err != nil {
			return err
		}
		return sqlite.Copy(t.Context(), path, to)
	})
	if err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(to); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("the copy: %v %v", fi, err)
	}
	if err := sqlite.Copy(t.Context(), path, to); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a file that is there: %v", err)
	}
	if err := sqlite.Settle(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	latest, _ := store.Latest(store.Migrations())
	if r, err := sqlite.Look(t.Context(), to, true); err != nil || r.Schema != latest || r.Latest != latest || len(r.Problems) > 0 {
		t.Errorf("look: %+v %v", r, err)
	}
	c := open(t, to, sqlite.Options{})
	err = c.View(t.Context(), func(tx engine.Tx) error {
		if got, err := tx.Setting("k"); err != nil || got != "old" {
			t.Errorf("the copy holds %q (%v), want what was committed", got, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// The copy writes its log as every store does.
	if err := c.Update(t.Context(), func(tx engine.Tx) error { return tx.PutSetting("k", "x") }); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(to + "-wal"); err != nil {
		t.Errorf("the copy is not in the mode of a store: %v", err)
	}
}

func TestLook(t *testing.T) {
	if r, err := sqlite.Look(t.Context(), filepath.Join(t.TempDir(), "none"), true); err != nil || r.Schema != 0 {
		t.Errorf("no file: %+v %v", r, err)
	}
	path := filepath.Join(t.TempDir(), "x.db")
	if err := os.WriteFile(path, []byte("this is no database, only text that is long enough to be looked at as one. "+
		"this is no database, only text that is long enough to be looked at as one."), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Look(t.Context(), path, false); !fault.Is(err, fault.Corrupt) {
		t.Errorf("garbage: %v", err)
	}
}
