package sandbox

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
)

// base is the copy of one resource that sandboxes are forked from: the files
// of its latest snapshot in tree, and state. It is locked while it is open.
//
// What makes older snapshots usable: no file of tree is ever replaced or
// removed before its bytes are in the blob store. So the bytes of any manifest
// are in tree, at their path, or in the store.
type base struct {
	blobs  Blobs
	root   *os.Root
	state  *state // nil when there is none
	index  index  // of state
	unlock func()
}

const (
	treeName    = "tree"
	newTreeName = "tree.new"
)

func (t *Trees) openBase(ctx context.Context, id ident.ResourceID, exclusive bool) (*base, error) {
	if err := checkID(string(id)); err != nil {
		return nil, err
	}
	root, err := t.open("bases/" + string(id))
	if err != nil {
		return nil, err
	}
	unlock, err := lock(ctx, root, exclusive)
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	b := &base{blobs: t.cfg.Blobs, root: root, unlock: unlock}
	if b.state, err = loadState(root); err != nil {
		return nil, errors.Join(err, b.close())
	}
	if b.state != nil {
		b.index = indexOf(b.state.entries)
	}
	return b, nil
}

func (b *base) close() error {
	b.unlock()
	return b.root.Close()
}

// tree opens the directory of the copies, nil when it was never made.
func (b *base) tree() (*os.Root, error) {
	tree, err := b.root.OpenRoot(treeName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.New(fault.Unavailable, "base: %w", err)
	}
	return tree, nil
}

// trusts reports whether got is the stamp of an untouched copy of e.
func (b *base) trusts(e *entry, got stamp) bool {
	have := b.index[e.path]
	return have != nil && have.kind == isFile && have.hash == e.hash && have.ours.same(got)
}

// copyTo writes the bytes of a file of any snapshot of the resource to w: from
// the tree when it has them, otherwise from the blob store. Bytes whose stamp
// does not vouch for them are hashed before they are used.
func (b *base) copyTo(ctx context.Context, e *entry, w io.Writer, buf []byte) error {
	done, err := b.copyFromTree(ctx, e, w, buf)
	if done || err != nil {
		return err
	}
	err = b.blobs.GetTo(ctx, e.hash.String(), w)
	if fault.Is(err, fault.NotFound) {
		return fault.New(fault.Corrupt, "the snapshot has lost the bytes of %s", e.path).With("path", e.path).
			WithHint("start the plan again: a new snapshot reads the file anew")
	}
	return err
}

func (b *base) copyFromTree(ctx context.Context, e *entry, w io.Writer, buf []byte) (done bool, err error) {
	tree, err := b.tree()
	if tree == nil || err != nil {
		return false, err
	}
	defer tree.Close()
	err = at(tree, e.path, func(dir *os.Root, name string) error {
		want, err := lstatFile(dir, name)
		if err != nil || want.size != e.size {
			return err
		}
		if !b.trusts(e, want) {
			if d, _, _, err := hashFile(ctx, dir, name, want, buf); err != nil || d != e.hash {
				return err
			}
		}
		f, _, err := openFile(dir, name, want)
		if err != nil {
			return err
		}
		h := sha256.New()
		_, err = copyAll(ctx, w, f, h, buf)
		if err == nil && digest(h.Sum(nil)) != e.hash {
			err = fault.New(fault.Corrupt, "the copy of %s changed while it was read", e.path).With("path", e.path)
		}
		done = true
		return errors.Join(err, f.Close())
	})
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotFile) || errors.Is(err, errNotDir) {
		return false, nil
	}
	return done, err
}

// adopt makes a state by hashing the tree, for when the state was lost between
// two snapshots. Nothing in it says that a live file is unchanged.
func (b *base) adopt(ctx context.Context, limit int) error {
	b.state = &state{}
	tree, err := b.tree()
	if tree == nil || err != nil {
		return err
	}
	defer tree.Close()
	w := &walker{max: 2 * limit, own: true}
	if b.state.entries, err = w.walk(ctx, tree); err != nil {
		return err
	}
	err = byDir(ctx, filesOf(b.state.entries), func(dir string, in []*entry, buf []byte) error {
		d, err := descend(tree, dir)
		if err != nil {
			return unreadable(dir, err)
		}
		defer d.Close()
		for _, e := range in {
			if e.hash, e.size, e.ours, err = hashFile(ctx, d, baseName(e), e.seen, buf); err != nil {
				return unreadable(e.path, err)
			}
			e.seen = stamp{}
		}
		return nil
	})
	b.index = indexOf(b.state.entries)
	return err
}

func filesOf(es []entry) []*entry {
	var out []*entry
	for i := range es {
		if es[i].kind == isFile {
			out = append(out, &es[i])
		}
	}
	return out
}
