package bundle

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

// Survey looks whether the blobs that plans name are there and whole, by
// reading them. It follows request manifests to the texts in them and change
// sets to the files in them. What was read for one plan is not read again for
// the next. It is not for several goroutines at once.
type Survey struct {
	Get func(ctx context.Context, hash string) ([]byte, error)
	Max int // most blobs to read; beyond it the survey is a sample. 0 is no limit

	Read    int  // blobs that were read
	Sampled bool // some were left out
	known   map[string]error
}

// Lost is a blob that a plan names and that cannot be read.
type Lost struct {
	Hash string
	Err  error
}

// Plan returns the blobs of one plan that are lost, by hash. What the plan
// cannot go on without comes first in what is read: its snapshots, its change
// set, its variables. An error is of the search, not of a blob.
func (s *Survey) Plan(ctx context.Context, h engine.History) ([]Lost, error) {
	if s.known == nil {
		s.known = map[string]error{}
	}
	lost := map[string]error{}
	todo := s.first(h)
	queued := map[string]bool{}
	for _, t := range todo {
		queued[t.hash] = true
	}
	for len(todo) > 0 {
		t := todo[0]
		todo = todo[1:]
		b, err := s.read(ctx, t)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			lost[t.hash] = err
			continue
		}
		for _, next := range t.inside(b) {
			if next.hash != "" && !queued[next.hash] {
				queued[next.hash] = true
				todo = append(todo, next)
			}
		}
	}
	var out []Lost
	for hash, err := range lost {
		out = append(out, Lost{hash, err})
	}
	slices.SortFunc(out, func(a, b Lost) int { return cmp.Compare(a.Hash, b.Hash) })
	return out, nil
}

// find is a blob to read, and how what is in it names others.
type find struct {
	hash string
	what content
}

type content int

const (
	opaque content = iota
	manifest
	changes
)

// first lists what the rows name, the vital ones first.
func (s *Survey) first(h engine.History) []find {
	n := namesOf(h)
	vital := map[string]content{}
	for _, b := range h.Plan.Bases {
		vital[b.Snapshot] = opaque
	}
	vital[h.Plan.Vars], vital[h.Plan.Changed] = opaque, changes
	for _, l := range h.Plan.Landed { // what is left of a plan is what it changes without these
		vital[l.Changes] = changes
	}
	kinds := map[string]content{}
	for _, c := range h.Checkpoints {
		kinds[c.Changes] = changes
	}
	for hash := range n.manifests {
		kinds[hash] = manifest
	}
	var first, rest []find
	for _, hash := range n.wanted(false) {
		if what, ok := vital[hash]; ok {
			first = append(first, find{hash, what})
		} else {
			rest = append(rest, find{hash, kinds[hash]})
		}
	}
	return append(first, s.sample(rest)...)
}

// sample takes as many as may still be read, spread over all: the hashes are
// in order, so any part of them is a fair one.
func (s *Survey) sample(all []find) []find {
	if s.Max == 0 {
		return all
	}
	left := max(s.Max-s.Read, 0)
	if len(all) <= left {
		return all
	}
	s.Sampled = true
	out := make([]find, 0, left)
	for i := range left {
		out = append(out, all[i*len(all)/left])
	}
	return out
}

// read returns the bytes of a blob where others may be named in them. Beyond
// the limit it returns none.
func (s *Survey) read(ctx context.Context, f find) ([]byte, error) {
	if err, ok := s.known[f.hash]; ok && (err != nil || f.what == opaque) {
		return nil, err
	} else if !ok {
		if s.Max > 0 && s.Read >= s.Max {
			s.Sampled = true
			return nil, nil
		}
		s.Read++
	}
	b, err := s.Get(ctx, f.hash)
	if ctx.Err() == nil {
		s.known[f.hash] = err
	}
	return b, err
}

func (f find) inside(b []byte) (out []find) {
	switch f.what {
	case manifest:
		base, texts := partsOf(b)
		if base != "" {
			out = append(out, find{base, manifest})
		}
		for _, hash := range texts {
			out = append(out, find{hash, opaque})
		}
	case changes:
		var set plan.ChangeSet
		if json.Unmarshal(b, &set) != nil {
			return nil
		}
		for _, c := range set {
			for _, state := range []plan.FileState{c.Before, c.After} {
				if state.Kind == plan.Regular || state.Kind == plan.Symlink {
					out = append(out, find{state.Hash, opaque})
				}
			}
		}
	}
	return out
}

// Missing reports whether the blob is not there at all; otherwise what is there
// cannot be read.
func (l Lost) Missing() bool { return fault.Is(l.Err, fault.NotFound) }
