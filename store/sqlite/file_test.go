package sqlite_test

import (
	"context"
	"database/sql"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/store/sqlite"
)

// tree returns what is in the directory: mode and bytes by name.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	es, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range es {
		st, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = st.Mode().String()
		if st.Mode().IsRegular() {
			b, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			out[e.Name()] += " " + string(b)
		}
	}
	return out
}

// used returns the path of a closed store with some records in it.
func used(t *testing.T) string {
	t.Helper()
	path := dbPath(t)
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Update(t.Context(), func(tx engine.Tx) error {
		if err := tx.InsertPlan(plan.Plan{ID: "one"}); err != nil {
			return err
		}
		for range 50 {
			if err := tx.AppendEvent(&plan.Event{Plan: "one", Data: []byte(`"` + strings.Repeat("x", 2000) + `"`)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// edit changes the bytes of a file.
func edit(t *testing.T, path string, f func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, f(b), 0o600); err != nil {
		t.Fatal(err)
	}
}

// query runs SQL on the file behind the store's back.
func query(t *testing.T, path, text string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(text); err != nil {
		t.Fatal(err)
	}
}

// T49, T50: what is wrong with a file is found before anything is written.
func TestRefuse(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(t *testing.T, path string)
		kind fault.Kind
		says string
	}{
		{"garbage", func(t *testing.T, path string) {
			edit(t, path, func(b []byte) []byte { return []byte(strings.Repeat("garbage ", 2000)) })
		}, fault.Corrupt, "no backup"},
		{"short garbage", func(t *testing.T, path string) {
			edit(t, path, func(b []byte) []byte { return []byte("hello\n") })
		}, fault.Corrupt, "no backup"},
		{"truncated to half", func(t *testing.T, path string) {
			edit(t, path, func(b []byte) []byte { return b[:len(b)/2] })
		}, fault.Corrupt, "no backup"},
		{"truncated in the header", func(t *testing.T, path string) {
			edit(t, path, func(b []byte) []byte { return b[:60] })
		}, fault.Corrupt, "no backup"},
		{"flipped in the header", func(t *testing.T, path string) {
			edit(t, path, func(b []byte) []byte { b[3] ^= 4; return b })
		}, fault.Corrupt, "no backup"},
		{"flipped in the schema", func(t *testing.T, path string) {
			edit(t, path, func(b []byte) []byte { b[100] ^= 0x40; return b })
		}, fault.Corrupt, "no backup"},
		{"damaged beside a backup", func(t *testing.T, path string) {
			if err := os.WriteFile(path+".v1.bak", nil, 0o600); err != nil {
				t.Fatal(err)
			}
			edit(t, path, func(b []byte) []byte { return []byte("hello\n") })
		}, fault.Corrupt, "the last backup is "},
		{"empty beside a log", func(t *testing.T, path string) {
			edit(t, path, func(b []byte) []byte { return nil })
			if err := os.WriteFile(path+"-wal", []byte("something"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, fault.Corrupt, "nothing was changed"},
		{"of another program", func(t *testing.T, path string) {
			edit(t, path, func(b []byte) []byte { return nil })
			query(t, path, "CREATE TABLE bookmarks (url TEXT)")
		}, fault.Invalid, "another program"},
		{"newer schema", func(t *testing.T, path string) {
			query(t, path, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, 1)")
		}, fault.Unavailable, "schema is 99"},
		{"newer schema in the log only", func(t *testing.T, path string) {
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.Exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, 1)"); err != nil {
				t.Fatal(err)
			}
			main, log := tree(t, filepath.Dir(path))[filepath.Base(path)], tree(t, filepath.Dir(path))[filepath.Base(path)+"-wal"]
			db.Close() // takes the log into the file; put both back as after a crash
			for p, b := range map[string]string{path: main, path + "-wal": log} {
				if err := os.WriteFile(p, []byte(b[strings.Index(b, " ")+1:]), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}, fault.Unavailable, "schema is 99"},
		{"a link", func(t *testing.T, path string) {
			if err := os.Rename(path, path+".real"); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(path+".real", path); err != nil {
				t.Fatal(err)
			}
		}, fault.Invalid, "not a regular file"},
		{"a pipe", func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mkfifo(path, 0o600); err != nil {
				t.Fatal(err)
			}
		}, fault.Invalid, "not a regular file"},
		{"a file that others can write", func(t *testing.T, path string) { // T32
			if err := os.Chmod(path, 0o620); err != nil {
				t.Fatal(err)
			}
		}, fault.Blocked, "chmod go-w"},
		{"a directory that others can write", func(t *testing.T, path string) { // T32
			if err := os.Chmod(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
		}, fault.Blocked, "chmod go-w"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := used(t)
			c.do(t, path)
			before := tree(t, filepath.Dir(path))
			s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			if err == nil {
				s.Close()
			}
			if !fault.Is(err, c.kind) {
				t.Fatalf("got error %v, want one of kind %s", err, c.kind)
			}
			told := err.Error() + "; " + fault.As(err).Hint
			if !strings.Contains(told, c.says) || !strings.Contains(told, filepath.Dir(path)) {
				t.Errorf("got %q, want %q and the place in it", told, c.says)
			}
			after := tree(t, filepath.Dir(path))
			// To look into a file that has a log, SQLite makes an index of the
			// log and, where there is none, an empty log.
			for _, m := range []map[string]string{before, after} {
				delete(m, filepath.Base(path)+"-shm")
				if log := filepath.Base(path) + "-wal"; m[log] == "-rw------- " {
					delete(m, log)
				}
			}
			if d := cmp.Diff(before, after); d != "" {
				t.Errorf("the refusal changed the directory (-before +after):\n%.2000s", d)
			}
		})
	}
}

// T49: a place that cannot be written is told as such, also by a user whom
// root's powers do not help.
func TestReadOnlyPlace(t *testing.T) {
	const nobody = 65534
	uid := os.Getuid()
	top, err := os.MkdirTemp("", "agents-store-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(top) })
	if uid == 0 {
		uid = nobody
	}
	own := func(mode fs.FileMode, paths ...string) {
		t.Helper()
		for _, p := range paths {
			if err := os.Chmod(p, mode); err != nil {
				t.Fatal(err)
			}
			if err := os.Chown(p, uid, -1); err != nil {
				t.Fatal(err)
			}
		}
	}
	dir := filepath.Join(top, "state")
	if err := os.Rename(filepath.Dir(used(t)), dir); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "agents.db")
	own(0o755, top)
	refused := func(path, says string) {
		t.Helper()
		before := tree(t, dir)
		out, err := spawn(t, "open-as", path, strconv.Itoa(uid)).CombinedOutput()
		if err == nil || !strings.HasPrefix(string(out), "Unavailable ") || !strings.Contains(string(out), says) {
			t.Errorf("got %q, want Unavailable and %q", out, says)
		}
		if d := cmp.Diff(before, tree(t, dir)); d != "" {
			t.Errorf("the refusal changed the directory (-before +after):\n%.2000s", d)
		}
	}
	own(0o500, dir)
	own(0o600, path)
	refused(path, "cannot write "+dir)
	refused(filepath.Join(dir, "new.db"), "permission denied")
	refused(filepath.Join(dir, "new", "agents.db"), "permission denied")
	own(0o700, dir)
	own(0o400, path)
	refused(path, "cannot write "+path)
	own(0o600, path)
	if out, err := spawn(t, "open-as", path, strconv.Itoa(uid)).CombinedOutput(); err != nil {
		t.Errorf("with its permissions back: %v: %s", err, out)
	}
	if os.Getuid() == 0 {
		if _, err := sqlite.Open(t.Context(), path, sqlite.Options{}); !fault.Is(err, fault.Blocked) {
			t.Errorf("got error %v for a place of another user", err)
		}
	}
}

// T32: whatever the umask, nobody else can read what is made.
func TestModes(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	path := filepath.Join(t.TempDir(), "a", "b", "odd name?x=1#y%41&.db")
	// The test's own directory was made with the umask of before.
	s := open(t, path, sqlite.Options{})
	if err := s.Update(t.Context(), func(tx engine.Tx) error { return tx.PutSetting("k", "v") }); err != nil {
		t.Fatal(err)
	}
	if got := s.Path(); got != path {
		t.Errorf("got path %s, want %s", got, path)
	}
	seen := 0
	for p, want := range map[string]fs.FileMode{
		filepath.Dir(filepath.Dir(path)): 0o700, filepath.Dir(path): 0o700,
		path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600, path + ".lock": 0o600,
	} {
		st, err := os.Lstat(p)
		if err != nil {
			t.Fatal(err)
		}
		if got := st.Mode().Perm(); got != want {
			t.Errorf("%s: got mode %o, want %o", p, got, want)
		}
		seen++
	}
	if got := len(tree(t, filepath.Dir(path))); got != seen-2 {
		t.Errorf("got %d files, want %d", got, seen-2)
	}
}

// A file without a byte is a new store; Open gives up with its context.
func TestZeroLength(t *testing.T) {
	path := used(t)
	edit(t, path, func([]byte) []byte { return nil })
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sqlite.Open(done, path, sqlite.Options{}); !fault.Is(err, fault.Cancelled) {
		t.Errorf("got error %v with a context that is done", err)
	}
	s := open(t, path, sqlite.Options{})
	if err := s.Update(t.Context(), func(tx engine.Tx) error { return tx.InsertPlan(plan.Plan{ID: "one"}) }); err != nil {
		t.Error(err)
	}
}

// T49: damage inside a table is found by the check, and read as such.
func TestStatus(t *testing.T) {
	path := used(t)
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{Readers: 1})
	if err != nil {
		t.Fatal(err)
	}
	status, err := s.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]int64{}
	for _, c := range status.Tables {
		rows[c.Name] = c.Rows
	}
	if status.Database != "sqlite" || status.Schema != latest(t) || status.Latest != latest(t) || status.Bytes < 100_000 || len(status.Problems) > 0 ||
		rows["plans"] != 1 || rows["events"] != 50 || rows["calls"] != 0 {
		t.Errorf("got status %+v", status)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	edit(t, path, func(b []byte) []byte {
		for i := len(b) - 4096*10; i < len(b); i++ {
			b[i] = 0xff
		}
		return b
	})
	s = open(t, path, sqlite.Options{})
	if status, err = s.Status(t.Context()); err == nil && len(status.Problems) == 0 {
		t.Errorf("got status %+v of a damaged file", status)
	}
	err = s.View(t.Context(), func(tx engine.Tx) error { _, err := tx.Events("one", 0, 0); return err })
	if !fault.Is(err, fault.Corrupt) {
		t.Errorf("got error %v when reading damage, want Corrupt", err)
	}
}
