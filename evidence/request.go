package evidence

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"math"
	"sort"

	"github.com/cleveragents/agents/fault"
)

// request is one request body as far as it was understood. A later one that
// begins with the same bytes takes over what is before the last mark in them.
type request struct {
	scanner
	format format
	parts  []Part
	finds  []find
	found  []Span // of the parts, in the order of finds
	spans  []Span // all, in the order of the body
	copied int    // so many of them come from the earlier request
	bad    []Mismatch
	hash   string
	base   mark        // up to which an earlier request was taken over; zero for nothing
	sum    hash.Cloner // of body[:sumAt], where something was taken over
	sumAt  int
	texts  *texts
}

// understand makes of a body and its parts what Build promises. Old, which may
// be nil, is left as it is and only saves work: with it the outcome is the
// same.
func understand(body []byte, parts []Part, old *request, known *texts) (*request, error) {
	r := &request{scanner: scanner{body: body}, parts: parts, texts: known}
	r.takeOver(old)
	if err := r.scan(); err != nil {
		if r.base.at > 0 {
			return understand(body, parts, nil, known) // for an error that has the right place
		}
		return nil, err
	}
	if r.format = formatOf(r.names); r.base.at > 0 && r.format != old.format {
		return understand(body, parts, nil, known)
	}
	f := finder{body: body, format: r.format, vals: r.vals, texts: r.texts}
	kept := 0
	if r.base.at > 0 {
		kept = r.keep(&f, old)
	}
	from := 0
	if kept > 0 {
		from = f.finds[kept-1].to
	}
	for from < len(parts) {
		to := groupEnd(parts, from)
		if !f.find(parts, from, to) {
			for i := from; i < to; i++ {
				if parts[i].Text != "" {
					r.bad = append(r.bad, Mismatch{Part: i, Why: fmt.Sprintf("the %s of %s is not in the body as it was composed", parts[i].Kind, parts[i].name())})
				}
			}
		}
		from = to
	}
	r.finds, r.found = f.finds, f.spans
	r.unclaimed()
	r.fill(old, kept)
	return r, r.digest(old)
}

// takeOver brings r to the last mark of old at which both bodies are the same.
func (r *request) takeOver(old *request) {
	if old == nil {
		return
	}
	same := commonPrefix(old.body, r.body)
	n := sort.Search(len(old.marks), func(i int) bool { return old.marks[i].at > same })
	if n == 0 {
		return
	}
	m := old.marks[n-1]
	r.base = m
	r.marks = append(make([]mark, 0, n+8), old.marks[:n]...)
	r.names = old.names[:m.names:m.names]
	for i, count := range m.counts {
		r.vals[i] = append(make([]value, 0, count+8), old.vals[i][:count]...)
		for j := range r.vals[i] {
			if v := &r.vals[i][j]; v.plain {
				v.text = r.body[v.from:v.to] // the old body is let go
			}
		}
	}
}

// commonPrefix returns how many bytes a and b begin with in common.
func commonPrefix(a, b []byte) int {
	const step = 4 << 10
	most := min(len(a), len(b))
	n := 0
	for n+step <= most && bytes.Equal(a[n:n+step], b[n:n+step]) {
		n += step
	}
	for n < most && a[n] == b[n] {
		n++
	}
	return n
}

// keep takes over the first finds of old that would be made again: their parts
// are the same, and everything that decided them is before the mark. It
// returns how many.
func (r *request) keep(f *finder, old *request) int {
	n, from := 0, 0
	for ; n < len(old.finds); n++ {
		g := old.finds[n]
		if g.reach < 0 || g.reach > r.base.counts[g.kind] || g.to > len(r.parts) || groupEnd(r.parts, from) != g.to {
			break
		}
		same := true
		for i := from; i < g.to && same; i++ {
			same = r.parts[i] == old.parts[i]
		}
		if !same {
			break
		}
		if g.next >= 0 {
			f.cursor[g.kind] = g.next
		}
		from = g.to
	}
	for i := range f.vals {
		for j := range f.vals[i] {
			if f.vals[i][j].by > n {
				f.vals[i][j].by = 0
			}
		}
	}
	if n > 0 {
		last := old.finds[n-1]
		f.finds, f.enc = append(make([]find, 0, n+8), old.finds[:n]...), last.enc
		f.spans = append(make([]Span, 0, last.spans+16), old.found[:last.spans]...)
	}
	return n
}

