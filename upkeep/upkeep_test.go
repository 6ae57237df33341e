package upkeep

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cleveragents/agents/blob"
	"github.com/cleveragents/agents/crash"
	"github.com/cleveragents/agents/crash/crashtest"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/sandbox"
	"github.com/cleveragents/agents/store"
	"github.com/cleveragents/agents/store/sqlite"
)

const childEnv = "UPKEEP_CHILD"

// TestMain lets the test run itself as a process that restores, or enters, and
// is killed.
func TestMain(m *testing.M) {
	dir := os.Getenv(childEnv)
	if dir == "" {
		os.Exit(m.Run())
	}
	os.Exit(child(dir, os.Getenv(childEnv+"_FILE")))
}

func child(dir, file string) int {
	ctx := context.Background()
	use, err := Enter(ctx, dir)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer use.Close()
	if file == "" {
		return 0
	}
	if err := use.Alone(ctx); err != nil {
		return 1
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "x")
	if err != nil {
		return 1
	}
	b, err := blob.Open(tmp, nil)
	if err != nil {
		return 1
	}
	if _, err := Restore(ctx, RestoreRequest{DataDir: dir, File: file, Replace: true, Now: time.Now(), Check: b.Check}); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// world is one data directory with what is open in it.
type world struct {
	t     *testing.T
	dir   string
	db    *store.DB
	blobs *blob.Store
	trees *sandbox.Trees
}

func open(t *testing.T, dir string) *world {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(dir, storeName), sqlite.Options{})
	must(t, err)
	b, err := blob.Open(filepath.Join(dir, blobsName), db)
	must(t, err)
	return &world{t, dir, db, b, sandbox.New(sandbox.Config{Dir: filepath.Join(dir, "trees"), Blobs: b})}
}

func (w *world) close() {
	w.t.Helper()
	must(w.t, w.blobs.Close())
	must(w.t, w.db.Close())
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	must(t, os.Mkdir(dir, 0o700))
	w := open(t, dir)
	return w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) put(text string) string {
	w.t.Helper()
	h, err := w.blobs.Put(w.t.Context(), []byte(text))
	must(w.t, err)
	return h
}

func (w *world) update(f func(tx engine.Tx) error) {
	w.t.Helper()
	must(w.t, w.db.Update(w.t.Context(), f))
}

func (w *world) set(v string) { w.update(func(tx engine.Tx) error { return tx.PutSetting("k", v) }) }

func (w *world) setting() (v string) {
	w.t.Helper()
	must(w.t, w.db.View(w.t.Context(), func(tx engine.Tx) (err error) { v, err = tx.Setting("k"); return err }))
	return v
}

func (w *world) backup(name string, noBlobs bool) string {
	w.t.Helper()
	file := filepath.Join(filepath.Dir(w.dir), name)
	_, _, err := Backup(w.t.Context(), w.blobs, BackupRequest{DataDir: w.dir, File: file, NoBlobs: noBlobs, Now: time.Now(), Program: "test"})
	must(w.t, err)
	return file
}

// restored is when every restore of these tests happens: two in one second.
var restored = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func restore(t *testing.T, dir, file string, replace bool) (Restored, error) {
	t.Helper()
	b, err := blob.Open(t.TempDir(), nil)
	must(t, err)
	defer b.Close()
	return Restore(t.Context(), RestoreRequest{DataDir: dir, File: file, Replace: replace, Now: restored, Check: b.Check})
}

