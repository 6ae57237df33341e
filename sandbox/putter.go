package sandbox

import (
	"context"
	"io"
	"os"
)

// Files up to putSmall are stored in batches of at most putBatch bytes or
// putCount files.
const (
	putSmall = 1 << 20
	putBatch = 8 << 20
	putCount = 256
)

// putter stores files, small ones in batches.
type putter struct {
	blobs Blobs
	batch [][]byte
	bytes int
}

// put stores what f holds and returns its hash; it is durable after flush.
func (p *putter) put(ctx context.Context, f *os.File, size int64) (d digest, err error) {
	if size > putSmall {
		return p.stream(ctx, f)
	}
	b, err := io.ReadAll(io.LimitReader(f, putSmall+1))
	if err != nil {
		return d, err
	}
	if len(b) > putSmall { // it grew
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return d, err
		}
		return p.stream(ctx, f)
	}
	return sum(b), p.add(ctx, b)
}

func (p *putter) stream(ctx context.Context, f *os.File) (digest, error) {
	hash, _, err := p.blobs.PutFrom(ctx, f)
	d, _ := digestOf(hash)
	return d, err
}

func (p *putter) add(ctx context.Context, b []byte) error {
	p.batch = append(p.batch, b)
	p.bytes += len(b)
	if p.bytes >= putBatch || len(p.batch) >= putCount {
		return p.flush(ctx)
	}
	return nil
}

func (p *putter) flush(ctx context.Context) error {
	if len(p.batch) == 0 {
		return nil
	}
	_, err := p.blobs.PutAll(ctx, p.batch)
	p.batch, p.bytes = nil, 0
	return err
}
