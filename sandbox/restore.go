package sandbox

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

// Restore makes the trees the snapshots plus want. All bytes that it will
// write are checked against their hashes before it changes anything; one that
// is missing or damaged is fault.Corrupt or fault.NotFound and leaves the
// trees as they were. It touches only what differs, so running it again after
// a crash completes it. Ignored paths and a .git that a tool made are left
// alone, unless they are in the way; other special files and empty directories
// that the snapshot did not have are removed.
func (s *Sandbox) Restore(ctx context.Context, want plan.ChangeSet) (err error) {
	defer func() { err = full(s.t.cfg.Dir, err) }()
	s.mu.Lock()
	defer s.mu.Unlock()
	mine := map[ident.ResourceID]plan.ChangeSet{}
	for _, c := range want {
		if _, err := s.part(c.Resource); err != nil {
			return err
		}
		mine[c.Resource] = append(mine[c.Resource], c)
	}
	jobs := make([]*restore, len(s.parts))
	for i, p := range s.parts {
		r, err := s.plan(ctx, p, mine[p.base.Resource])
		if err != nil {
			return err
		}
		defer r.close()
		jobs[i] = r
	}
	for _, r := range jobs {
		if err := r.verify(ctx); err != nil {
			return err
		}
	}
	for _, r := range jobs {
		if err := r.apply(ctx); err != nil {
			return unreadable("sandbox", err)
		}
	}
	return nil
}

// restore is what has to be done to one tree.
type restore struct {
	part   *part
	blobs  Blobs
	base   *base
	dir    *os.Root
	tree   *os.Root
	now    *found
	index  index // of now
	target index
	remove []*entry // of now
	write  []*entry // of target
	buf    []byte
}

func (r *restore) close() {
	r.tree.Close() // directories: there is nothing that could be lost
	r.dir.Close()
	r.base.close()
}

func (s *Sandbox) plan(ctx context.Context, p *part, want plan.ChangeSet) (*restore, error) {
	target, err := p.overlay(want)
	if err != nil {
		return nil, err
	}
	now, err := s.look(ctx, p, nil)
	if err != nil {
		return nil, err
	}
	b, err := s.t.openBase(ctx, p.base.Resource, false)
	if err != nil {
		return nil, err
	}
	r := &restore{part: p, blobs: s.t.cfg.Blobs, base: b, now: now, index: indexOf(now.entries), target: target, buf: make([]byte, 256<<10)}
	if r.dir, r.tree, err = p.open(); err != nil {
		return nil, errors.Join(err, b.close())
	}
	for i := range now.entries {
		e := &now.entries[i]
		odd := e.kind == isSpecial && (e.what == "git" || e.what == "name" || e.what == "deep")
		if e.kind != isDir && !odd && target[e.path] == nil {
			r.remove = append(r.remove, e)
		}
	}
	for _, e := range target {
		if !same(r.index[e.path], e) {
			r.write = append(r.write, e)
		}
	}
	slices.SortFunc(r.write, func(a, b *entry) int { return strings.Compare(a.path, b.path) })
	return r, nil
}

// overlay returns the files and links that the tree shall have.
func (p *part) overlay(want plan.ChangeSet) (index, error) {
	target := index{}
	for i := range p.entries {
		if e := &p.entries[i]; e.content() {
			target[e.path] = e
		}
	}
	for _, c := range want {
		if err := checkPath(c.Path); err != nil {
			return nil, err
		}
		e := &entry{path: c.Path, mode: c.After.Mode & 0o777, size: c.After.Size}
		ok := true
		switch c.After.Kind {
		case plan.Absent:
			delete(target, c.Path)
			continue
		case plan.Regular:
			e.kind = isFile
			e.hash, ok = digestOf(c.After.Hash)
		case plan.Symlink:
			e.kind = isLink
			e.hash, ok = digestOf(c.After.Hash)
		default:
			ok = false
		}
		if !ok {
			return nil, fault.New(fault.Invalid, "restore %s: a sandbox cannot hold a %q with hash %q", c.Path, c.After.Kind, c.After.Hash)
		}
		target[c.Path] = e
	}
	for name := range target {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if target[dir] != nil {
				return nil, fault.New(fault.Invalid, "restore: %s would be a file and hold %s", dir, name)
			}
		}
	}
	return target, nil
}

