package evidence

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cleveragents/agents/fault"
)

// value is one place of a body that parts can stand in: the inside of a
// string that is not empty, or a whole JSON value.
type value struct {
	from, to int
	text     []byte // decoded; of a whole value its bytes
	plain    bool   // text is the bytes of the body
	whole    bool   // a JSON value, not the inside of a string
	only     format // the only format that has this place
	by       int    // which find claimed it, from 1; 0 is none
}

// values are the values of each kind, in their order. The last holds none: it
// is for kinds that are none of ours.
type values [6][]value

// index is where a kind is in values.
func (k PartKind) index() int {
	switch k {
	case PartText:
		return 0
	case PartThinking:
		return 1
	case PartArguments:
		return 2
	case PartDescription:
		return 3
	case PartSchema:
		return 4
	}
	return 5
}

func kindAt(index int) PartKind {
	return [...]PartKind{PartText, PartThinking, PartArguments, PartDescription, PartSchema, ""}[index]
}

// mark is the end of an object in an array that is a member of the root, such
// as a message, and what was read up to there. A scan can start again at it.
type mark struct {
	at     int
	names  int                // of members of the root; the array is under the last
	counts [len(values{})]int // of the values of each kind
}

// level is an object or array that the scanner is in.
type level struct {
	object bool
	key    string // of the member whose value is next; an array has the key it stands under
	named  bool   // the key of the next value was read
}

// scanner reads a body into its values.
type scanner struct {
	d     *jsontext.Decoder
	body  []byte
	shift int // what to add to the decoder's offsets
	stack []level
	roots int
	names []string // of the root's members
	vals  values
	marks []mark
}

// scan reads the body from its start, or from the last mark of s when it has
// one, into s. The error is of kind Invalid.
func (s *scanner) scan() error {
	in := s.body
	if len(s.marks) > 0 {
		m := s.marks[len(s.marks)-1]
		head, err := s.opening()
		if err != nil {
			return err
		}
		in, s.shift = append(head, s.body[m.at:]...), m.at-len(head)
		s.d = jsontext.NewDecoder(bytes.NewBuffer(in))
		for s.d.InputOffset() < int64(len(head)) {
			if _, err := s.d.ReadToken(); err != nil {
				return fault.New(fault.Internal, "read a body on from byte %d: %w", m.at, err)
			}
		}
		key := s.names[len(s.names)-1]
		s.stack = append(s.stack, level{object: true, key: key, named: true}, level{key: key})
	} else {
		s.d = jsontext.NewDecoder(bytes.NewBuffer(in))
	}
	for {
		err := s.next()
		if errors.Is(err, io.EOF) && s.roots == 1 && len(s.stack) == 0 {
			return nil
		}
		if err != nil {
			return fault.New(fault.Invalid, "the request body is not one JSON value: %s", strings.TrimPrefix(err.Error(), "jsontext: "))
		}
	}
}

// opening is the shortest text that brings a decoder to where it is at the
// last mark: in the same array of the root, behind an object, with the same
// names taken.
func (s *scanner) opening() (b []byte, err error) {
	open := byte('{')
	for i, name := range s.names {
		b = append(b, open)
		if b, err = jsontext.AppendQuote(b, name); err != nil {
			return nil, fault.New(fault.Internal, "quote a name: %w", err)
		}
		if i < len(s.names)-1 {
			b = append(b, ":0"...)
		}
		open = ','
	}
	return append(b, ":[{}"...), nil
}

func (s *scanner) key() string {
	if len(s.stack) == 0 {
		return ""
	}
	return s.stack[len(s.stack)-1].key
}

// next reads one token, or a value of a part as a whole.
func (s *scanner) next() error {
	kind := s.d.PeekKind()
	switch {
	case kind == '"' && len(s.stack) > 0 && s.stack[len(s.stack)-1].object && !s.stack[len(s.stack)-1].named:
		return s.name()
	case kind == '"':
		return s.str()
	case kind == '{' || kind == '[':
		if k, only := s.place(); k == PartArguments || k == PartSchema && kind == '{' {
			return s.whole(k, only)
		}
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
		if kind == '}' && len(s.stack) == 2 && s.stack[0].object && !s.stack[1].object {
			m := mark{at: s.offset(), names: len(s.names)}
			for i := range s.vals {
				m.counts[i] = len(s.vals[i])
			}
			s.marks = append(s.marks, m)
		}
	default:
		s.ended()
	}
	return nil
}

func (s *scanner) offset() int { return int(s.d.InputOffset()) + s.shift }

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
	if len(s.stack) == 1 {
		s.names = append(s.names, top.key)
	}
	return nil
}

func (s *scanner) str() error {
	kind, only := s.place()
	raw, err := s.d.ReadValue()
	if err != nil {
		return err
	}
	defer s.ended()
	if kind == "" || kind == PartSchema || len(raw) == len(`""`) {
		return nil // an empty string holds no bytes of any part
	}
	to := s.offset() - 1
	v := value{from: to + 2 - len(raw), to: to, plain: true, only: only}
	v.text = s.body[v.from:v.to]
	if bytes.IndexByte(v.text, '\\') >= 0 {
		v.plain = false
		if v.text, err = jsontext.AppendUnquote(make([]byte, 0, len(raw)), raw); err != nil {
			return err
		}
	}
	s.vals[kind.index()] = append(s.vals[kind.index()], v)
	return nil
}

func (s *scanner) whole(kind PartKind, only format) error {
	raw, err := s.d.ReadValue()
	if err != nil {
		return err
	}
	defer s.ended()
	to := s.offset()
	from := to - len(raw)
	s.vals[kind.index()] = append(s.vals[kind.index()], value{from: from, to: to, text: s.body[from:to], plain: true, whole: true, only: only})
	return nil
}
