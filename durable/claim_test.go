package durable

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An end that could not be recorded leaves the claim pending in the name of a
// process that lives but does not run the key.
func TestAProcessGoesOnFromItsOwnLeftOverClaim(t *testing.T) {
	r := open(t, stateDir(t))
	ctx, cancel := context.WithCancel(t.Context())
	_ = r.Run(ctx, "p.1", func(context.Context, int) (bool, error) { cancel(); return false, nil })
	if _, err := r.db.Exec(`UPDATE workflow_status SET status = 'PENDING' WHERE workflow_uuid = 'p.1'`); err != nil {
		t.Fatal(err)
	}
	var got []int
	if err := r.Run(t.Context(), "p.1", count(2, &got)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{1}, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// Between reading a claim and freeing it the key may have been freed and
// claimed again, by a process of the same name too.
func TestFreeLeavesANewerClaimAlone(t *testing.T) {
	r := open(t, stateDir(t))
	var old, now *claim
	ctx, cancel := context.WithCancel(t.Context())
	_ = r.Run(ctx, "p.1", func(ctx context.Context, _ int) (done bool, err error) {
		old, err = r.readClaim(ctx, "p.1")
		cancel()
		return false, err
	})
	err := r.Run(t.Context(), "p.1", func(ctx context.Context, _ int) (done bool, err error) {
		if err := r.free(ctx, "p.1", old); err != nil {
			return false, err
		}
		now, err = r.readClaim(ctx, "p.1")
		return true, err
	})
	if err != nil {
		t.Fatal(err)
	}
	if now == nil || now.token == old.token || now.holder != old.holder || now.status != old.status {
		t.Errorf("claim before %+v, now %+v", old, now)
	}
}
