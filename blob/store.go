// Package blob keeps bytes by their SHA-256: in files, and small ones that a
// record names in the rows of the store, where one transaction makes both
// durable (Split).
//
// A blob lies at dir/ab/abcdef…: one byte that names the codec, then the bytes
// as they are or, when that is shorter, as one zstd frame. Writing is: temp
// file in the same tree, fsync, rename, fsync of the directory; so a name
// either does not exist or holds the whole of a blob, several processes may
// write at once, and a crash leaves at most temp files, which Sweep removes.
// Reading hashes what it decoded and refuses what does not match.
//
// It does not promise secrecy beyond the modes 0700 and 0600, and it never
// deletes a blob.
package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"

	"github.com/cleveragents/agents/fault"
)

// MaxSize is the largest blob, before compression.
const MaxSize = 1 << 30

// The first byte of a file.
const (
	codecRaw  byte = 0
	codecZstd byte = 1
)

// Temp files are made in one of the directories of blobs.
const (
	tempDir    = "00"
	tempPrefix = "tmp-"
)

// Store is a directory of blobs. It is safe for concurrent use.
type Store struct {
	root *os.Root
	rows Rows
	max  int64
	seq  atomic.Uint64 // names temp files
	enc  *zstd.Encoder // EncodeAll only
	dec  *zstd.Decoder // DecodeAll only

	durable recent
}

// recent remembers some hashes whose blobs this store has seen durable, so
// that putting the same bytes again costs one stat and no sync.
type recent struct {
	mu  sync.Mutex
	set map[string]bool
}

const recentMax = 1 << 14

func (r *recent) has(hash string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.set[hash]
}

func (r *recent) add(hash string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.set == nil || len(r.set) >= recentMax {
		r.set = map[string]bool{}
	}
	r.set[hash] = true
}

// Rows is where the blobs are that Split left to the caller: fault.NotFound for
// one that is not there.
type Rows interface {
	Blob(ctx context.Context, hash string) (data []byte, err error)
}

// Open returns the store in dir, making it when it is not there. Without rows
// (nil) all blobs are files. Close it.
func Open(dir string, rows Rows) (*Store, error) {
	s, err := open(dir, MaxSize)
	if err == nil {
		s.rows = rows
	}
	return s, err
}

func open(dir string, limit int64) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fault.New(fault.Unavailable, "blob store: %w", err)
	}
	root, err := os.OpenRoot(filepath.Clean(dir))
	if err != nil {
		return nil, fault.New(fault.Unavailable, "blob store: %w", err)
	}
	s := &Store{root: root, max: limit}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return s, nil
}

func (s *Store) prepare() error {
	if err := s.makeDirs(); err != nil {
		return fault.New(fault.Unavailable, "blob store: %w", err)
	}
	var err error
	s.enc, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2))
	if err != nil {
		return fault.New(fault.Internal, "blob encoder: %w", err)
	}
	s.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(uint64(s.max)))
	if err != nil {
		return fault.New(fault.Internal, "blob decoder: %w", err)
	}
	return nil
}

// makeDirs makes the 256 directories at once, so that no later Put has to make
// one durable. "ff" is made last: where it is, all are.
func (s *Store) makeDirs() error {
	if _, err := s.root.Lstat("ff"); err == nil {
		return nil
	}
	return s.makeAllDirs()
}

func (s *Store) makeAllDirs() error {
	for i := range 256 {
		name := hex.EncodeToString([]byte{byte(i)})
		if err := s.root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return syncDir(s.root, ".")
}

// Close lets go of the directory.
func (s *Store) Close() error {
	s.dec.Close()
	return s.root.Close()
}

// Has reports whether the blob is there, without reading it.
func (s *Store) Has(hash string) bool {
	if checkHash(hash) != nil {
		return false
	}
	fi, err := s.root.Lstat(place(hash))
	return err == nil && fi.Mode().IsRegular() && fi.Size() > 0
}

func place(hash string) string { return hash[:2] + "/" + hash }

func checkHash(hash string) error {
	ok := len(hash) == 2*sha256.Size && !strings.ContainsFunc(hash, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'f')
	})
	if !ok {
		return fault.New(fault.Invalid, "%q is not the hash of a blob", hash)
	}
	return nil
}

// temp makes a new file. Its name holds the process id, so that two processes
// rarely try the same; O_EXCL makes sure. All are made in one directory: a file
// system keeps the files of a directory together, so that those of a batch
// share the blocks that a sync has to write.
func (s *Store) temp() (*os.File, string, error) {
	for {
		name := tempDir + "/" + tempPrefix + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatUint(s.seq.Add(1), 36)
		f, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		return f, name, err
	}
}

func syncDir(root *os.Root, dir string) error {
	d, err := root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
