package gitrepo

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"

	"github.com/cleveragents/agents/fault"
)

// maxIndex bounds the index of a repository.
const maxIndex = 1 << 30

// Stat is what the index keeps of a file, so that git need not read it.
type Stat struct {
	CSec, CNano, MSec, MNano  uint32
	Dev, Ino, UID, GID, Bytes uint32
}

// slot is one entry of the index: the bytes of its fixed part, without flags.
type slot struct {
	fixed [60]byte
	flags uint16
	more  uint16 // of version 3
	name  string
}

const (
	flagExtended = 0x4000
	flagStage    = 0x3000
	flagName     = 0x0fff
)

// Index returns the index with the edits in it, as bytes. Other entries stay as
// they are, staged changes too. What only makes git faster is left out; git
// makes it again.
func (r *Repo) Index(edits []Edit, stats map[string]Stat) (before, after []byte, err error) {
	before, err = readFile(r.git, "index", maxIndex)
	if absent(err) {
		before, err = nil, nil
	}
	if err != nil {
		return nil, nil, unusable(r.Dir, err)
	}
	all, err := parseIndex(before)
	if err != nil {
		return nil, nil, unknown(r.Dir, err.Error())
	}
	for _, s := range all {
		if s.flags&flagStage != 0 {
			return nil, nil, fault.New(fault.Conflict, "%s has unmerged paths, such as %s", r.Dir, s.name).
				WithHint("end the merge first, or apply --as files")
		}
	}
	for _, e := range edits {
		all = slices.DeleteFunc(all, func(s slot) bool { return s.name == e.Path })
		if e.Now.ID == "" {
			continue
		}
		s, err := newSlot(e, stats[e.Path])
		if err != nil {
			return nil, nil, err
		}
		all = append(all, s)
	}
	return before, encodeIndex(all), nil
}

func newSlot(e Edit, st Stat) (s slot, err error) {
	mode, err := strconv.ParseUint(e.Now.Mode, 8, 32)
	if err != nil {
		return s, fault.New(fault.Internal, "mode %q: %w", e.Now.Mode, err)
	}
	for i, v := range []uint32{st.CSec, st.CNano, st.MSec, st.MNano, st.Dev, st.Ino, uint32(mode), st.UID, st.GID, st.Bytes} {
		binary.BigEndian.PutUint32(s.fixed[i*4:], v)
	}
	id, err := hex.DecodeString(e.Now.ID)
	if err != nil || len(id) != 20 {
		return s, fault.New(fault.Internal, "%q is not the name of an object", e.Now.ID)
	}
	copy(s.fixed[40:], id)
	s.name = e.Path
	return s, nil
}

// indexError is why an index cannot be written by us.
type indexError string

func (e indexError) Error() string { return string(e) }

const errIndex = indexError("its index cannot be read")

func parseIndex(b []byte) ([]slot, error) {
	if len(b) == 0 {
		return nil, nil
	}
	if len(b) < 12+20 || string(b[:4]) != "DIRC" {
		return nil, errIndex
	}
	version, n := binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	if version < 2 || version > 4 {
		return nil, indexError("its index has version " + strconv.Itoa(int(version)))
	}
	sum := sha1.Sum(b[:len(b)-20])
	if end := b[len(b)-20:]; !bytes.Equal(sum[:], end) && !bytes.Equal(end, make([]byte, 20)) {
		return nil, errIndex
	}
	rest, last := b[12:len(b)-20], ""
	var out []slot
	for range n {
		var s slot
		if len(rest) < 62 {
			return nil, errIndex
		}
		copy(s.fixed[:], rest)
		s.flags = binary.BigEndian.Uint16(rest[60:])
		used := 62
		if s.flags&flagExtended != 0 {
			if version < 3 || len(rest) < 64 {
				return nil, errIndex
			}
			s.more, used = binary.BigEndian.Uint16(rest[62:]), 64
		}
		if version == 4 {
			strip, k := varint(rest[used:])
			if k == 0 || strip > len(last) {
				return nil, errIndex
			}
			used += k
			end := bytes.IndexByte(rest[used:], 0)
			if end < 0 {
				return nil, errIndex
			}
			s.name = last[:len(last)-strip] + string(rest[used:used+end])
			used += end + 1
		} else {
			end := bytes.IndexByte(rest[used:], 0)
			if end < 0 {
				return nil, errIndex
			}
			s.name = string(rest[used : used+end])
			used = (used + end + 8) &^ 7
		}
		if used > len(rest) || s.name == "" {
			return nil, errIndex
		}
		rest, last = rest[used:], s.name
		out = append(out, s)
	}
	for len(rest) > 0 { // extensions: those in capitals may be left out
		if len(rest) < 8 {
			return nil, errIndex
		}
		if c := rest[0]; c < 'A' || c > 'Z' {
			return nil, indexError("its index is split or sparse")
		}
		size := uint64(binary.BigEndian.Uint32(rest[4:])) + 8
		if size > uint64(len(rest)) {
			return nil, errIndex
		}
		rest = rest[size:]
	}
	return out, nil
}

// varint reads a number as packs write offsets, and how many bytes it took.
func varint(b []byte) (n, used int) {
	for i, c := range b {
		if i > 4 {
			return 0, 0
		}
		if i > 0 {
			n++
		}
		n = n<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return n, i + 1
		}
	}
	return 0, 0
}

func encodeIndex(all []slot) []byte {
	slices.SortFunc(all, func(a, b slot) int { return bytes.Compare([]byte(a.name), []byte(b.name)) })
	version := uint32(2)
	for _, s := range all {
		if s.more != 0 {
			version = 3
		}
	}
	var b bytes.Buffer
	b.WriteString("DIRC")
	b.Write(binary.BigEndian.AppendUint32(nil, version))
	b.Write(binary.BigEndian.AppendUint32(nil, uint32(len(all))))
	for _, s := range all {
		start := b.Len()
		b.Write(s.fixed[:])
		flags := s.flags&^(flagName|flagExtended) | uint16(min(len(s.name), flagName))
		if s.more != 0 {
			flags |= flagExtended
		}
		b.Write(binary.BigEndian.AppendUint16(nil, flags))
		if s.more != 0 {
			b.Write(binary.BigEndian.AppendUint16(nil, s.more))
		}
		b.WriteString(s.name)
		b.Write(make([]byte, 8-(b.Len()-start)%8))
	}
	sum := sha1.Sum(b.Bytes())
	b.Write(sum[:])
	return b.Bytes()
}
