package sandbox

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/cleveragents/agents/fault"
)

// update brings the tree of the base from what b.state says to next. It
// reports true when the two are the same and there is nothing to record.
func (b *base) update(ctx context.Context, live, tree *os.Root, next *state) (same bool, err error) {
	doubtful := b.match(next)
	if len(doubtful) == 0 && b.sameShape(next) {
		return true, nil
	}
	fresh, err := b.reread(ctx, live, next, doubtful)
	if err != nil {
		return false, err
	}
	replaced := b.replaced(next, fresh)
	if err := b.keep(ctx, tree, replaced); err != nil {
		return false, err
	}
	if len(fresh) > 0 || len(replaced) > 0 {
		if err := b.forget(); err != nil {
			return false, err
		}
	}
	if err := b.reshape(tree, next, replaced); err != nil {
		return false, fault.New(fault.Unavailable, "base: %w", err)
	}
	return false, b.copyIn(ctx, live, tree, next, fresh, takeOver)
}

// forget removes the state on disk, because the tree is about to differ from
// it, or does. Without one the next snapshot finds out by hashing.
func (b *base) forget() error {
	if err := b.root.Remove(stateName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.Unavailable, "base: %w", err)
	}
	return nil
}

// match fills in what is known of unchanged files and returns the others.
func (b *base) match(next *state) (doubtful []*entry) {
	for i := range next.entries {
		e := &next.entries[i]
		if e.kind != isFile {
			continue
		}
		have := b.index[e.path]
		if have != nil && have.kind == isFile && b.state.location == next.location &&
			have.seen.same(e.seen) && !have.seen.racy(b.state.read) {
			e.hash, e.size, e.ours = have.hash, have.size, have.ours
			continue
		}
		doubtful = append(doubtful, e)
	}
	return doubtful
}

// sameShape reports whether next lists what b.state does, given that no file
// is doubtful.
func (b *base) sameShape(next *state) bool {
	if b.state.manifest == "" || b.state.location != next.location || len(b.state.entries) != len(next.entries) {
		return false
	}
	for i := range next.entries {
		e, have := &next.entries[i], &b.state.entries[i]
		if e.path != have.path || e.kind != have.kind || e.what != have.what || e.target != have.target ||
			(e.kind == isDir && e.mode != have.mode) {
			return false
		}
	}
	return true
}

// reread hashes the doubtful files where the base has one to compare with and
// returns those that have to be copied.
func (b *base) reread(ctx context.Context, live *os.Root, next *state, doubtful []*entry) (fresh []*entry, err error) {
	var compare []*entry
	for _, e := range doubtful {
		if have := b.index[e.path]; have != nil && have.kind == isFile && have.size == e.size {
			compare = append(compare, e)
		}
	}
	equal := make(map[*entry]bool, len(compare))
	results := make(chan *entry, len(compare))
	err = byDir(ctx, compare, func(dir string, in []*entry, buf []byte) error {
		d, err := descend(live, dir)
		if err != nil {
			return moved(dir, err)
		}
		defer d.Close()
		for _, e := range in {
			hash, n, seen, err := hashFile(ctx, d, baseName(e), e.seen, buf)
			if errors.Is(err, fs.ErrNotExist) {
				continue // copying finds it gone
			}
			if err != nil {
				return moved(e.path, err)
			}
			if have := b.index[e.path]; hash == have.hash {
				e.hash, e.size, e.seen, e.mode, e.ours = hash, n, seen, seen.mode, have.ours
				results <- e
			}
		}
		return nil
	})
	close(results)
	for e := range results {
		equal[e] = true
	}
	for _, e := range doubtful {
		if !equal[e] {
			fresh = append(fresh, e)
		}
	}
	return fresh, err
}

// replaced returns the files of the base that will be overwritten or removed.
func (b *base) replaced(next *state, fresh []*entry) (out []*entry) {
	stays := make(map[string]bool, len(next.entries))
	for i := range next.entries {
		if e := &next.entries[i]; e.kind == isFile {
			stays[e.path] = true
		}
	}
	for _, e := range fresh {
		stays[e.path] = false
	}
	for _, e := range filesOf(b.state.entries) {
		if !stays[e.path] {
			out = append(out, e)
		}
	}
	return out
}

// keep puts the bytes of files of the base into the blob store. A copy that is
// damaged is left to whoever asks for its hash.
func (b *base) keep(ctx context.Context, tree *os.Root, files []*entry) error {
	p := putter{blobs: b.blobs}
	for _, e := range files {
		err := at(tree, e.path, func(dir *os.Root, name string) error {
			f, _, err := openFile(dir, name, e.ours)
			if err != nil {
				return err
			}
			_, err = p.put(ctx, f, e.size)
			return errors.Join(err, f.Close())
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNotFile) && !errors.Is(err, errNotDir) {
			return unreadable(e.path, err)
		}
	}
	return p.flush(ctx)
}

// reshape removes what is no longer there and makes new directories.
func (b *base) reshape(tree *os.Root, next *state, replaced []*entry) error {
	will := indexOf(next.entries)
	for _, e := range replaced {
		if n := will[e.path]; n != nil && n.kind == isFile {
			continue // overwritten
		}
		if err := tree.Remove(e.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for i := len(b.state.entries) - 1; i >= 0; i-- { // the deepest first
		e := &b.state.entries[i]
		if n := will[e.path]; e.kind == isDir && (n == nil || n.kind != isDir) {
			if err := tree.RemoveAll(e.path); err != nil {
				return err
			}
		}
	}
	for i := range next.entries {
		if e := &next.entries[i]; e.kind == isDir {
			if have := b.index[e.path]; have != nil && have.kind == isDir {
				continue
			}
			if err := tree.Mkdir(e.path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
		}
	}
	return nil
}
