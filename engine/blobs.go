package engine

import (
	"context"
	"maps"
	"slices"

	"github.com/cleveragents/agents/evidence"
)

// Blobs that a step makes are held back until the step commits, and are then
// stored together, before the rows that name them: the waits for the disk
// overlap, so a model call with its manifest, answer and new texts costs as
// much as one file.

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
	if _, err := r.Blobs.PutAll(ctx, slices.Collect(maps.Values(r.due))); err != nil {
		return err
	}
	r.due, r.dueSize = nil, 0
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
