package evidence

import (
	"encoding/json"
	"fmt"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
)

// MaxChain is how many manifests, the last one with it, Resolve reads at most.
const MaxChain = 32

// Tracker builds the manifests of the requests of one conversation, each on
// the one before: it reads, searches and hashes only what has changed. The
// zero value is ready, and begins with a whole manifest.
type Tracker struct {
	last  *request // whose manifest is stored
	next  *request // of the last Next
	name  string   // blob of the last one's manifest
	chain int      // manifests that it takes to resolve it
	grown int      // and the next one
}

// Tracked is what Next found out about one request.
type Tracked struct {
	Manifest   Manifest   // to be stored as JSON
	Parts      []Part     // Parts of the request
	Mismatches []Mismatch // as Build reports them
	Fresh      []Text     // texts of the manifest that the stored ones may not have named
}

// Next returns what Build(body, Parts(r)) does, with the manifest resting on
// the last one that was stored. The body must not be changed any more. What
// it returned counts for later ones only after Stored. A request that has less
// than half of its spans in common with the last one gets a whole manifest.
func (t *Tracker) Next(body []byte, r actor.Request) (Tracked, error) {
	var known *texts
	if t.last != nil {
		known = t.last.texts
	}
	known = newTexts(known)
	n, err := understand(body, known.parts(r), t.last, known)
	if err != nil {
		return Tracked{}, err
	}
	t.next, t.grown = n, 1
	m := Manifest{Body: n.hash, Size: len(body), Spans: n.spans}
	if t.last != nil && t.chain < MaxChain {
		keep := commonSpans(t.last.spans, n.spans, n.copied)
		tail := commonTail(t.last.spans[keep:], n.spans[keep:], len(body)-len(t.last.body))
		if 2*(keep+tail) >= len(n.spans) {
			m.Base, m.Keep, m.Tail, m.Spans = t.name, keep, tail, n.spans[keep:len(n.spans)-tail]
			t.grown = t.chain + 1
		}
	}
	return Tracked{Manifest: m, Parts: n.parts, Mismatches: n.bad, Fresh: n.texts.fresh}, nil
}

// Stored says that the manifest of the last Next is in the blob store by that
// name, and its texts too.
func (t *Tracker) Stored(name string) {
	if t.next == nil {
		return
	}
	t.last, t.next, t.name, t.chain = t.next, nil, name, t.grown
	t.last.texts.stored()
}

// commonSpans returns how many spans a and b begin with in common; n are known.
func commonSpans(a, b []Span, n int) int {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// commonTail returns how many spans a and b end with in common, those of b by
// bytes further on.
func commonTail(a, b []Span, by int) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n].moved(by) == b[len(b)-1-n] {
		n++
	}
	return n
}

func (s Span) moved(by int) Span {
	s.From += by
	s.To += by
	return s
}

// Resolve returns the manifest with all its spans and without a base. A base
// that is not there, is not a manifest or has too few spans, and a chain that
// is too long, are of kind Corrupt; another error of get is returned with a
// trail.
func (m Manifest) Resolve(get func(hash string) ([]byte, error)) (Manifest, error) {
	chain := []Manifest{m}
	for base := m.Base; base != ""; base = chain[len(chain)-1].Base {
		if len(chain) == MaxChain {
			return Manifest{}, fault.New(fault.Corrupt, "the manifest rests on more than %d others", MaxChain-1)
		}
		b, err := get(base)
		if fault.Is(err, fault.NotFound) {
			return Manifest{}, fault.New(fault.Corrupt, "the manifest rests on %.12s, which is gone", base)
		}
		if err != nil {
			return Manifest{}, fmt.Errorf("manifest %.12s: %w", base, err)
		}
		var next Manifest
		if err := json.Unmarshal(b, &next); err != nil {
			return Manifest{}, fault.New(fault.Corrupt, "the manifest rests on %.12s, which is not one: %w", base, err)
		}
		chain = append(chain, next)
	}
	var spans []Span
	size := 0
	for i := len(chain) - 1; i >= 0; i-- {
		c := chain[i]
		if c.Keep < 0 || c.Tail < 0 || c.Keep > len(spans) || c.Tail > len(spans)-c.Keep {
			return Manifest{}, fault.New(fault.Corrupt, "the manifest keeps %d and %d spans of %d", c.Keep, c.Tail, len(spans))
		}
		tail := spans[len(spans)-c.Tail:]
		spans = append(spans[:c.Keep:c.Keep], c.Spans...)
		for _, s := range tail {
			spans = append(spans, s.moved(c.Size-size))
		}
		size = c.Size
	}
	m.Base, m.Keep, m.Tail, m.Spans = "", 0, 0, spans
	return m, nil
}
