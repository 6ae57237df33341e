package storetest

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

func testBlobs(t *testing.T, w *world) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	blobs := []engine.SmallBlob{
		{Hash: strings.Repeat("a", 64), Data: every},
		{Hash: strings.Repeat("b", 64), Data: []byte{0}},
		{Hash: strings.Repeat("c", 64), Data: bytes.Repeat([]byte{0xff, 0x00}, 32<<10)},
	}
	for range 2 { // putting it again is not an error
		w.update(t, func(tx engine.Tx) error {
			for _, b := range blobs {
				if err := tx.PutBlob(b); err != nil {
					return err
				}
			}
			return nil
		})
	}
	w.view(t, func(tx engine.Tx) error {
		for _, b := range blobs {
			same(t, "blob", b, func() (engine.SmallBlob, error) { return tx.Blob(b.Hash) })
		}
		absent(t, "blob", func() (engine.SmallBlob, error) { return tx.Blob(strings.Repeat("d", 64)) })
		if err := tx.PutBlob(engine.SmallBlob{Hash: "e", Data: []byte{1}}); !fault.Is(err, fault.Internal) {
			t.Errorf("got error %v from a view, want Internal", err)
		}
		return nil
	})
	// A blob is part of its transaction.
	w.fails(t, fault.Invalid, func(tx engine.Tx) error {
		if err := tx.PutBlob(engine.SmallBlob{Hash: strings.Repeat("f", 64), Data: []byte{1}}); err != nil {
			return err
		}
		return fault.New(fault.Invalid, "no")
	})
	w.view(t, func(tx engine.Tx) error {
		absent(t, "blob of a failed update", func() (engine.SmallBlob, error) { return tx.Blob(strings.Repeat("f", 64)) })
		return nil
	})
}

// testRelaxed checks that a relaxed update is one like any other for those who
// live on, in whatever order the two kinds come and from however many writers.
func testRelaxed(t *testing.T, w *world) {
	count := func(tx engine.Tx) error {
		e := filled[plan.Event](t, w.f)
		e.Plan = w.plans[0].ID
		return tx.AppendEvent(&e)
	}
	var all sync.WaitGroup
	var mu sync.Mutex // the filler is not for several at once
	for i := range 4 {
		all.Go(func() {
			for n := range 10 {
				update := w.s.Update
				if (i+n)%2 == 0 {
					update = w.s.UpdateRelaxed
				}
				err := update(t.Context(), func(tx engine.Tx) error {
					mu.Lock()
					defer mu.Unlock()
					return count(tx)
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if err := w.s.UpdateRelaxed(t.Context(), func(tx engine.Tx) error {
		if err := count(tx); err != nil {
			return err
		}
		return fault.New(fault.Invalid, "no")
	}); !fault.Is(err, fault.Invalid) {
		t.Errorf("got error %v, want the function's own", err)
	}
	w.view(t, func(tx engine.Tx) error {
		es, err := tx.Events(w.plans[0].ID, 0, 0)
		for i, e := range es {
			if e.Seq != int64(i+1) {
				t.Errorf("event %d has number %d", i+1, e.Seq)
			}
		}
		if len(es) != 40 {
			t.Errorf("got %d events, want 40", len(es))
		}
		return err
	})
}

// testAgain runs the same statements many times over, in views that overlap and
// beside a writer, which is when a store may use what it has prepared.
func testAgain(t *testing.T, w *world) {
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			for n := range 8 {
				key, value := fmt.Sprint("key", i), fmt.Sprint(n)
				if err := w.s.Update(t.Context(), func(tx engine.Tx) error { return tx.PutSetting(key, value) }); err != nil {
					t.Error(err)
				}
				var got string
				if err := w.s.View(t.Context(), func(tx engine.Tx) (err error) {
					got, err = tx.Setting(key)
					if err != nil {
						return err
					}
					again, err := tx.Setting(key) // twice within one
					if again != got {
						t.Errorf("got %q and then %q in one view", got, again)
					}
					return err
				}); err != nil {
					t.Error(err)
				}
				if d := cmp.Diff(value, got); d != "" {
					t.Errorf("setting (-put +got):\n%s", d)
				}
			}
		})
	}
	all.Wait()
}