// groupEnd returns where the parts end that are of one value with the one at
// from.
func groupEnd(parts []Part, from int) int {
	to := from + 1
	for to < len(parts) && parts[to].Value == parts[from].Value && parts[to].Kind == parts[from].Kind {
		to++
	}
	return to
}

// unclaimed reports what the body holds and nobody composed.
func (r *request) unclaimed() {
	for i := range r.vals {
		for _, v := range r.vals[i] {
			if v.by == 0 && len(v.text) > 0 && !(v.whole && kindAt(i) == PartArguments && string(v.text) == "{}") {
				r.bad = append(r.bad, Mismatch{Part: -1, At: v.from, Why: fmt.Sprintf("the body holds a %s at byte %d that was not composed", kindAt(i), v.from)})
			}
		}
	}
	sort.SliceStable(r.bad, func(i, j int) bool {
		return r.bad[i].Part < r.bad[j].Part || r.bad[i].Part == r.bad[j].Part && r.bad[i].At < r.bad[j].At
	})
}

// fill puts the spans of the parts in the order of the body, with glue between.
// The first finds are those of old: what is before every other one is copied.
func (r *request) fill(old *request, kept int) {
	copied, at := 0, 0
	if kept > 0 {
		low, same := math.MaxInt, r.finds[kept-1].spans
		for _, rest := range [][]Span{old.found[same:], r.found[same:]} {
			for _, s := range rest {
				low = min(low, s.From)
			}
		}
		copied = sort.Search(len(old.spans), func(i int) bool { return old.spans[i].From >= low })
		for copied > 0 && old.spans[copied-1].Blob == "" {
			copied--
		}
		if copied > 0 {
			at = old.spans[copied-1].To
		}
	}
	var rest []Span
	for _, s := range r.found {
		if s.From >= at {
			rest = append(rest, s)
		}
	}
	sort.Slice(rest, func(i, j int) bool { return rest[i].From < rest[j].From })
	r.copied = copied
	r.spans = make([]Span, 0, copied+2*len(rest)+1)
	if copied > 0 {
		r.spans = append(r.spans, old.spans[:copied]...)
	}
	for _, s := range rest {
		if s.From > at {
			r.spans = append(r.spans, r.glue(at, s.From))
		}
		r.spans = append(r.spans, s)
		at = s.To
	}
	if at < len(r.body) {
		r.spans = append(r.spans, r.glue(at, len(r.body)))
	}
}

func (r *request) glue(from, to int) Span {
	return Span{From: from, To: to, Raw: string(r.body[from:to])}
}

// digest hashes the body. Once two requests began with the same bytes, the
// hash of those is kept for the third.
func (r *request) digest(old *request) error {
	if r.base.at == 0 {
		r.hash = Hash(r.body)
		return nil
	}
	sum, at := sha256.New(), 0
	if old.sum != nil && old.sumAt <= r.base.at {
		c, err := old.sum.Clone()
		if err != nil {
			return fault.New(fault.Internal, "go on with a hash: %w", err)
		}
		sum, at = c, old.sumAt
	}
	_, _ = sum.Write(r.body[at:r.base.at]) // a hash takes everything
	if c, ok := sum.(hash.Cloner); ok {
		kept, err := c.Clone()
		if err != nil {
			return fault.New(fault.Internal, "keep a hash: %w", err)
		}
		r.sum, r.sumAt = kept, r.base.at
	}
	_, _ = sum.Write(r.body[r.base.at:])
	r.hash = hex.EncodeToString(sum.Sum(nil))
	return nil
}