// A backup that is taken beside a writer brings back one moment and all blobs
// that its rows lead to, also through manifests.
func TestBackupAndRestore(t *testing.T) {
	w := newWorld(t)
	big := strings.Repeat("large text ", 1000)
	text := w.put(big)
	m, err := json.Marshal(evidence.Manifest{Spans: []evidence.Span{{Blob: text}}})
	must(t, err)
	named, loose := w.put(string(m)), w.put("named by nobody")
	w.set("old " + named)
	file := w.backup("b.tar", false)
	if fi, err := os.Stat(file); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("the backup: %v %v", fi, err)
	}
	if _, _, err := Backup(t.Context(), w.blobs, BackupRequest{DataDir: w.dir, File: file}); !fault.Is(err, fault.Exists) {
		t.Errorf("a file that is there: %v", err)
	}
	w.set("new")
	w.close()
	if _, err := restore(t, w.dir, file, false); !fault.Is(err, fault.Waiting) {
		t.Errorf("over data without a word: %v", err)
	}
	r, err := restore(t, w.dir, file, true)
	must(t, err)
	now := open(t, w.dir)
	if got := now.setting(); got != "old "+named {
		t.Errorf("restored %q", got)
	}
	if b, err := now.blobs.Get(t.Context(), text); err != nil || string(b) != big {
		t.Errorf("the blob that a manifest names: %v", err)
	}
	if now.blobs.Has(loose) {
		t.Error("a blob that nothing names was backed up")
	}
	now.close()
	aside := open(t, r.Aside)
	if aside.setting() != "new" || !aside.blobs.Has(loose) {
		t.Error("the old data is not where it was said to be")
	}
	aside.close()
	again, err := restore(t, w.dir, file, true)
	must(t, err)
	if again.Aside != r.Aside+"-2" || !exists(r.Aside) || !exists(again.Aside) {
		t.Errorf("set aside at %s after %s", again.Aside, r.Aside)
	}
	if left, _ := filepath.Glob(filepath.Join(w.dir, "*.part")); len(left) > 0 || exists(filepath.Join(w.dir, stageName)) {
		t.Errorf("left over: %v", left)
	}
	// Into a directory that is not there yet nothing is asked.
	empty := filepath.Join(t.TempDir(), "data")
	must(t, os.Mkdir(empty, 0o700))
	if r, err := restore(t, empty, file, false); err != nil || r.Aside != "" {
		t.Errorf("into an empty place: %+v %v", r, err)
	}
}

func exists(name string) bool { _, err := os.Lstat(name); return err == nil }

func TestBackupWithoutBlobsLeavesThoseThatAreThere(t *testing.T) {
	w := newWorld(t)
	h := w.put("kept")
	w.set(h)
	file := w.backup("b.tar", true)
	w.close()
	_, err := restore(t, w.dir, file, true)
	must(t, err)
	now := open(t, w.dir)
	defer now.close()
	if !now.blobs.Has(h) {
		t.Error("the blobs went")
	}
}

// T50, T49: whatever is wrong with a backup, nothing changes.
func TestRestoreOfBadFiles(t *testing.T) {
	w := newWorld(t)
	w.set(w.put(strings.Repeat("text ", 100)))
	file := w.backup("b.tar", false)
	good, err := os.ReadFile(file)
	must(t, err)
	w.set("now")
	w.close()
	bad := filepath.Join(t.TempDir(), "bad.tar")
	try := func(name string, b []byte) {
		t.Helper()
		must(t, os.WriteFile(bad, b, 0o600))
		_, err := restore(t, w.dir, bad, true)
		if !fault.Is(err, fault.Corrupt) && !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s: %v", name, err)
		}
		if exists(filepath.Join(w.dir, stageName)) || exists(filepath.Join(w.dir, markerName)) {
			t.Errorf("%s: something was left", name)
		}
	}
	try("empty", nil)
	try("text", []byte("no tar"))
	end := len(good) - 1024 // the two blocks of the end
	for n := 0; n < end; n += 60_000 {
		try(fmt.Sprintf("cut at %d", n), good[:n])
	}
	try("cut before the end of a blob", good[:end-513])
	for _, at := range []int{4000, 50_000} {
		b := bytes.Clone(good)
		b[at] ^= 0x40
		must(t, os.WriteFile(bad, b, 0o600))
		if _, err := restore(t, w.dir, bad, true); err == nil {
			t.Errorf("byte %d is another one, and it was restored", at)
		}
	}
	try("newer form", bytes.Replace(good, []byte(`"version": 1`), []byte(`"version": 9`), 1))
	if _, err := restore(t, w.dir, bad+".none", true); !fault.Is(err, fault.NotFound) {
		t.Errorf("no file: %v", err)
	}
}

