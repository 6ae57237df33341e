package engine

import (
	"context"

	"github.com/cleveragents/agents/evidence"
)

// Blobs that a step makes are held back until the step commits. The small ones
// are then stored in the transaction of the rows that name them, so a model
// call with its manifest, answer and new texts waits for the disk once; the
// large ones are files, stored before it.

// maxCache bounds the bytes of blobs that a run keeps in memory.
const maxCache = 64 << 20

// maxDue bounds the bytes that are held back.
const maxDue = 16 << 20

// blob reads a blob through the run's cache.
func (r *run) blob(ctx context.Context, hash string) ([]byte, error) {
	if b, ok := r.cache[hash]; ok {
		return b, nil
	}
	if b, ok := r.due[hash]; ok {
		return b, nil
	}
	b, err := r.Blobs.Get(ctx, hash)
	if err != nil {
		return nil, err
	}
	r.remember(hash, b)
	return b, nil
}

// put takes bytes to be stored before the next commit and keeps them at hand.
// What is in the cache was stored or is due.
func (r *run) put(ctx context.Context, b []byte) (string, error) {
	hash := evidence.Hash(b)
	if _, ok := r.cache[hash]; ok {
		return hash, nil
	}
	if r.due == nil {
		r.due = map[string][]byte{}
	}
	if _, ok := r.due[hash]; !ok {
		r.due[hash] = b
		r.dueSize += len(b)
	}
	r.remember(hash, b)
	if r.dueSize > maxDue {
		return hash, r.flush(ctx)
	}
	return hash, nil
}

// flush stores what is due. What could not be stored stays due, as the cache
// says that it is there.
func (r *run) flush(ctx context.Context) error {
	if len(r.due) == 0 {
		return nil
	}
	small, err := r.Blobs.Split(ctx, r.due)
	if err != nil {
		return err
	}
	if len(small) > 0 {
		if err := r.Store.Update(ctx, func(tx Tx) error { return putBlobs(tx, small) }); err != nil {
			return err
		}
	}
	r.flushed()
	return nil
}

// flushed forgets what was due, once it is stored.
func (r *run) flushed() { r.due, r.dueSize = nil, 0 }

func putBlobs(tx Tx, small []SmallBlob) error {
	for _, b := range small {
		if err := tx.PutBlob(b); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) remember(hash string, b []byte) {
	if r.cached+len(b) > maxCache {
		r.cache, r.cached, r.answers = map[string][]byte{}, 0, nil
	}
	if _, ok := r.cache[hash]; ok || len(b) > maxCache/4 {
		return
	}
	r.cache[hash] = b
	r.cached += len(b)
}
