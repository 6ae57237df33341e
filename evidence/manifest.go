package evidence

import (
	"fmt"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
)

// Manifest says of every byte of one request body what it was. Its spans are
// in order and without gaps: their bytes, one after the other, are the body.
// The texts of the parts are in the blob store, everything between them (the
// provider's format) is in the manifest itself.
//
// The manifest of a conversation's next request may leave out the spans that
// it has in common with the one before: Base names that one, its first Keep
// spans stand before Spans, and its last Tail ones behind, moved by as many
// bytes as the body has grown. Resolve gives all of them.
type Manifest struct {
	Body  string `json:"body"`           // SHA-256 of the body
	Size  int    `json:"size"`           // bytes of the body
	Base  string `json:"base,omitempty"` // blob: Manifest; "" for none
	Keep  int    `json:"keep,omitempty"`
	Tail  int    `json:"tail,omitempty"`
	Spans []Span `json:"spans"`
}

// Span is one range of the body. A span without a blob is glue, and its bytes
// are Raw. At and Of place a part in its JSON string: the part's text starts
// At bytes into the decoded string, which is Of bytes long.
type Span struct {
	From   int        `json:"from"`
	To     int        `json:"to"` // exclusive
	Kind   PartKind   `json:"kind,omitempty"`
	Role   actor.Role `json:"role,omitempty"`
	Slot   string     `json:"slot,omitempty"`
	Origin string     `json:"origin,omitempty"`
	Reason string     `json:"reason,omitempty"`
	Blob   string     `json:"blob,omitempty"` // SHA-256 of the part's text
	Enc    Encoding   `json:"enc,omitempty"`
	At     int        `json:"at,omitempty"`
	Of     int        `json:"of,omitempty"`
	Raw    string     `json:"raw,omitempty"`
}

// Mismatch is a difference between what was composed and what was sent. Part
// is the index of a part that is not in the body, or -1 for a text in the
// body, at byte At, that nobody composed.
type Mismatch struct {
	Part int
	At   int
	Why  string
}

// Build finds every part in the body and returns the manifest. The parts'
// texts are what has to be in the blob store for Assemble. A part with an
// empty text has no bytes, so it has no span and is never missing; so it is in
// Gemini's format with arguments of {}, which that leaves out.
//
// The wire check passed when there is no mismatch; the manifest is complete
// and assembles in either case, a part that was not found being glue. The
// error is of kind Invalid: the body is not one strict JSON value.
//
// The body is read once into the values that parts can stand in, each with
// its key. The parts of one value have to fill a value of their kind
// completely, or a run of values one by one; the search starts behind the
// last find, so that equal texts find different places, and no value is found
// twice. It does not check the order of messages nor their wire roles.
func Build(body []byte, parts []Part) (Manifest, []Mismatch, error) {
	r, err := understand(body, parts, nil, newTexts(nil))
	if err != nil {
		return Manifest{}, nil, err
	}
	return Manifest{Body: r.hash, Size: len(body), Spans: r.spans}, r.bad, nil
}

func (p Part) name() string {
	if p.Origin == "" {
		return "a " + p.Slot
	}
	return p.Slot + " " + p.Origin
}

// Assemble returns the body, made from the spans and the blobs that get
// returns, and checked against its hash. A manifest that does not give its
// body is of kind Corrupt; an error of get is returned with a trail.
func (m Manifest) Assemble(get func(hash string) ([]byte, error)) ([]byte, error) {
	m, err := m.Resolve(get)
	if err != nil {
		return nil, err
	}
	var body []byte
	for i, s := range m.Spans {
		if s.From != len(body) {
			return nil, fault.New(fault.Corrupt, "manifest span %d starts at byte %d, not at %d", i, s.From, len(body))
		}
		var err error
		if body, err = s.append(body, get); err != nil {
			return nil, fmt.Errorf("manifest span %d: %w", i, err)
		}
		if s.To != len(body) || s.To > m.Size {
			return nil, fault.New(fault.Corrupt, "manifest span %d ends at byte %d, not at %d", i, len(body), s.To)
		}
	}
	if len(body) != m.Size || Hash(body) != m.Body {
		return nil, fault.New(fault.Corrupt, "the manifest's spans are not the request body %.12s", m.Body)
	}
	return body, nil
}

func (s Span) append(body []byte, get func(hash string) ([]byte, error)) ([]byte, error) {
	if s.Blob == "" || s.Enc == EncodedRaw {
		return append(body, s.Raw...), nil
	}
	text, err := get(s.Blob)
	if err != nil {
		return nil, err
	}
	out, ok := s.Enc.append(body, string(text))
	if !ok {
		return nil, fault.New(fault.Corrupt, "unknown encoding %q", string(s.Enc))
	}
	return out, nil
}

// Verify reports whether the manifest and the blobs still give the body.
func (m Manifest) Verify(get func(hash string) ([]byte, error)) error {
	_, err := m.Assemble(get)
	return err
}