// T41, T50: a restore that is killed at any step, and whose end is killed at any
// step, leaves all of the old data or all of the new.
func TestRestoreKilledAtEveryStep(t *testing.T) {
	w := newWorld(t)
	oldBlob := w.put(strings.Repeat("old ", 50))
	w.set(oldBlob)
	file := w.backup("b.tar", false) // what is brought back
	newBlob := w.put(strings.Repeat("new ", 50))
	w.set(newBlob)
	must(t, os.MkdirAll(filepath.Join(w.dir, "trees", "plans", "P"), 0o700))
	must(t, os.WriteFile(filepath.Join(w.dir, "engine.db"), []byte("runs"), 0o600))
	w.close()
	pristine := t.TempDir()
	must(t, os.CopyFS(pristine, os.DirFS(w.dir)))
	run := func(dir, file string, env []string) error {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(append(os.Environ(), childEnv+"="+dir, childEnv+"_FILE="+file), env...)
		out, err := cmd.CombinedOutput()
		if err != nil && len(out) > 0 {
			t.Logf("%s", out)
		}
		return err
	}
	dir := ""
	states := map[string]int{}
	deaths := crashtest.Walk(t, func(t *testing.T, env []string) error {
		dir = filepath.Join(t.TempDir(), "data")
		must(t, os.CopyFS(dir, os.DirFS(pristine)))
		must(t, os.Chmod(dir, 0o700))
		return run(dir, file, env)
	}, func(t *testing.T) {
		// Whoever comes next dies, too, one step later each time, and the last one
		// does not.
		for n := 1; ; n++ {
			err := run(dir, "", []string{crash.AtEnv + "=" + strconv.Itoa(min(n, 3))})
			if err == nil {
				break
			}
			if n > 20 {
				t.Fatalf("a restore does not end: %v", err)
			}
		}
		now := open(t, dir)
		defer now.close()
		got := now.setting()
		if !now.blobs.Has(got) {
			t.Errorf("the store names %s, which is not there", got)
		}
		switch got {
		case newBlob: // not restored: all of the old data is in its place
			if !exists(filepath.Join(dir, "engine.db")) || !exists(filepath.Join(dir, "trees", "plans", "P")) {
				t.Error("the store is the old one, and something beside it went")
			}
			states["old"]++
		case oldBlob:
			if exists(filepath.Join(dir, "engine.db")) || exists(filepath.Join(dir, "trees", "plans", "P")) || exists(filepath.Join(dir, markerName)) {
				t.Error("the store is the new one, and something old lies beside it")
			}
			aside, err := filepath.Glob(filepath.Join(dir, asideName+"*", storeName))
			if err != nil || len(aside) != 1 {
				t.Errorf("the old store is in %v", aside)
			}
			states["new"]++
		default:
			t.Errorf("the store holds %q", got)
		}
	})
	if deaths < 8 || states["old"] == 0 || states["new"] < 5 {
		t.Errorf("%d deaths, ended %v", deaths, states)
	}
}

func TestAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	a, err := Enter(t.Context(), dir)
	must(t, err)
	b, err := Enter(t.Context(), dir)
	must(t, err)
	if err := a.Alone(t.Context()); !fault.Is(err, fault.Busy) {
		t.Errorf("two: %v", err)
	}
	must(t, b.Close())
	must(t, a.Alone(t.Context()))
	short, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := Enter(short, dir); err == nil {
		t.Error("entered while one is alone")
	}
	must(t, a.Close())
}
