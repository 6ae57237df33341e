package evidence

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cleveragents/agents/fault"
)

// value is one place of a body that parts can stand in: the inside of a
// string that is not empty, or a whole JSON value for a schema.
type value struct {
	kind     PartKind
	from, to int
	text     []byte // decoded; a schema's bytes as they are
	claimed  bool
}

func kindOf(key string) PartKind {
	switch key {
	case "content", "text":
		return PartText
	case "reasoning_content", "reasoning", "thinking":
		return PartThinking
	case "arguments":
		return PartArguments
	case "description":
		return PartDescription
	case "parameters", "input_schema":
		return PartSchema
	}
	return ""
}

// scan reads the body into the values of each kind, in their order.
func scan(body []byte) (map[PartKind][]*value, error) {
	s := scanner{d: jsontext.NewDecoder(bytes.NewBuffer(body)), body: body, vals: map[PartKind][]*value{}}
	for {
		err := s.next()
		if errors.Is(err, io.EOF) && s.roots == 1 && len(s.stack) == 0 {
			return s.vals, nil
		}
		if err != nil {
			return nil, fault.New(fault.Invalid, "the request body is not one JSON value: %s", strings.TrimPrefix(err.Error(), "jsontext: "))
		}
	}
}

// level is an object or array that the scanner is in.
type level struct {
	object bool
	key    string // of the member whose value is next; an array has the key it stands under
	named  bool   // the key of the next value was read
}

type scanner struct {
	d     *jsontext.Decoder
	body  []byte
	stack []level
	roots int
	vals  map[PartKind][]*value
}

func (s *scanner) key() string {
	if len(s.stack) == 0 {
		return ""
	}
	return s.stack[len(s.stack)-1].key
}

// next reads one token, or a schema as a whole.
func (s *scanner) next() error {
	kind := s.d.PeekKind()
	switch {
	case kind == '"' && len(s.stack) > 0 && s.stack[len(s.stack)-1].object && !s.stack[len(s.stack)-1].named:
		return s.name()
	case kind == '"':
		return s.str()
	case kind == '{' && kindOf(s.key()) == PartSchema:
		return s.schema()
	}
	if _, err := s.d.ReadToken(); err != nil {
		return err
	}
	switch kind {
	case '{':
		s.stack = append(s.stack, level{object: true})
	case '[':
		s.stack = append(s.stack, level{key: s.key()})
	case '}', ']':
		s.stack = s.stack[:len(s.stack)-1]
		s.ended()
	default:
		s.ended()
	}
	return nil
}

func (s *scanner) ended() {
	if len(s.stack) == 0 {
		s.roots++
		return
	}
	s.stack[len(s.stack)-1].named = false
}

func (s *scanner) name() error {
	raw, err := s.d.ReadValue()
	if err != nil {
		return err
	}
	key, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return err
	}
	top := &s.stack[len(s.stack)-1]
	top.key, top.named = string(key), true
	return nil
}

func (s *scanner) str() error {
	raw, err := s.d.ReadValue()
	if err != nil {
		return err
	}
	defer s.ended()
	kind := kindOf(s.key())
	if kind == "" || kind == PartSchema || len(raw) == len(`""`) {
		return nil // an empty string holds no bytes of any part
	}
	to := int(s.d.InputOffset()) - 1
	v := &value{kind: kind, from: to + 2 - len(raw), to: to}
	v.text = s.body[v.from:v.to]
	if bytes.IndexByte(v.text, '\\') >= 0 {
		if v.text, err = jsontext.AppendUnquote(make([]byte, 0, len(raw)), raw); err != nil {
			return err
		}
	}
	s.vals[kind] = append(s.vals[kind], v)
	return nil
}

func (s *scanner) schema() error {
	raw, err := s.d.ReadValue()
	if err != nil {
		return err
	}
	defer s.ended()
	to := int(s.d.InputOffset())
	from := to - len(raw)
	s.vals[PartSchema] = append(s.vals[PartSchema], &value{kind: PartSchema, from: from, to: to, text: s.body[from:to]})
	return nil
}

// finder claims values for parts.
type finder struct {
	body   []byte
	vals   map[PartKind][]*value
	cursor map[PartKind]int // index behind the last find
	spans  []Span
	enc    Encoding // of the last span, "" before
	buf    []byte
}

// find claims the place of parts that were composed into one value and adds
// their spans; false when there is none.
func (f *finder) find(parts []Part) bool {
	size, full := 0, make([]Part, 0, len(parts))
	for _, p := range parts {
		if !utf8.ValidString(p.Text) {
			return false // no JSON string says this
		}
		size += len(p.Text)
		if p.Text != "" {
			full = append(full, p)
		}
	}
	if size == 0 {
		return true
	}
	if f.cursor == nil {
		f.cursor = map[PartKind]int{}
	}
	kind := full[0].Kind
	vals := f.vals[kind]
	start := f.cursor[kind]
	for n := range vals {
		i := (start + n) % len(vals)
		var took int
		switch {
		case vals[i].claimed:
			continue
		case kind == PartSchema && len(full) == 1 && sameJSON(vals[i].text, full[0].Text):
			f.claimSchema(vals[i], full[0])
			took = 1
		case kind == PartSchema:
			continue
		case len(vals[i].text) == size && joins(vals[i].text, full):
			f.claim(vals[i], full)
			took = 1
		case len(full) > 1 && each(vals[i:], full):
			for j := range full {
				f.claim(vals[i+j], full[j:j+1])
			}
			took = len(full)
		default:
			continue
		}
		f.cursor[kind] = (i + took) % len(vals)
		return true
	}
	return false
}

func joins(text []byte, parts []Part) bool {
	for _, p := range parts {
		if string(text[:len(p.Text)]) != p.Text {
			return false
		}
		text = text[len(p.Text):]
	}
	return true
}

func each(vals []*value, parts []Part) bool {
	if len(vals) < len(parts) {
		return false
	}
	for i, p := range parts {
		if vals[i].claimed || string(vals[i].text) != p.Text {
			return false
		}
	}
	return true
}

// claim adds the spans of parts that fill v.
func (f *finder) claim(v *value, parts []Part) {
	v.claimed = true
	raw, from, at := f.body[v.from:v.to], v.from, 0
	for _, p := range parts {
		s := p.span(at, len(v.text))
		var n int
		s.Enc, n = encodingOf(raw, p.Text, f.enc, &f.buf)
		if s.Enc == EncodedRaw {
			s.Raw = string(raw[:n])
		} else {
			f.enc = s.Enc
		}
		s.From, s.To = from, from+n
		f.spans = append(f.spans, s)
		raw, from, at = raw[n:], s.To, at+len(p.Text)
	}
}

// claimSchema adds the span of a schema, which may be written in another way
// than its canonical text.
func (f *finder) claimSchema(v *value, p Part) {
	v.claimed = true
	s := p.span(0, len(p.Text))
	s.From, s.To, s.Enc = v.from, v.to, EncodedText
	if string(v.text) != p.Text {
		s.Enc, s.Raw = EncodedRaw, string(v.text)
	}
	f.spans = append(f.spans, s)
}

func sameJSON(raw []byte, text string) bool {
	if string(raw) == text {
		return true
	}
	c, ok := canonical(raw)
	return ok && string(c) == text
}

func (p Part) span(at, of int) Span {
	return Span{Kind: p.Kind, Role: p.Role, Slot: p.Slot, Origin: p.Origin, Reason: p.Reason, Blob: Hash([]byte(p.Text)), At: at, Of: of}
}
