package sandbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/cleveragents/agents/fault"
)

// state is a stat cache on disk: what a tree held when it was last looked at.
// It is only a help. One that is missing or damaged reads as not there, and
// what it would have told is found by reading files.
type state struct {
	location string // of the live tree, for a base
	manifest string // hash of the manifest, for a base
	read     int64  // the file system's time; see stamp.racy
	entries  []entry
}

const (
	stateName = "state"
	stateHead = "agents tree 1\n"
)

func (s *state) encode() []byte {
	b := make([]byte, 0, 256+len(s.entries)*160)
	b = append(b, stateHead...)
	b = putString(b, s.location)
	b = putString(b, s.manifest)
	b = binary.AppendVarint(b, s.read)
	b = binary.AppendUvarint(b, uint64(len(s.entries)))
	for i := range s.entries {
		e := &s.entries[i]
		b = append(b, byte(e.kind))
		b = putString(b, e.path)
		b = binary.AppendUvarint(b, uint64(e.mode))
		b = binary.AppendVarint(b, e.size)
		b = putStamp(b, e.seen)
		switch e.kind {
		case isFile:
			b = append(b, e.hash[:]...)
			b = putStamp(b, e.ours)
		case isLink:
			b = append(b, e.hash[:]...)
			b = putString(b, e.target)
		case isSpecial:
			b = putString(b, e.what)
		}
	}
	d := sha256.Sum256(b)
	return append(b, d[:]...)
}

func putString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func putStamp(b []byte, s stamp) []byte {
	b = binary.AppendVarint(b, s.size)
	b = binary.AppendVarint(b, s.mtime)
	b = binary.AppendVarint(b, s.ctime-s.mtime)
	b = binary.AppendUvarint(b, s.ino)
	b = binary.AppendUvarint(b, s.dev)
	return binary.AppendUvarint(b, uint64(s.mode))
}

// parser reads the parts of a state; bad says that one was not there.
type parser struct {
	b   []byte
	bad bool
}

func (p *parser) take(n uint64) []byte {
	if p.bad || n > uint64(len(p.b)) {
		p.bad = true
		return nil
	}
	out := p.b[:n]
	p.b = p.b[n:]
	return out
}

func (p *parser) uint() uint64 {
	v, n := binary.Uvarint(p.b)
	p.take(uint64(max(n, 0)))
	p.bad = p.bad || n <= 0
	return v
}

func (p *parser) int() int64 {
	v, n := binary.Varint(p.b)
	p.take(uint64(max(n, 0)))
	p.bad = p.bad || n <= 0
	return v
}

func (p *parser) string() string { return string(p.take(p.uint())) }

func (p *parser) stamp() (s stamp) {
	s.size, s.mtime = p.int(), p.int()
	s.ctime = s.mtime + p.int()
	s.ino, s.dev = p.uint(), p.uint()
	s.mode = uint32(p.uint())
	return s
}

func parseState(b []byte) (*state, bool) {
	if len(b) < len(stateHead)+sha256.Size || !bytes.HasPrefix(b, []byte(stateHead)) {
		return nil, false
	}
	end := len(b) - sha256.Size
	if d := sha256.Sum256(b[:end]); !bytes.Equal(d[:], b[end:]) {
		return nil, false
	}
	p := &parser{b: b[len(stateHead):end]}
	s := &state{location: p.string(), manifest: p.string(), read: p.int()}
	n := p.uint()
	if n > uint64(len(p.b)) {
		return nil, false
	}
	s.entries = make([]entry, n)
	for i := range s.entries {
		p.entry(&s.entries[i])
	}
	return s, !p.bad && len(p.b) == 0
}

func (p *parser) entry(e *entry) {
	if k := p.take(1); k != nil {
		e.kind = kind(k[0])
	}
	e.path = p.string()
	e.mode = uint32(p.uint())
	e.size = p.int()
	e.seen = p.stamp()
	switch e.kind {
	case isFile:
		copy(e.hash[:], p.take(sha256.Size))
		e.ours = p.stamp()
	case isLink:
		copy(e.hash[:], p.take(sha256.Size))
		e.target = p.string()
	case isDir:
	case isSpecial:
		e.what = p.string()
	default:
		p.bad = true
	}
}

// loadState returns nil when there is no usable state in dir.
func loadState(dir *os.Root) (*state, error) {
	want, err := lstatFile(dir, stateName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unreadable(stateName, err)
	}
	f, _, err := openFile(dir, stateName, want)
	if err != nil {
		return nil, unreadable(stateName, err)
	}
	b, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, unreadable(stateName, err)
	}
	if s, ok := parseState(b); ok {
		return s, nil
	}
	return nil, nil
}

func (s *state) save(dir *os.Root) error {
	err := writeFile(dir, stateName, writer{mode: 0o600, fill: func(f *os.File) error {
		_, err := f.Write(s.encode())
		return err
	}})
	if err != nil {
		return fault.New(fault.Unavailable, "sandbox: %w", err)
	}
	return nil
}

// clock returns the time as the file system of dir tells it: stamps can only
// be compared with that.
func clock(dir *os.Root) (int64, error) {
	const name = ".clock"
	f, err := create(dir, name)
	if err != nil {
		return 0, fault.New(fault.Unavailable, "sandbox: %w", err)
	}
	fi, err := f.Stat()
	if err := errors.Join(err, f.Close(), dir.Remove(name)); err != nil {
		return 0, fault.New(fault.Unavailable, "sandbox: %w", err)
	}
	return fi.ModTime().UnixNano(), nil
}
