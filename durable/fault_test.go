package durable

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"modernc.org/sqlite"

	"github.com/cleveragents/agents/fault"
)

// engineFile makes a workflow file with one ended run in it.
func engineFile(t *testing.T) (path string, live *Workers) {
	t.Helper()
	dir := t.TempDir()
	live, err := NewWorkers(filepath.Join(dir, "workers"), "W1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := live.Close(); err != nil {
			t.Error(err)
		}
	})
	path = filepath.Join(dir, "engine.db")
	r, err := Open(t.Context(), Config{Path: path, Live: live})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.Run(t.Context(), "k", func(context.Context, int) (bool, error) { return true, nil }), r.Close()); err != nil {
		t.Fatal(err)
	}
	return path, live
}

// settle writes all that the log beside the file still holds into the file: what
// is damaged there must not be mended from the log.
func settle(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	var busy, log, moved int
	err = db.QueryRowContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &log, &moved)
	if err := errors.Join(err, db.Close()); err != nil || busy != 0 {
		t.Fatal(busy, err)
	}
}

// T49: a damaged workflow file is named, with the way out, and in our words.
func TestDamagedWorkflowFile(t *testing.T) {
	for name, damage := range map[string]func(b []byte) []byte{
		"not a database": func([]byte) []byte { return []byte(strings.Repeat("garbage ", 100)) },
		"pages lost":     func(b []byte) []byte { return append(b[:4096:4096], make([]byte, len(b)-4096)...) },
		"cut off":        func(b []byte) []byte { return b[:len(b)/3] },
	} {
		t.Run(name, func(t *testing.T) {
			path, live := engineFile(t)
			if err := Check(t.Context(), path); err != nil {
				t.Fatalf("a sound file: %v", err)
			}
			settle(t, path)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, damage(b), 0o600); err != nil {
				t.Fatal(err)
			}
			r, opened := Open(t.Context(), Config{Path: path, Live: live})
			if opened == nil {
				opened = r.Run(t.Context(), "next", func(context.Context, int) (bool, error) { return true, nil })
				if err := r.Close(); err != nil {
					t.Log(err) // a damaged file need not close well
				}
			}
			for what, err := range map[string]error{"use": opened, "check": Check(t.Context(), path)} {
				if err == nil {
					t.Errorf("%s: nothing is said", what)
					continue
				}
				f := fault.As(err)
				if !fault.Is(err, fault.Corrupt) || !strings.Contains(f.Msg, path) || !strings.Contains(f.Hint, "mv '"+path+"'") ||
					strings.Contains(f.Msg, "DBOS") {
					t.Errorf("%s: %v (hint %q)", what, err, f.Hint)
				}
			}
		})
	}
}

func TestCheckOfNothing(t *testing.T) {
	dir := t.TempDir()
	if err := Check(t.Context(), filepath.Join(dir, "none")); err != nil {
		t.Errorf("no file: %v", err)
	}
	if err := Check(t.Context(), dir); !fault.Is(err, fault.Invalid) {
		t.Errorf("a directory: %v", err)
	}
}

// What SQLite says is not ours to choose, so it is compared with what it says.
func TestTroubleOfTheDisk(t *testing.T) {
	path, _ := engineFile(t)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, c := range []struct {
		set, do, text string
		kind          fault.Kind
	}{
		{"PRAGMA max_page_count = 1", "CREATE TABLE big AS SELECT randomblob(1000000) AS x", fullText, fault.Exhausted},
		{"PRAGMA query_only = 1", "DELETE FROM workflow_status", readOnlyText, fault.Unavailable},
	} {
		if _, err := db.ExecContext(t.Context(), c.set); err != nil {
			t.Fatal(err)
		}
		_, err := db.ExecContext(t.Context(), c.do)
		if e := (*sqlite.Error)(nil); !errors.As(err, &e) || !strings.Contains(err.Error(), c.text) {
			t.Fatalf("SQLite says %v, not %q", err, c.text)
		}
		for what, err := range map[string]error{"SQLite's error": err, "its text": fmt.Errorf("wrapped: %s", err)} {
			got := trouble(t.Context(), path, "record step 3", err)
			if !fault.Is(got, c.kind) || !strings.Contains(got.Error(), path) || fault.As(got).Hint == "" {
				t.Errorf("%s of %q: %v", what, c.text, got)
			}
		}
	}
	if err := trouble(t.Context(), path, "claim", errors.New("odd")); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "odd") {
		t.Errorf("another error: %v", err)
	}
	if err := trouble(t.Context(), path, "claim", fault.New(fault.Busy, "held")); !fault.Is(err, fault.Busy) {
		t.Errorf("one of ours: %v", err)
	}
}
