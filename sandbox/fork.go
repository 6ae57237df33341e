package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

// madeName is the file of a plan's directory that lists its bases. It is
// written last: a directory without it is half-made.
const madeName = "made"

// Open returns the plan's sandbox: one tree a base, in the order of bases. One
// that exists is reused, unless it was made from other snapshots, which is
// fault.Conflict; one that is missing or half-made is made from the snapshots.
func (t *Trees) Open(ctx context.Context, id ident.PlanID, bases []plan.Base) (_ engine.Sandbox, err error) {
	defer func() { err = full(t.cfg.Dir, err) }()
	if err := checkBases(id, bases); err != nil {
		return nil, err
	}
	plans, err := t.open("plans")
	if err != nil {
		return nil, err
	}
	defer plans.Close()
	made, err := readMade(plans, string(id))
	if err != nil {
		return nil, err
	}
	if made == nil {
		err = t.make(ctx, plans, string(id), bases)
	} else if !sameBases(made, bases) {
		err = fault.New(fault.Conflict, "the sandbox of plan %s was made from other snapshots", id)
	}
	if err != nil {
		return nil, err
	}
	return t.sandbox(ctx, id, bases)
}

// Has reports whether the plan's sandbox is there and whole.
func (t *Trees) Has(_ context.Context, id ident.PlanID) (bool, error) {
	if err := checkID(string(id)); err != nil {
		return false, err
	}
	plans, err := t.open("plans")
	if err != nil {
		return false, err
	}
	made, err := readMade(plans, string(id))
	return made != nil, errors.Join(err, plans.Close())
}

func checkBases(id ident.PlanID, bases []plan.Base) error {
	if err := checkID(string(id)); err != nil {
		return err
	}
	if len(bases) == 0 {
		return fault.New(fault.Invalid, "plan %s has no resource to work on", id)
	}
	seen := map[ident.ResourceID]bool{}
	for _, b := range bases {
		if b.Backend != Backend {
			return fault.New(fault.Invalid, "resource %s is isolated by %q, not by %q", b.Resource, b.Backend, Backend)
		}
		if seen[b.Resource] {
			return fault.New(fault.Invalid, "resource %s is linked twice", b.Resource)
		}
		seen[b.Resource] = true
	}
	return nil
}

// sameBases compares what trees are made from.
func sameBases(a, b []plan.Base) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Resource != b[i].Resource || a[i].Snapshot != b[i].Snapshot {
			return false
		}
	}
	return true
}

// readMade returns what the plan's trees were made from, nil when they are not
// there or half-made.
func readMade(plans *os.Root, id string) ([]plan.Base, error) {
	b, err := plans.ReadFile(id + "/" + madeName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.New(fault.Unavailable, "sandbox: %w", err)
	}
	var bases []plan.Base
	if json.Unmarshal(b, &bases) != nil {
		return nil, nil // cut short by a power failure
	}
	return bases, nil
}

// make builds all trees aside and puts them in place with one rename.
func (t *Trees) make(ctx context.Context, plans *os.Root, id string, bases []plan.Base) error {
	aside := id + ".new"
	if err := errors.Join(removeAll(plans, aside), removeAll(plans, id)); err != nil {
		return err
	}
	for n, base := range bases {
		if err := plans.MkdirAll(aside+"/"+strconv.Itoa(n)+"/"+treeName, 0o700); err != nil {
			return fault.New(fault.Unavailable, "sandbox: %w", err)
		}
		dir, err := plans.OpenRoot(aside + "/" + strconv.Itoa(n))
		if err != nil {
			return fault.New(fault.Unavailable, "sandbox: %w", err)
		}
		err = t.fork(ctx, base, dir)
		if err := errors.Join(err, dir.Close()); err != nil {
			return fmt.Errorf("fork of resource %s: %w", base.Resource, err)
		}
	}
	b, err := json.Marshal(bases)
	if err == nil {
		err = plans.WriteFile(aside+"/"+madeName, b, 0o600)
	}
	if err == nil {
		err = plans.Rename(aside, id)
	}
	if err != nil {
		return fault.New(fault.Unavailable, "sandbox: %w", err)
	}
	return nil
}

// fork fills dir/tree with what the snapshot holds and writes dir/state.
func (t *Trees) fork(ctx context.Context, from plan.Base, dir *os.Root) error {
	es, err := t.manifest(ctx, from.Snapshot)
	if err != nil {
		return err
	}
	b, err := t.openBase(ctx, from.Resource, false)
	if err != nil {
		return err
	}
	err = b.fork(ctx, es, dir)
	if fault.Is(err, fault.Corrupt) {
		err = errors.Join(err, b.forget()) // so that the next snapshot looks at every byte
	}
	return errors.Join(err, b.close())
}

