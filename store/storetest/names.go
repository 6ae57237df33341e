package storetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/cleveragents/agents/action"
	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/project"
	"github.com/cleveragents/agents/resource"
	"github.com/cleveragents/agents/store"
)

// carer is a store that can be kept tidy.
type carer interface {
	engine.Store
	Care(ctx context.Context, write bool, f func(*store.Care) error) error
}

// hashed fills a record as filled does, and then makes every text in it the
// name of a blob, which it collects.
func hashed[T any](t *testing.T, w *world, into map[string]string) T {
	t.Helper()
	v := filled[T](t, w.f)
	w.names(reflect.ValueOf(&v).Elem(), reflect.TypeFor[T]().Name(), into)
	return v
}

func (w *world) names(v reflect.Value, path string, into map[string]string) {
	w.f.n++
	sum := sha256.Sum256(fmt.Append(nil, path, w.f.n))
	hash := hex.EncodeToString(sum[:])
	switch {
	case v.Type() == timeType, v.Type() == networkType: // no text of theirs names a blob
		return
	case v.Type() == rawType:
		v.SetBytes([]byte(`{"x":["` + hash + `"]}`))
		into[hash] = path
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(hash)
		into[hash] = path
	case reflect.Pointer:
		w.names(v.Elem(), path, into)
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			w.names(v.Index(i), path+"[]", into)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			val := reflect.New(v.Type().Elem()).Elem()
			val.Set(v.MapIndex(key))
			w.names(val, path+"[]", into)
			v.SetMapIndex(key, val)
		}
	case reflect.Interface:
		v.Set(reflect.ValueOf(map[string]any{"x": hash}))
		into[hash] = path
	case reflect.Struct:
		for i := range v.NumField() {
			w.names(v.Field(i), path+"."+v.Type().Field(i).Name, into)
		}
	}
}

// forget takes values that a record needs for its links out of what is expected.
func forget[T ~string](into map[string]string, p *T, v T) {
	delete(into, string(*p))
	*p = v
}

// testNames stores every type of record with a hash in every text that it has,
// whatever it is for, and asks for all of them: a column or a table that is
// added and not looked at makes it fail.
func testNames(t *testing.T, w *world) {
	s, ok := w.s.(carer)
	if !ok {
		t.Fatalf("%T cannot be kept tidy", w.s)
	}
	want := map[string]string{}
	p := hashed[plan.Plan](t, w, want)
	forget(want, &p.ID, ident.PlanID(w.ids.New()))
	forget(want, &p.Project, w.proj.Name)
	d := hashed[plan.Decision](t, w, want)
	forget(want, &d.ID, ident.DecisionID(w.ids.New()))
	forget(want, &d.Plan, p.ID)
	forget(want, &d.Parent, "")
	forget(want, &d.Superseded, "")
	c := hashed[evidence.Call](t, w, want)
	forget(want, &c.ID, ident.CallID(w.ids.New()))
	forget(want, &c.Plan, p.ID)
	tc := hashed[evidence.ToolCall](t, w, want)
	forget(want, &tc.ID, ident.ToolCallID(w.ids.New()))
	forget(want, &tc.Plan, p.ID)
	forget(want, &tc.Call, c.ID)
	forget(want, &tc.Decision, d.ID)
	h := hashed[evidence.Hunk](t, w, want)
	forget(want, &h.Plan, p.ID)
	forget(want, &h.ToolCall, tc.ID)
	forget(want, &h.Call, c.ID)
	forget(want, &h.Decision, d.ID)
	forget(want, &h.Resource, w.res[0].ID)
	g := hashed[evidence.Gap](t, w, want)
	forget(want, &g.Plan, p.ID)
	forget(want, &g.ToolCall, tc.ID)
	r := hashed[evidence.ValidationResult](t, w, want)
	forget(want, &r.Plan, p.ID)
	cp := hashed[plan.Checkpoint](t, w, want)
	forget(want, &cp.Plan, p.ID)
	forget(want, &cp.Decision, d.ID)
	ap := hashed[plan.Approval](t, w, want)
	forget(want, &ap.Plan, p.ID)
	ev := hashed[plan.Event](t, w, want)
	forget(want, &ev.Plan, p.ID)
	act, acr := hashed[action.Action](t, w, want), hashed[actor.Config](t, w, want)
	res := hashed[resource.Resource](t, w, want)
	proj := hashed[project.Project](t, w, want)
	for i := range proj.Links {
		forget(want, &proj.Links[i].Resource, w.res[i].ID)
	}
	setting, mark := hashed[string](t, w, want), hashed[string](t, w, want)
	w.update(t, func(tx engine.Tx) error {
		for _, err := range []error{
			tx.InsertPlan(p), tx.InsertCall(c), tx.InsertToolCall(tc), tx.InsertDecision(&d, nil), tx.InsertHunk(&h),
			tx.InsertGap(&g), tx.InsertResult(r), tx.InsertCheckpoint(cp), tx.InsertApproval(ap), tx.AppendEvent(&ev),
			tx.PutAction(act, false), tx.PutActor(acr, false), tx.InsertResource(res), tx.InsertProject(proj),
			tx.PutSetting("k", setting), tx.SetMark(p.ID, "k", mark),
			tx.PutBlob(engine.SmallBlob{Hash: setting, Data: []byte("abc")}),
		} {
			if err != nil {
				return err
			}
		}
		return nil
	})
	collect := func(drop bool) (found map[string]store.Name, rows map[string]int64) {
		t.Helper()
		found = map[string]store.Name{}
		err := s.Care(t.Context(), false, func(c *store.Care) (err error) {
			if rows, err = c.BlobRows(); err != nil {
				return err
			}
			return c.Names(func(id ident.PlanID) bool { return drop && id == p.ID }, func(n store.Name) { found[n.Hash] = n })
		})
		if err != nil {
			t.Fatal(err)
		}
		return found, rows
	}
	found, rows := collect(false)
	if len(want) < 100 {
		t.Fatalf("only %d texts were filled", len(want))
	}
	for hash, path := range want {
		if _, ok := found[hash]; !ok {
			t.Errorf("the text of %s is in no row that is looked at", path)
		}
	}
	if n := found[c.Manifest]; n.Plan != p.ID || n.Table != "calls" {
		t.Errorf("the manifest of a call is named by %+v", n)
	}
	if rows[setting] != 3 || len(rows) != 1 {
		t.Errorf("blobs in rows: %v", rows)
	}
	dropped, _ := collect(true)
	for _, b := range p.Bases {
		if _, ok := dropped[b.Snapshot]; ok {
			t.Error("a snapshot is named although the bases were to be left out")
		}
	}
	if _, ok := dropped[p.Changed]; !ok {
		t.Error("the change set went with the bases")
	}
	if err := s.Care(t.Context(), true, func(c *store.Care) error { return c.RemoveBlob(setting) }); err != nil {
		t.Fatal(err)
	}
	if _, rows := collect(false); len(rows) != 0 {
		t.Errorf("blobs in rows after the removal: %v", rows)
	}
}

func testClaimsOfAll(t *testing.T, w *world) {
	s := w.s.(carer)
	w.update(t, func(tx engine.Tx) error { return tx.Claim(w.plans[0].ID, "a", w.plans[0].Created) })
	err := s.Care(t.Context(), false, func(c *store.Care) error {
		all, err := c.Claims()
		if !slices.Equal(all, []store.Claim{{Plan: w.plans[0].ID, Holder: "a", At: w.plans[0].Created}}) {
			t.Errorf("claims: %v", all)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
