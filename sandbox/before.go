package sandbox

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/cleveragents/agents/plan"
)

// keepBefore stores the bytes that each change of set replaced, so that a
// change can be shown and undone when the base has moved on.
func (s *Sandbox) keepBefore(ctx context.Context, p *part, set plan.ChangeSet) (err error) {
	var missing []*entry
	for _, c := range set {
		if e := p.index[c.Path]; e != nil && e.content() && !p.kept[e.hash] {
			missing = append(missing, e)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	b, err := s.t.openBase(ctx, p.base.Resource, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	put := &putter{blobs: s.t.cfg.Blobs}
	buf := make([]byte, 256<<10)
	for _, e := range missing {
		if err := keep(ctx, b, put, e, buf); err != nil {
			return err
		}
	}
	if err := put.flush(ctx); err != nil {
		return err
	}
	if p.kept == nil {
		p.kept = map[digest]bool{}
	}
	for _, e := range missing {
		p.kept[e.hash] = true
	}
	return nil
}

// keep stores the bytes of one entry of the snapshot.
func keep(ctx context.Context, b *base, put *putter, e *entry, buf []byte) error {
	if e.kind == isLink {
		return put.add(ctx, []byte(e.target))
	}
	if e.size <= putSmall {
		var w bytes.Buffer
		if err := b.copyTo(ctx, e, &w, buf); err != nil {
			return err
		}
		return put.add(ctx, w.Bytes())
	}
	r, w := io.Pipe()
	copied := make(chan error, 1)
	go func() {
		err := b.copyTo(ctx, e, w, buf)
		copied <- errors.Join(err, w.CloseWithError(err))
	}()
	_, _, err := put.blobs.PutFrom(ctx, r)
	return errors.Join(err, r.CloseWithError(err), <-copied)
}
