package gitrepo

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/cleveragents/agents/fault"
)

const (
	maxObject = 64 << 20 // of a tree or commit, which is all that is read
	maxDeltas = 4096     // in a row
	maxStores = 16       // alternates, and theirs
)

// Object is the content of an object with its kind: tree, commit or blob.
type Object struct {
	Kind string
	Body []byte
}

// ID is the object's name.
func (o Object) ID() string {
	h := sha1.New()
	fmt.Fprintf(h, "%s %d\x00", o.Kind, len(o.Body))
	h.Write(o.Body)
	return hex.EncodeToString(h.Sum(nil))
}

// Loose is the object as a file of the repository, and the file's path below
// its common directory.
func (o Object) Loose() (name string, content []byte, err error) {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, err = fmt.Fprintf(z, "%s %d\x00", o.Kind, len(o.Body))
	if err == nil {
		_, err = z.Write(o.Body)
	}
	err = errors.Join(err, z.Close())
	id := o.ID()
	return path.Join("objects", id[:2], id[2:]), b.Bytes(), err
}

// store is one directory of objects with its packs, which are listed on first
// use.
type store struct {
	root  *os.Root
	packs []*pack
	known bool
}

func (s *store) close() {
	for _, p := range s.packs {
		p.file.Close()
	}
	s.root.Close()
}

// openStores opens the repository's objects and those that it borrows.
func openStores(common *os.Root) ([]*store, error) {
	first, err := common.OpenRoot("objects")
	if err != nil {
		return nil, err
	}
	out := []*store{{root: first}}
	for i := 0; i < len(out) && len(out) < maxStores; i++ {
		b, err := small(out[i].root, "info/alternates")
		if err != nil {
			continue // there are none
		}
		for line := range strings.Lines(string(b)) {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, `"`) {
				continue
			}
			if !filepath.IsAbs(line) {
				line = filepath.Join(out[i].root.Name(), line)
			}
			if root, err := os.OpenRoot(line); err == nil {
				out = append(out, &store{root: root})
			}
		}
	}
	return out, nil
}

// Object reads an object and checks its name.
func (r *Repo) Object(id string) (Object, error) {
	if !isID(id) {
		return Object{}, fault.New(fault.Corrupt, "%q is not the name of an object", id)
	}
	for _, s := range r.stores {
		o, err := s.object(id, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return o, unusable(r.Dir, err)
		}
		if o.ID() != id {
			return o, fault.New(fault.Corrupt, "object %s of %s is damaged", id, r.Dir).WithHint("git fsck tells more")
		}
		return o, nil
	}
	return Object{}, fault.New(fault.Unavailable, "object %s is not in %s", id, r.Dir).
		WithHint("a partial clone fetches on demand; run git fetch --refetch, or apply --as files")
}

func (s *store) object(id string, depth int) (Object, error) {
	o, err := s.loose(id)
	if !errors.Is(err, fs.ErrNotExist) {
		return o, err
	}
	if err := s.list(); err != nil {
		return o, err
	}
	raw, err := hex.DecodeString(id)
	if err != nil {
		return o, err
	}
	for _, p := range s.packs {
		if at, ok := p.find(raw); ok {
			return s.packed(p, at, depth)
		}
	}
	return o, fs.ErrNotExist
}

func (s *store) loose(id string) (Object, error) {
	b, err := readFile(s.root, path.Join(id[:2], id[2:]), maxObject)
	if err != nil {
		return Object{}, err
	}
	z, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		return Object{}, err
	}
	all, err := io.ReadAll(io.LimitReader(z, maxObject))
	if err != nil {
		return Object{}, err
	}
	head, body, ok := bytes.Cut(all, []byte{0})
	kind, size, ok2 := strings.Cut(string(head), " ")
	if n, err := strconv.Atoi(size); !ok || !ok2 || err != nil || n != len(body) {
		return Object{}, fault.New(fault.Corrupt, "object %s is damaged", id)
	}
	return Object{kind, body}, nil
}

// list opens the packs that have an index.
func (s *store) list() error {
	if s.known {
		return nil
	}
	s.known = true
	d, err := s.root.Open("pack")
	if absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	names, err := d.Readdirnames(-1)
	if err := errors.Join(err, d.Close()); err != nil {
		return err
	}
	slices.Sort(names)
	for _, n := range names {
		base, ok := strings.CutSuffix(n, ".idx")
		if !ok {
			continue
		}
		index, err := readFile(s.root, path.Join("pack", n), 4<<30)
		if err != nil {
			return err
		}
		f, err := s.root.Open(path.Join("pack", base+".pack"))
		if err != nil {
			continue // an index whose pack is gone
		}
		p := &pack{index: index, file: f}
		if p.count() < 0 {
			return errors.Join(fault.New(fault.Corrupt, "%s is not an index of a pack", n), f.Close())
		}
		s.packs = append(s.packs, p)
	}
	return nil
}

// pack is a pack with its index, of version 2.
type pack struct {
	index []byte
	file  *os.File
}

const fanout = 8

// count is how many objects the pack has, -1 when the index is none of ours.
func (p *pack) count() int {
	if len(p.index) < fanout+256*4 || !bytes.Equal(p.index[:8], []byte{0xff, 't', 'O', 'c', 0, 0, 0, 2}) {
		return -1
	}
	n := int(p.fan(255))
	if len(p.index) < fanout+256*4+n*28+40 {
		return -1
	}
	return n
}

