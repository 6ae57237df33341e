package sandbox

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"slices"
	"strings"

	"github.com/cleveragents/agents/plan"
)

// kind is what a path of a tree is.
type kind byte

const (
	isFile    kind = 'f'
	isDir     kind = 'd'
	isLink    kind = 'l'
	isSpecial kind = 's' // seen, and left out
)

type digest [sha256.Size]byte

func (d digest) String() string { return hex.EncodeToString(d[:]) }

func sum(b []byte) digest { return sha256.Sum256(b) }

func digestOf(hash string) (d digest, ok bool) {
	b, err := hex.DecodeString(hash)
	copy(d[:], b)
	return d, err == nil && len(b) == len(d)
}

// entry is one path of a tree.
type entry struct {
	path   string // slash-separated; quoted when what is "name"
	kind   kind
	mode   uint32 // permission bits
	size   int64
	hash   digest // of a file's bytes or a link's target
	target string // of a link
	what   string // of a special: fifo, socket, device, git, name or deep

	seen stamp // of the path itself, when it was read
	ours stamp // of its copy in the base; in the state of a base only
}

// state is what the engine calls the content of the entry. A directory counts
// as Other: something is there, but no file.
func (e *entry) state() plan.FileState {
	switch {
	case e == nil:
		return plan.FileState{Kind: plan.Absent}
	case e.kind == isFile:
		return plan.FileState{Kind: plan.Regular, Mode: e.mode, Size: e.size, Hash: e.hash.String()}
	case e.kind == isLink:
		return plan.FileState{Kind: plan.Symlink, Size: e.size, Hash: e.hash.String()}
	}
	return plan.FileState{Kind: plan.Other}
}

// content reports whether e is something that a change set can carry.
func (e *entry) content() bool { return e != nil && (e.kind == isFile || e.kind == isLink) }

// stamp identifies a version of a file without reading it. A tool can set
// every part but ctime.
type stamp struct {
	size, mtime, ctime int64 // nanoseconds
	ino, dev           uint64
	mode               uint32 // permission bits
}

// same compares all but the device, whose number may change at a reboot.
func (s stamp) same(o stamp) bool {
	s.dev, o.dev = 0, 0
	return s == o
}

// sameFile reports whether both are of one inode.
func (s stamp) sameFile(o stamp) bool { return s.ino == o.ino && s.dev == o.dev }

// racy reports whether a file could have been changed after it was read at the
// time read without its stamp showing it: its times lie within one tick of a
// clock before. Times without nanoseconds come from a coarse file system.
func (s stamp) racy(read int64) bool {
	const second = int64(1e9)
	tick := second / 50
	if s.ctime%second == 0 {
		tick = 2 * second
	}
	return max(s.mtime, s.ctime) >= read-tick
}

func permissions(fi os.FileInfo) uint32 { return uint32(fi.Mode().Perm()) }

// index finds entries by path.
type index map[string]*entry

func indexOf(es []entry) index {
	m := make(index, len(es))
	for i := range es {
		m[es[i].path] = &es[i]
	}
	return m
}

// sortEntries puts es in the order of their paths. A quoted odd name that
// looks like another path gives way to it.
func sortEntries(es []entry) []entry {
	slices.SortFunc(es, func(a, b entry) int {
		return cmp.Or(strings.Compare(a.path, b.path), cmp.Compare(a.kind, b.kind))
	})
	return slices.CompactFunc(es, func(a, b entry) bool { return a.path == b.path })
}
