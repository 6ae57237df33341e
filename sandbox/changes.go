package sandbox

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"sync"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

// Changes compares the trees with their snapshots. Only files whose stat
// changed since the last look are read. An entry of Special is the kind (fifo,
// socket, device, git, name, deep) and the path, quoted when it has no plain
// form. Directories as such are not compared.
func (s *Sandbox) Changes(ctx context.Context) (found engine.Changes, err error) {
	defer func() { err = full(s.t.cfg.Dir, err) }()
	s.mu.Lock()
	defer s.mu.Unlock()
	out := engine.Changes{Set: plan.ChangeSet{}}
	for _, p := range s.parts {
		found, err := s.look(ctx, p, &putter{blobs: s.t.cfg.Blobs})
		if err != nil {
			return engine.Changes{}, err
		}
		set := p.diff(found)
		if err := s.keepBefore(ctx, p, set); err != nil {
			return engine.Changes{}, err
		}
		out.Set = append(out.Set, set...)
		out.Ignored = append(out.Ignored, found.ignored...)
		for i := range found.entries {
			if e := &found.entries[i]; e.kind == isSpecial {
				out.Special = append(out.Special, e.what+" "+e.path)
			}
		}
	}
	out.Set.Sort()
	slices.Sort(out.Ignored)
	slices.Sort(out.Special)
	return out, nil
}

// found is what a tree holds now.
type found struct {
	entries []entry
	ignored []string
}

// diff returns the changes from the snapshot. Something that is no file before
// or after stands in it as what it is for a file: Other when it is in the way,
// Absent when the file is gone.
func (p *part) diff(now *found) plan.ChangeSet {
	var set plan.ChangeSet
	add := func(was, is *entry) {
		if !is.content() {
			is = nil
		}
		if (was.content() || is != nil) && !same(was, is) {
			path := cmp.Or(was, is).path
			set = append(set, plan.Change{Resource: p.base.Resource, Path: path, Before: was.state(), After: is.state()})
		}
	}
	old, cur := p.entries, now.entries // both sorted
	for len(old) > 0 || len(cur) > 0 {
		switch {
		case len(cur) == 0 || (len(old) > 0 && old[0].path < cur[0].path):
			add(&old[0], nil)
			old = old[1:]
		case len(old) == 0 || cur[0].path < old[0].path:
			add(nil, &cur[0])
			cur = cur[1:]
		default:
			add(&old[0], &cur[0])
			old, cur = old[1:], cur[1:]
		}
	}
	return set
}

// same is plan.FileState.Same of the two without making them.
func same(a, b *entry) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.kind == b.kind && a.hash == b.hash && (a.kind == isLink || a.mode == b.mode)
}

// look walks the tree and hashes what may have changed since the last look.
// Unless put is nil it stores the bytes that differ from the snapshot.
func (s *Sandbox) look(ctx context.Context, p *part, put *putter) (*found, error) {
	dir, tree, err := p.open()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	defer tree.Close()
	if p.last == nil {
		if p.last, err = loadState(dir); err != nil {
			return nil, err
		}
	}
	if err := s.loadRules(ctx, p); err != nil {
		return nil, err
	}
	now, err := clock(dir)
	if err != nil {
		return nil, err
	}
	w := &walker{max: s.t.cfg.MaxFiles, ignore: p.ignores, own: true}
	entries, err := w.walk(ctx, tree)
	if err != nil {
		return nil, err
	}
	doubtful := p.match(entries)
	h := hasher{part: p, tree: tree, put: put}
	if err := h.hash(ctx, entries, doubtful); err != nil {
		return nil, err
	}
	next := &state{read: now, entries: entries}
	// A look that stored nothing must not vouch for the bytes of a change.
	if put != nil {
		if err := p.seen(dir, next, len(doubtful)); err != nil {
			return nil, err
		}
	}
	return &found{entries, w.ignored}, nil
}

// maxUnsaved is how many files may have been read since the state was saved:
// a process that opens the sandbox later reads them once more.
const maxUnsaved = 256

// seen takes a look as the last one and saves it where saving is worth its
// price, which is that of the whole list.
func (p *part) seen(dir *os.Root, next *state, read int) error {
	first := p.last == nil
	p.last = next
	if p.unsaved += read; !first && p.unsaved <= maxUnsaved {
		return nil
	}
	p.unsaved = 0
	return next.save(dir)
}

// match fills in the hashes of unchanged files and returns the others. Both
// lists are sorted, so one pass does.
func (p *part) match(entries []entry) (doubtful []*entry) {
	var last []entry
	var read int64
	if p.last != nil {
		last, read = p.last.entries, p.last.read
	}
	for i := range entries {
		e := &entries[i]
		for len(last) > 0 && last[0].path < e.path {
			last = last[1:]
		}
		if e.kind != isFile {
			continue
		}
		if len(last) > 0 && last[0].path == e.path && last[0].kind == isFile &&
			last[0].seen.same(e.seen) && !last[0].seen.racy(read) {
			e.hash, e.size = last[0].hash, last[0].size
			continue
		}
		doubtful = append(doubtful, e)
	}
	return doubtful
}

// hasher fills in hashes and stores what differs from the snapshot.
type hasher struct {
	part *part
	tree *os.Root
	mu   sync.Mutex
	put  *putter
}

func (h *hasher) hash(ctx context.Context, entries []entry, files []*entry) error {
	err := byDir(ctx, files, func(at string, in []*entry, buf []byte) error {
		dir, err := descend(h.tree, at)
		if err != nil {
			return moved(at, err)
		}
		defer dir.Close()
		for _, e := range in {
			if err := h.file(ctx, dir, e, buf); err != nil {
				return moved(e.path, err)
			}
		}
		return nil
	})
	if err != nil || h.put == nil {
		return err
	}
	for i := range entries {
		e := &entries[i]
		if e.kind == isLink && !same(h.part.index[e.path], e) {
			if err := h.put.add(ctx, []byte(e.target)); err != nil {
				return err
			}
		}
	}
	return h.put.flush(ctx)
}

func (h *hasher) file(ctx context.Context, dir *os.Root, e *entry, buf []byte) error {
	hidden := e.mode&0o400 == 0
	if hidden { // a tool's doing; the file is ours all the same
		if err := dir.Chmod(baseName(e), os.FileMode(e.mode|0o400)); err != nil {
			return err
		}
	}
	err := h.read(ctx, dir, e, buf)
	if !hidden || err != nil {
		return err
	}
	if err := dir.Chmod(baseName(e), os.FileMode(e.mode)); err != nil {
		return err
	}
	e.seen, err = lstatFile(dir, baseName(e))
	return err
}

func (h *hasher) read(ctx context.Context, dir *os.Root, e *entry, buf []byte) error {
	d, n, seen, err := hashFile(ctx, dir, baseName(e), e.seen, buf)
	if err != nil {
		return err
	}
	e.hash, e.size, e.seen = d, n, seen
	if was := h.part.index[e.path]; h.put == nil || (was != nil && was.kind == isFile && was.hash == d) {
		return nil
	}
	f, _, err := openFile(dir, baseName(e), seen)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	stored, err := h.put.put(ctx, f, n)
	if err == nil && stored != d {
		err = fault.New(fault.Busy, "%s changed while it was read", e.path).With("path", e.path)
	}
	return errors.Join(err, f.Close())
}
