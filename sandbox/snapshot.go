package sandbox

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"syscall"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/resource"
)

func baseName(e *entry) string { return path.Base(e.path) }

// Snapshot records the bytes of the resource as they are on disk now and
// brings its base up to date. A file that cannot be read is an error; links
// are recorded, special files and .git only named.
func (t *Trees) Snapshot(ctx context.Context, r resource.Resource) (made plan.Base, err error) {
	defer func() { err = full(t.cfg.Dir, err) }()
	live, err := t.openLive(r)
	if err != nil {
		return plan.Base{}, err
	}
	defer live.Close()
	if t.cfg.Target != nil {
		release, err := t.cfg.Target.quiet(ctx, r.Location)
		if err != nil {
			return plan.Base{}, err
		}
		defer release()
	}
	b, err := t.openBase(ctx, r.ID, true)
	if err != nil {
		return plan.Base{}, err
	}
	hash, err := b.refresh(ctx, live, r.Location, t.cfg.MaxFiles)
	if err := errors.Join(err, b.close()); err != nil {
		return plan.Base{}, fmt.Errorf("snapshot of %s: %w", r.Name, err)
	}
	return plan.Base{Resource: r.ID, Location: r.Location, Snapshot: hash, Backend: Backend}, nil
}

// refresh makes the base a copy of live and returns the hash of its manifest.
func (b *base) refresh(ctx context.Context, live *os.Root, location string, limit int) (string, error) {
	now, err := clock(b.root)
	if err != nil {
		return "", err
	}
	next := &state{location: location, read: now}
	w := &walker{max: limit}
	if next.entries, err = w.walk(ctx, live); err != nil {
		return "", err
	}
	tree, err := b.tree()
	if err != nil {
		return "", err
	}
	if tree == nil {
		if err := b.build(ctx, live, next); err != nil {
			return "", err
		}
		return b.record(ctx, next)
	}
	defer tree.Close()
	if b.state == nil {
		if err := b.adopt(ctx, limit); err != nil {
			return "", err
		}
	}
	same, err := b.update(ctx, live, tree, next)
	if err != nil {
		return "", err
	}
	if same {
		if whole, err := b.recorded(ctx); whole || err != nil {
			return b.state.manifest, err
		}
	}
	return b.record(ctx, next)
}

// recorded reports whether the manifest that the state names is still there and
// whole: a snapshot without it could not be forked. Whoever forks reads it next,
// so its bytes are not fetched from the disk twice.
//
// Nothing may name it yet, so it is touched first.
func (b *base) recorded(ctx context.Context) (bool, error) {
	there, err := b.blobs.Touch(ctx, b.state.manifest)
	if err != nil || !there[b.state.manifest] {
		return false, err
	}
	_, err = b.blobs.Get(ctx, b.state.manifest)
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Corrupt) {
		return false, nil
	}
	return true, err
}

// record stores the manifest and then the state that names it.
func (b *base) record(ctx context.Context, s *state) (string, error) {
	hash, err := b.blobs.Mend(ctx, encodeManifest(s.entries))
	if err != nil {
		return "", err
	}
	s.manifest = hash
	return hash, s.save(b.root)
}

// build makes the tree of a resource that has none, aside.
func (b *base) build(ctx context.Context, live *os.Root, next *state) error {
	if err := removeAll(b.root, newTreeName); err != nil {
		return err
	}
	if err := b.root.Mkdir(newTreeName, 0o700); err != nil {
		return fault.New(fault.Unavailable, "base: %w", err)
	}
	tree, err := b.root.OpenRoot(newTreeName)
	if err != nil {
		return fault.New(fault.Unavailable, "base: %w", err)
	}
	defer tree.Close()
	for i := range next.entries {
		if e := &next.entries[i]; e.kind == isDir {
			if err := tree.Mkdir(e.path, 0o700); err != nil {
				return fault.New(fault.Unavailable, "base: %w", err)
			}
		}
	}
	if err := b.copyIn(ctx, live, tree, next, filesOf(next.entries), takeNew); err != nil {
		return err
	}
	if err := b.root.Rename(newTreeName, treeName); err != nil {
		return fault.New(fault.Unavailable, "base: %w", err)
	}
	return nil
}