func (p *pack) fan(i int) uint32 { return binary.BigEndian.Uint32(p.index[fanout+i*4:]) }

func (p *pack) find(id []byte) (offset int64, ok bool) {
	n, lo := p.count(), 0
	hi := int(p.fan(int(id[0])))
	if id[0] > 0 {
		lo = int(p.fan(int(id[0]) - 1))
	}
	if n < 0 || lo > hi || hi > n {
		return 0, false
	}
	const names = fanout + 256*4
	at := func(k int) []byte { return p.index[names+k*20 : names+k*20+20] }
	i := lo + sort.Search(hi-lo, func(k int) bool { return bytes.Compare(at(lo+k), id) >= 0 })
	if i == hi || !bytes.Equal(at(i), id) {
		return 0, false
	}
	small := binary.BigEndian.Uint32(p.index[names+n*24+i*4:])
	if small&(1<<31) == 0 {
		return int64(small), true
	}
	far := names + n*28 + int(small&^(1<<31))*8
	if far+8 > len(p.index) {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(p.index[far:])), true
}

// packed reads the object at an offset of a pack.
func (s *store) packed(p *pack, at int64, depth int) (Object, error) {
	if depth > maxDeltas {
		return Object{}, fault.New(fault.Corrupt, "a pack has more than %d deltas in a row", maxDeltas)
	}
	in := bufio.NewReader(io.NewSectionReader(p.file, at, 1<<62-at))
	c, err := in.ReadByte()
	if err != nil {
		return Object{}, err
	}
	kind, size := c>>4&7, int64(c&15)
	for shift := 4; c&0x80 != 0; shift += 7 {
		if c, err = in.ReadByte(); err != nil || shift > 56 {
			return Object{}, errors.Join(err, errPack)
		}
		size |= int64(c&0x7f) << shift
	}
	if size > maxObject {
		return Object{}, errPack
	}
	switch kind {
	case 1, 2, 3, 4:
		body, err := inflate(in, size)
		return Object{[]string{"", "commit", "tree", "blob", "tag"}[kind], body}, err
	case 6:
		back, err := offsetOf(in)
		if err != nil || back <= 0 || back > at {
			return Object{}, errors.Join(err, errPack)
		}
		base, err := s.packed(p, at-back, depth+1)
		if err != nil {
			return Object{}, err
		}
		return patch(base, in, size)
	case 7:
		var id [20]byte
		if _, err := io.ReadFull(in, id[:]); err != nil {
			return Object{}, err
		}
		base, err := s.object(hex.EncodeToString(id[:]), depth+1)
		if err != nil {
			return Object{}, err
		}
		return patch(base, in, size)
	}
	return Object{}, errPack
}

var errPack = errors.New("a pack is damaged")

func inflate(in io.Reader, size int64) ([]byte, error) {
	z, err := zlib.NewReader(in)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(z, size+1))
	if err == nil && int64(len(b)) != size {
		err = errPack
	}
	return b, err
}

// offsetOf reads how far back the base of a delta lies.
func offsetOf(in io.ByteReader) (int64, error) {
	c, err := in.ReadByte()
	n := int64(c & 0x7f)
	for i := 0; err == nil && c&0x80 != 0; i++ {
		if i > 8 {
			return 0, errPack
		}
		c, err = in.ReadByte()
		n = (n+1)<<7 | int64(c&0x7f)
	}
	return n, err
}

// patch makes the object that a delta describes.
func patch(base Object, in io.Reader, size int64) (Object, error) {
	delta, err := inflate(in, size)
	if err != nil {
		return Object{}, err
	}
	return undelta(base, delta)
}

func undelta(base Object, delta []byte) (Object, error) {
	d := bytes.NewReader(delta)
	from, err1 := binary.ReadUvarint(d)
	to, err2 := binary.ReadUvarint(d)
	if err1 != nil || err2 != nil || from != uint64(len(base.Body)) || to > maxObject {
		return Object{}, errPack
	}
	out := make([]byte, 0, min(to, 1<<20))
	for d.Len() > 0 {
		op, _ := d.ReadByte() // there is one
		if op&0x80 == 0 {
			n := int(op)
			if n == 0 || n > d.Len() {
				return Object{}, errPack
			}
			i := len(delta) - d.Len()
			out = append(out, delta[i:i+n]...)
			d.Reset(delta[i+n:])
			continue
		}
		var off, n uint32
		for i := range 7 {
			if op&(1<<i) == 0 {
				continue
			}
			b, err := d.ReadByte()
			if err != nil {
				return Object{}, errPack
			}
			if i < 4 {
				off |= uint32(b) << (8 * i)
			} else {
				n |= uint32(b) << (8 * (i - 4))
			}
		}
		if n == 0 {
			n = 0x10000
		}
		if uint64(off)+uint64(n) > uint64(len(base.Body)) || uint64(len(out))+uint64(n) > to {
			return Object{}, errPack
		}
		out = append(out, base.Body[off:off+n]...)
	}
	if uint64(len(out)) != to {
		return Object{}, errPack
	}
	return Object{base.Kind, out}, nil
}
