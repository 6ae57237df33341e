package upkeep

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/resource"
)

func (w *world) gc(o Options) Freed {
	w.t.Helper()
	o.DataDir = w.dir
	if o.Alive == nil {
		o.Alive = func(context.Context, string) bool { return false }
	}
	if o.Older == 0 {
		o.Older = Least
	}
	f, err := GC(w.t.Context(), w.db, w.blobs, w.trees, o)
	must(w.t, err)
	return f
}

func (w *world) plan(id ident.PlanID, s plan.State, bases ...plan.Base) {
	w.t.Helper()
	w.update(func(tx engine.Tx) error {
		return tx.InsertPlan(plan.Plan{ID: id, Name: "local/" + strings.ToLower(string(id)), Status: plan.Status{Phase: plan.PhaseApply, State: s}, Bases: bases, Created: time.Now(), Updated: time.Now()})
	})
}

func (w *world) resource(name string) resource.Resource {
	w.t.Helper()
	dir := filepath.Join(filepath.Dir(w.dir), name)
	must(w.t, os.Mkdir(dir, 0o755))
	must(w.t, os.WriteFile(filepath.Join(dir, "f"), []byte(name), 0o644))
	r := resource.Resource{ID: ident.ResourceID(strings.ToUpper(name)), Name: "local/" + name, Type: resource.FSDirectory, Location: dir}
	w.update(func(tx engine.Tx) error { return tx.InsertResource(r) })
	return r
}

func TestGC(t *testing.T) {
	w := newWorld(t)
	defer w.close()
	ctx := t.Context()
	open, ended := w.resource("one"), w.resource("two")
	bo, err := w.trees.Snapshot(ctx, open)
	must(t, err)
	be, err := w.trees.Snapshot(ctx, ended)
	must(t, err)
	w.plan("OPEN", plan.Waiting, bo)
	w.plan("ENDED", plan.Applied, be)
	for id, b := range map[ident.PlanID]plan.Base{"OPEN": bo, "ENDED": be, "NOBODY": be} {
		_, err := w.trees.Open(ctx, id, []plan.Base{b})
		must(t, err)
	}
	text := w.put("a part of a request")
	m, err := json.Marshal(evidence.Manifest{Spans: []evidence.Span{{Blob: text}}})
	must(t, err)
	base := w.put(string(m))
	m2, err := json.Marshal(evidence.Manifest{Base: base})
	must(t, err)
	call := evidence.Call{ID: "CALL", Plan: "ENDED", Manifest: w.put(string(m2))}
	lost := w.put("named by nobody")
	small := strings.Repeat("ab", 32)
	w.update(func(tx engine.Tx) error {
		return tx.InsertCall(call)
	})
	later := time.Now().Add(2 * Least)

	if f := w.gc(Options{Now: time.Now()}); f.Files+f.Sandboxes+f.Bases > 0 {
		t.Errorf("what is young went: %+v", f)
	}
	w.update(func(tx engine.Tx) error { return tx.PutBlob(engine.SmallBlob{Hash: small, Data: []byte("\x00x")}) })
	dry := w.gc(Options{Now: later, DryRun: true})
	if !w.blobs.Has(lost) {
		t.Fatal("a dry run removed a blob")
	}
	// While a plan is being run no blob goes.
	w.update(func(tx engine.Tx) error { return tx.Claim("OPEN", "holder", time.Now().Add(-time.Minute)) })
	alive := func(context.Context, string) bool { return true }
	beside := w.gc(Options{Now: later, Alive: alive})
	if !beside.BlobsLeft || beside.Rows+beside.Files > 0 || beside.Sandboxes != 2 || beside.Bases != 1 {
		t.Errorf("beside a run: %+v", beside)
	}
	f := w.gc(Options{Now: later})
	for _, kept := range []string{text, base, call.Manifest, bo.Snapshot} {
		if !w.blobs.Has(kept) {
			t.Errorf("blob %s is named and was removed", kept)
		}
	}
	if w.blobs.Has(lost) || w.blobs.Has(be.Snapshot) || f.Files != 2 || f.Rows != 1 || f.RowBytes != 2 {
		t.Errorf("freed %+v", f)
	}
	slices.Sort(dry.Unused)
	slices.Sort(f.Unused)
	if !slices.Equal(dry.Unused, f.Unused) || dry.Sandboxes != beside.Sandboxes || dry.Bases != beside.Bases {
		t.Errorf("dry %+v\ndone %+v", dry, f)
	}
	for id, want := range map[ident.PlanID]bool{"OPEN": true, "ENDED": false, "NOBODY": false} {
		if has, err := w.trees.Has(ctx, id); err != nil || has != want {
			t.Errorf("sandbox of %s: %t %v", id, has, err)
		}
	}
	if again := w.gc(Options{Now: later}); again.Files+again.Rows+again.Sandboxes+again.Bases > 0 {
		t.Errorf("a second time: %+v", again)
	}
	// The resource of the plan that ended is taken anew.
	_, err = w.trees.Snapshot(ctx, ended)
	must(t, err)
	if _, err := GC(ctx, w.db, w.blobs, w.trees, Options{Older: Least - 1, DataDir: w.dir}); !fault.Is(err, fault.Invalid) {
		t.Errorf("younger than is safe: %v", err)
	}
}

// A writer that names a blob which nothing named for long always finds it
// afterwards, whatever is collected meanwhile: the put makes it young.
func TestGCBesideAWriter(t *testing.T) {
	w := newWorld(t)
	defer w.close()
	hash := w.put("unused for long")
	// The collection looks at the rows, and then the writer names the blob.
	g := &collection{Options: Options{Alive: func(context.Context, string) bool { return false }}, db: w.db, blobs: w.blobs, trees: w.trees, marked: marks{}}
	g.limit = time.Now() // what was put before this moment is old
	must(t, g.read(t.Context()))
	for !time.Now().After(g.limit.Add(20 * time.Millisecond)) { // a tick of the file system's clock
	}
	w.set(w.put("unused for long"))
	must(t, g.files(t.Context()))
	if !w.blobs.Has(hash) || !w.blobs.Has(w.setting()) {
		t.Error("a blob went that a row names")
	}
}

// What cannot be read might name others: nothing is removed then.
func TestGCStopsAtDamage(t *testing.T) {
	w := newWorld(t)
	defer w.close()
	text := strings.Repeat("part ", 100)
	m, err := json.Marshal(evidence.Manifest{Spans: []evidence.Span{{Blob: w.put(text)}}})
	must(t, err)
	named := w.put(string(m))
	w.set(named)
	file := filepath.Join(w.dir, blobsName, named[:2], named)
	b, err := os.ReadFile(file)
	must(t, err)
	b[len(b)/2] ^= 1
	must(t, os.WriteFile(file, b, 0o600))
	_, err = GC(t.Context(), w.db, w.blobs, w.trees, Options{
		Now: time.Now().Add(2 * Least), Older: Least, DataDir: w.dir, Alive: func(context.Context, string) bool { return false },
	})
	if !fault.Is(err, fault.Corrupt) || !w.blobs.Has(evidence.Hash([]byte(text))) {
		t.Errorf("got %v", err)
	}
}
