package sandbox

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

// Sandbox is the trees of one plan, one a resource. Its methods may be called
// from several goroutines and wait for each other.
type Sandbox struct {
	t     *Trees
	parts []*part
	mu    sync.Mutex
}

var _ engine.Sandbox = (*Sandbox)(nil)

// part is one tree with the snapshot that it was forked from.
type part struct {
	base    plan.Base
	dir     string // holds tree and state
	entries []entry
	index   index
	last    *state // of the tree, as it was last looked at
	unsaved int    // files read since last was saved
	rules   gitignore.Matcher
	kept    map[digest]bool // bytes of the snapshot that are in the blob store
}

func (t *Trees) sandbox(ctx context.Context, id ident.PlanID, bases []plan.Base) (*Sandbox, error) {
	s := &Sandbox{t: t}
	for n, base := range bases {
		es, err := t.manifest(ctx, base.Snapshot)
		if err != nil {
			return nil, err
		}
		dir := filepath.Join(t.cfg.Dir, "plans", string(id), strconv.Itoa(n))
		s.parts = append(s.parts, &part{base: base, dir: dir, entries: es, index: indexOf(es)})
	}
	return s, nil
}

// Dir is the tree of the first resource.
func (s *Sandbox) Dir() string { return filepath.Join(s.parts[0].dir, treeName) }

// Scratch is a directory beside the tree of the first resource. It goes with
// the sandbox, and programs may write to it whatever they like.
func (s *Sandbox) Scratch() string { return filepath.Join(s.parts[0].dir, "scratch") }

// Base returns the state of a path in the snapshot of the resource.
func (s *Sandbox) Base(_ context.Context, r ident.ResourceID, path string) (plan.FileState, error) {
	p, err := s.part(r)
	if err != nil {
		return plan.FileState{}, err
	}
	return p.index[path].state(), nil
}

// BaseFile returns the bytes of a regular file in the snapshot of the resource.
func (s *Sandbox) BaseFile(ctx context.Context, r ident.ResourceID, path string, limit int) (_ []byte, err error) {
	p, err := s.part(r)
	if err != nil {
		return nil, err
	}
	e := p.index[path]
	switch {
	case e == nil || e.kind != isFile:
		return nil, fault.New(fault.NotFound, "%s is not a file in the snapshot", path)
	case e.size > int64(limit):
		return nil, fault.New(fault.Exhausted, "%s has %d bytes, at most %d are read", path, e.size, limit)
	}
	b, err := s.t.openBase(ctx, r, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	var out bytes.Buffer
	err = b.copyTo(ctx, e, &out, make([]byte, 32<<10))
	return out.Bytes(), err
}

func (s *Sandbox) part(r ident.ResourceID) (*part, error) {
	for _, p := range s.parts {
		if p.base.Resource == r {
			return p, nil
		}
	}
	return nil, fault.New(fault.NotFound, "the sandbox holds no resource %s", r)
}

// open opens the directory that holds the tree and the state, and the tree.
func (p *part) open() (dir, tree *os.Root, err error) {
	dir, err = os.OpenRoot(p.dir)
	if err == nil {
		tree, err = step(dir, treeName)
		if err != nil {
			dir.Close() // nothing was written through it
		}
	}
	if err != nil {
		return nil, nil, fault.New(fault.Unavailable, "sandbox: %w", err)
	}
	return dir, tree, nil
}