func (b *base) fork(ctx context.Context, es []entry, dir *os.Root) error {
	tree, err := dir.OpenRoot(treeName)
	if err != nil {
		return fault.New(fault.Unavailable, "sandbox: %w", err)
	}
	defer tree.Close()
	source, err := b.tree()
	if err != nil {
		return err
	}
	if source != nil {
		defer source.Close()
	}
	for i := range es {
		if e := &es[i]; e.kind == isDir {
			// A directory of a sandbox is always its owner's to change.
			if err := makeDir(tree, e.path, os.FileMode(e.mode|0o700)); err != nil {
				return fault.New(fault.Unavailable, "sandbox: %w", err)
			}
		}
	}
	if err := byDir(ctx, contentsOf(es), func(at string, in []*entry, buf []byte) error {
		return b.forkDir(ctx, source, tree, at, in, buf)
	}); err != nil {
		return err
	}
	now, err := clock(dir)
	if err != nil {
		return err
	}
	s := &state{read: now, entries: es}
	return s.save(dir)
}

// makeDir makes a directory with that mode whatever the umask is.
func makeDir(root *os.Root, name string, mode os.FileMode) error {
	if err := root.Mkdir(name, mode); err != nil {
		return err
	}
	fi, err := root.Lstat(name)
	if err == nil && fi.Mode().Perm() != mode {
		err = root.Chmod(name, mode)
	}
	return err
}

func contentsOf(es []entry) []*entry {
	var out []*entry
	for i := range es {
		if es[i].content() {
			out = append(out, &es[i])
		}
	}
	return out
}

// forkDir copies the files and links of one directory.
func (b *base) forkDir(ctx context.Context, source, tree *os.Root, at string, in []*entry, buf []byte) error {
	to, err := descend(tree, at)
	if err != nil {
		return fault.New(fault.Unavailable, "sandbox: %w", err)
	}
	defer to.Close()
	var from *os.Root // stays nil where the base has no such directory any more
	if source != nil {
		if from, err = descend(source, at); err == nil {
			defer from.Close()
		}
	}
	for _, e := range in {
		if e.kind == isLink {
			err = to.Symlink(e.target, baseName(e))
		} else {
			err = b.forkFile(ctx, from, to, e, buf)
		}
		if err != nil {
			return unreadable(e.path, err)
		}
	}
	return nil
}

// forkFile copies one file and notes its stamp in e.
func (b *base) forkFile(ctx context.Context, from, to *os.Root, e *entry, buf []byte) error {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL | syscall.O_NONBLOCK
	name, mode := baseName(e), os.FileMode(e.mode)
	out, err := to.OpenFile(name, flags, mode)
	if err != nil {
		return err
	}
	err = b.fill(ctx, from, e, out, buf)
	if have := b.index[e.path]; err == nil && have != nil && have.hash == e.hash && have.seen.mtime != 0 {
		mtime := time.Unix(0, have.seen.mtime) // build tools compare times
		err = to.Chtimes(name, mtime, mtime)
	}
	var fi os.FileInfo
	if err == nil {
		fi, err = out.Stat()
	}
	if err == nil && fi.Mode().Perm() != mode { // the umask had a say
		if err = out.Chmod(mode); err == nil {
			fi, err = out.Stat()
		}
	}
	if err == nil {
		e.seen = stampOf(fi)
	}
	return errors.Join(err, out.Close())
}

// fill writes the bytes of e to out, without hashing where the base's copy is
// known to be untouched.
func (b *base) fill(ctx context.Context, from *os.Root, e *entry, out *os.File, buf []byte) error {
	have := b.index[e.path]
	if from == nil || have == nil || have.hash != e.hash {
		return b.copyTo(ctx, e, out, buf)
	}
	in, got, err := openFile(from, baseName(e), have.ours)
	if err != nil {
		return b.copyTo(ctx, e, out, buf) // looks closer
	}
	if !b.trusts(e, got) {
		return errors.Join(in.Close(), b.copyTo(ctx, e, out, buf))
	}
	n, err := copyAll(ctx, out, in, nil, buf)
	if err == nil && n != e.size {
		err = fault.New(fault.Corrupt, "the copy of %s has %d bytes, not %d", e.path, n, e.size).With("path", e.path)
	}
	return errors.Join(err, in.Close())
}