// copyIn copies files of live into tree and fills in what was copied. One that
// vanished meanwhile is taken out of next.
func (b *base) copyIn(ctx context.Context, live, tree *os.Root, next *state, files []*entry, take takeFunc) error {
	err := byDir(ctx, files, func(dir string, in []*entry, buf []byte) error {
		from, err := descend(live, dir)
		if err != nil {
			return moved(dir, err)
		}
		defer from.Close()
		to, err := descend(tree, dir)
		if err != nil {
			return fault.New(fault.Unavailable, "base: %s: %w", dir, err)
		}
		defer to.Close()
		for _, e := range in {
			switch err := take(ctx, from, to, e, buf); {
			case errors.Is(err, errGone):
				e.kind = 0
			case err != nil:
				return moved(e.path, err)
			}
		}
		return nil
	})
	next.entries = slices.DeleteFunc(next.entries, func(e entry) bool { return e.kind == 0 })
	return err
}

// errGone says that a live file is no longer there.
var errGone = errors.New("gone")

// moved explains an error of reading the live tree.
func moved(p string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errThroughLink) || errors.Is(err, errNotDir) || errors.Is(err, errNotFile) {
		return fault.New(fault.Busy, "%s changed while it was read: %w", p, err).With("path", p).
			WithHint("try again when nothing else writes to the directory")
	}
	return unreadable(p, err)
}

// takeFunc copies the file of e from a live directory into the base's.
type takeFunc func(ctx context.Context, from, to *os.Root, e *entry, buf []byte) error

// takeNew copies into a tree that nobody uses yet.
func takeNew(ctx context.Context, from, to *os.Root, e *entry, buf []byte) error {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL | syscall.O_NONBLOCK
	return pour(ctx, from, e, buf, func(fill func(*os.File) error) error {
		out, err := to.OpenFile(baseName(e), flags, 0o600)
		if err != nil {
			return fault.New(fault.Unavailable, "base: %w", err)
		}
		err = fill(out)
		if err == nil {
			var fi os.FileInfo
			if fi, err = out.Stat(); err == nil {
				e.ours = stampOf(fi)
			}
		}
		return errors.Join(err, out.Close())
	})
}

// takeOver copies over what may be there, which a crash leaves old or new.
func takeOver(ctx context.Context, from, to *os.Root, e *entry, buf []byte) error {
	err := pour(ctx, from, e, buf, func(fill func(*os.File) error) error {
		if err := writeFile(to, baseName(e), writer{mode: 0o600, fill: fill}); err != nil {
			return err
		}
		var err error
		e.ours, err = lstatFile(to, baseName(e))
		return err
	})
	if errors.Is(err, errGone) {
		if rm := to.Remove(baseName(e)); rm != nil && !errors.Is(rm, fs.ErrNotExist) {
			return rm
		}
	}
	return err
}

// pour gives the bytes of the live file to put's file and notes what they
// were: hash and size of what was read, stamp from before it was.
func pour(ctx context.Context, from *os.Root, e *entry, buf []byte, put func(fill func(*os.File) error) error) error {
	in, seen, err := openFile(from, baseName(e), e.seen)
	if errors.Is(err, fs.ErrNotExist) {
		return errGone
	}
	if err != nil {
		return err
	}
	err = put(func(out *os.File) error {
		h := sha256.New()
		n, err := copyAll(ctx, out, in, h, buf)
		h.Sum(e.hash[:0])
		e.seen, e.mode, e.size = seen, seen.mode, n
		return err
	})
	return errors.Join(err, in.Close())
}