// verify reads everything that will be written and reads the links' targets.
func (r *restore) verify(ctx context.Context) error {
	for _, e := range r.write {
		var err error
		switch {
		case e.kind == isFile:
			err = r.bytes(ctx, e, io.Discard)
		case e.target == "":
			var b []byte
			b, err = r.blobs.Get(ctx, e.hash.String())
			e.target = string(b)
		}
		if err != nil {
			return fault.New(fault.KindOf(err), "restore %s: %w", e.path, err).With("path", e.path)
		}
	}
	return nil
}

// bytes writes the content of a file to w: the base has those of the
// snapshot, the blob store those of changes.
func (r *restore) bytes(ctx context.Context, e *entry, w io.Writer) error {
	if was := r.part.index[e.path]; was != nil && was.kind == isFile && was.hash == e.hash {
		return r.base.copyTo(ctx, was, w, r.buf)
	}
	return r.blobs.GetTo(ctx, e.hash.String(), w)
}

func (r *restore) apply(ctx context.Context) error {
	for _, e := range r.remove {
		err := at(r.tree, e.path, func(dir *os.Root, name string) error { return dir.Remove(name) })
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := r.directories(); err != nil {
		return err
	}
	for _, e := range r.write {
		if err := r.place(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// directories makes those of the snapshot and removes empty ones that neither
// it nor a file needs.
func (r *restore) directories() error {
	needed := map[string]bool{}
	for name := range r.target {
		for dir := path.Dir(name); dir != "." && !needed[dir]; dir = path.Dir(dir) {
			needed[dir] = true
		}
	}
	for i := len(r.now.entries) - 1; i >= 0; i-- { // the deepest first
		e := &r.now.entries[i]
		if was := r.part.index[e.path]; e.kind != isDir || needed[e.path] || (was != nil && was.kind == isDir && r.target[e.path] == nil) {
			continue
		}
		err := at(r.tree, e.path, func(dir *os.Root, name string) error { return dir.Remove(name) })
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTEMPTY) {
			return err
		}
	}
	for i := range r.part.entries {
		if e := &r.part.entries[i]; e.kind == isDir && !r.blocked(e.path) {
			if err := r.parents(e.path); err != nil {
				return err
			}
		}
	}
	return nil
}

// blocked reports whether the target has a file at dir or above it.
func (r *restore) blocked(dir string) bool {
	for ; dir != "."; dir = path.Dir(dir) {
		if r.target[dir] != nil {
			return true
		}
	}
	return false
}

// parents makes dir and what is above it, in place of whatever is there.
func (r *restore) parents(dir string) error {
	if e := r.index[dir]; dir == "." || (e != nil && e.kind == isDir && r.target[dir] == nil && r.there(dir)) {
		return nil
	}
	if err := r.parents(path.Dir(dir)); err != nil {
		return err
	}
	return at(r.tree, dir, func(parent *os.Root, name string) error {
		fi, err := parent.Lstat(name)
		if err == nil && fi.IsDir() {
			return nil
		}
		if err == nil {
			err = parent.Remove(name)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		mode := os.FileMode(0o755)
		if was := r.part.index[dir]; was != nil && was.kind == isDir {
			mode = os.FileMode(was.mode | 0o700)
		}
		return makeDir(parent, name, mode)
	})
}

// there reports whether a directory that was seen has survived so far.
func (r *restore) there(dir string) bool {
	fi, err := r.tree.Lstat(dir)
	return err == nil && fi.IsDir()
}

// place writes one file or link.
func (r *restore) place(ctx context.Context, e *entry) error {
	if err := r.parents(path.Dir(e.path)); err != nil {
		return err
	}
	return at(r.tree, e.path, func(dir *os.Root, name string) error {
		if fi, err := dir.Lstat(name); err == nil && fi.IsDir() { // ignored files, or a repository, are in the way
			if err := removeAll(dir, name); err != nil {
				return err
			}
		}
		if e.kind == isLink {
			return writeLink(dir, name, e.target, false, nil)
		}
		return writeFile(dir, name, writer{mode: e.mode, fill: func(f *os.File) error {
			return r.bytes(ctx, e, f)
		}})
	})
}
