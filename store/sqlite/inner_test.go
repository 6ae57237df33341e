package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/store"
)

func testFile(t *testing.T) file {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state", "agents.db")
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Update(t.Context(), func(tx engine.Tx) error { return tx.PutSetting("k", "v") }); err != nil {
		t.Fatal(err)
	}
	s.Close()
	return file{path: path, o: Options{Busy: store.DefaultBusy, Readers: 1}}
}

func exec(t *testing.T, db *sql.DB, texts ...string) (err error) {
	t.Helper()
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	for _, text := range texts {
		if err != nil {
			t.Fatalf("before %s: %v", text, err)
		}
		_, err = db.ExecContext(t.Context(), text)
	}
	return err
}

// The settings on which what Update promises rests.
func TestSettings(t *testing.T) {
	f := testFile(t)
	w := f.writer()
	defer w.Close()
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2" /* FULL */, "foreign_keys": "1", "busy_timeout": "10000",
	} {
		var got string
		if err := w.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s: got %s and error %v, want %s", pragma, got, err, want)
		}
	}
}

// A relaxed update leaves syncing to the next strict one, which must not be
// relaxed in its turn; not even after one that failed, or on a connection that
// the pool has made anew.
func TestRelaxed(t *testing.T) {
	f := testFile(t)
	w := f.writer()
	s := store.New(store.Config{Write: w, Read: f.reader(), Dialect: dialect(), Where: f.path})
	defer s.Close()
	ok := func(tx engine.Tx) error { return tx.PutSetting("k", "v") }
	no := func(tx engine.Tx) error { return errors.New("no") }
	gone := func(tx engine.Tx) error {
		w.SetMaxIdleConns(0) // what is given back is closed
		return ok(tx)
	}
	back := func(tx engine.Tx) error {
		w.SetMaxIdleConns(1)
		return ok(tx)
	}
	for i, c := range []struct {
		update func(context.Context, func(engine.Tx) error) error
		f      func(engine.Tx) error
		want   string // NORMAL is 1, FULL is 2; a new connection is FULL
	}{
		{s.Update, ok, "2"}, {s.UpdateRelaxed, ok, "1"}, {s.UpdateRelaxed, ok, "1"}, {s.Update, ok, "2"},
		{s.UpdateRelaxed, no, "1"}, {s.Update, no, "2"}, {s.UpdateRelaxed, gone, "2"}, {s.Update, back, "2"},
		{s.UpdateRelaxed, ok, "1"}, {s.Update, ok, "2"},
	} {
		_ = c.update(t.Context(), c.f) // the outcome is in the setting
		var got string
		if err := w.QueryRowContext(t.Context(), "PRAGMA synchronous").Scan(&got); err != nil || got != c.want {
			t.Errorf("after update %d: got synchronous %s and error %v, want %s", i, got, err, c.want)
		}
	}
}

func TestKind(t *testing.T) {
	for _, c := range []struct {
		name string
		err  func(t *testing.T, f file) error
		want fault.Kind
	}{
		{"reader that writes", func(t *testing.T, f file) error {
			return exec(t, f.reader(), "DELETE FROM settings")
		}, fault.Unavailable},
		{"full", func(t *testing.T, f file) error {
			return exec(t, f.writer(), "PRAGMA max_page_count = 1", "INSERT INTO settings (key, value) VALUES ('big', zeroblob(1000000))")
		}, fault.Exhausted},
		{"unique", func(t *testing.T, f file) error {
			return exec(t, f.writer(), "CREATE TABLE u (a TEXT UNIQUE)", "INSERT INTO u VALUES ('x')", "INSERT INTO u VALUES ('x')")
		}, fault.Exists},
		{"primary key", func(t *testing.T, f file) error {
			return exec(t, f.writer(), "INSERT INTO settings (key, value) VALUES ('k', 'v')")
		}, fault.Exists},
		{"reference", func(t *testing.T, f file) error {
			return exec(t, f.writer(), "INSERT INTO claims (plan_id, holder, at) VALUES ('none', '', '')")
		}, fault.NotFound},
		{"null", func(t *testing.T, f file) error {
			return exec(t, f.writer(), "INSERT INTO settings (key, value) VALUES ('x', NULL)")
		}, fault.Invalid},
		{"gone", func(t *testing.T, f file) error {
			f.path += ".none"
			return exec(t, f.writer(), "SELECT 1")
		}, fault.Unavailable},
		{"not a database", func(t *testing.T, f file) error {
			if err := os.WriteFile(f.path, []byte("0123456789"), 0o600); err != nil {
				t.Fatal(err)
			}
			return exec(t, f.reader(), "SELECT COUNT(*) FROM settings")
		}, fault.Corrupt},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.err(t, testFile(t))
			got, ok := kind(err)
			if !ok || got != c.want {
				t.Errorf("error %v: got kind %s (known: %t), want %s", err, got, ok, c.want)
			}
		})
	}
	if k, ok := kind(os.ErrNotExist); ok {
		t.Errorf("got kind %s of an error that is not SQLite's", k)
	}
}

// A reference that is broken behind the store's back is found by the check.
func TestCheck(t *testing.T) {
	f := testFile(t)
	if err := exec(t, pool(f.path, 1), "INSERT INTO claims (plan_id, holder, at) VALUES ('none', '', '')"); err != nil {
		t.Fatal(err)
	}
	r := f.reader()
	defer r.Close()
	found, err := check(t.Context(), r)
	if err != nil || len(found) != 1 {
		t.Errorf("got %q and error %v, want one broken reference", found, err)
	}
}
