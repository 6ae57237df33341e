package blob

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"syscall"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"

	"github.com/cleveragents/agents/fault"
)

// smallest is the size below which compressing is not tried.
const smallest = 96

// syncers is how many files a batch syncs at once: the file system makes one
// commit of what is waiting together.
const syncers = 16

// batchMax bounds the temp files that are open at once.
const batchMax = 64

// Put stores b and returns its hash. The blob is durable on return; one that
// is there already is not written again.
func (s *Store) Put(ctx context.Context, b []byte) (string, error) {
	hashes, err := s.PutAll(ctx, [][]byte{b})
	if err != nil {
		return "", err
	}
	return hashes[0], nil
}

// PutAll stores every element of bs and returns their hashes in the same
// order. Its waits for the disk overlap, so it costs much less than one Put
// after the other. On an error some may be stored and some not.
func (s *Store) PutAll(ctx context.Context, bs [][]byte) (hashes []string, err error) {
	return s.putAll(ctx, bs, s.Touch)
}

// Mend stores b like Put, and writes it again when something is there under its
// name: what is there may be damaged.
func (s *Store) Mend(ctx context.Context, b []byte) (string, error) {
	hashes, err := s.putAll(ctx, [][]byte{b}, func(context.Context, ...string) (map[string]bool, error) { return nil, nil })
	if err != nil {
		return "", err
	}
	return hashes[0], nil
}

// putAll is PutAll that leaves out what touch reports to be there.
func (s *Store) putAll(ctx context.Context, bs [][]byte, touch func(context.Context, ...string) (map[string]bool, error)) (hashes []string, err error) {
	hashes = make([]string, len(bs))
	var fresh []pending
	defer func() { err = errors.Join(err, s.discard(fresh)) }()
	dirs, seen := map[string]bool{}, map[string]bool{}
	for i, b := range bs {
		if int64(len(b)) > s.max {
			return nil, fault.New(fault.Exhausted, "a blob of %d bytes is over the limit of %d", len(b), s.max)
		}
		sum := sha256.Sum256(b)
		hashes[i] = hex.EncodeToString(sum[:])
	}
	present, err := touch(ctx, hashes...)
	if err != nil {
		return nil, err
	}
	for i, b := range bs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		hash := hashes[i]
		if seen[hash] {
			continue
		}
		seen[hash] = true
		there := present[hash]
		if there && s.durable.has(hash) {
			continue
		}
		dirs[hash[:2]] = true // also for one that another process may not have synced yet
		if there {
			continue
		}
		f, name, err := s.temp()
		if err != nil {
			return nil, s.unput(err)
		}
		fresh = append(fresh, pending{f, name, hash})
		if _, err := f.Write(s.encode(b)); err != nil {
			return nil, s.unput(err)
		}
		if len(fresh) == batchMax {
			batch := fresh
			fresh = nil
			if err := s.land(batch, nil); err != nil {
				return nil, err
			}
		}
	}
	batch := fresh
	fresh = nil
	if err := s.land(batch, dirs); err != nil {
		return nil, err
	}
	for hash := range seen {
		s.durable.add(hash)
	}
	return hashes, nil
}

// unput is the error of a write. A full disk is told apart: it is the user's to
// mend, and everything that was stored is kept.
func (s *Store) unput(err error) error {
	if full(err) {
		return fault.New(fault.Exhausted, "put blob: no space left for %s: %w", s.root.Name(), err).
			WithHint("free some space and go on; everything that was stored is kept")
	}
	return fault.New(fault.Unavailable, "put blob: %w", err)
}

// full reports whether there was no room for what was to be written.
func full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// pending is a written temp file that has to get its name.
type pending struct {
	f    *os.File
	temp string
	hash string
}

func (s *Store) discard(ps []pending) error {
	var err error
	for _, p := range ps {
		err = errors.Join(err, p.f.Close(), s.root.Remove(p.temp))
	}
	return err
}

// land syncs the temp files, gives them their names and syncs dirs. Each step
// is done for all before the next begins: the file system then needs one
// commit a step. What fails is removed.
func (s *Store) land(ps []pending, dirs map[string]bool) error {
	var syncs errgroup.Group
	syncs.SetLimit(syncers)
	for _, p := range ps {
		syncs.Go(p.f.Sync)
	}
	if err := syncs.Wait(); err != nil {
		return s.unput(errors.Join(err, s.discard(ps)))
	}
	for i, p := range ps {
		if err := errors.Join(p.f.Close(), s.root.Rename(p.temp, place(p.hash))); err != nil {
			return s.unput(errors.Join(err, s.discard(ps[i:])))
		}
	}
	for dir := range dirs {
		syncs.Go(func() error { return syncDir(s.root, dir) })
	}
	if err := syncs.Wait(); err != nil {
		return s.unput(err)
	}
	return nil
}

func (s *Store) encode(b []byte) []byte {
	if len(b) >= smallest {
		out := make([]byte, 1, 1+len(b)/2)
		out[0] = codecZstd
		if out = s.enc.EncodeAll(b, out); len(out) <= len(b) {
			return out
		}
	}
	return append([]byte{codecRaw}, b...)
}

// PutFrom stores all that r gives, without holding it in memory, and returns
// its hash and size. Otherwise it is like Put.
func (s *Store) PutFrom(ctx context.Context, r io.Reader) (string, int64, error) {
	head := make([]byte, 64<<10)
	n, err := io.ReadFull(r, head)
	head = head[:n]
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return "", 0, err // the reader's own error says where it is from
	}
	if n < cap(head) {
		hash, err := s.Put(ctx, head)
		return hash, int64(n), err
	}
	f, name, err := s.temp()
	if err != nil {
		return "", 0, s.unput(err)
	}
	hash, size, err := s.stream(ctx, f, head, r)
	if err != nil {
		err = errors.Join(err, s.discard([]pending{{f, name, ""}}))
		if full(err) {
			err = s.unput(err)
		}
		return "", 0, err
	}
	ps, dirs := []pending{{f, name, hash}}, map[string]bool{hash[:2]: true}
	present, err := s.Touch(ctx, hash)
	if err != nil {
		return "", 0, errors.Join(err, s.discard(ps))
	}
	if present[hash] {
		if err := s.discard(ps); err != nil {
			return "", 0, s.unput(err)
		}
		ps = nil
	}
	return hash, size, s.land(ps, dirs)
}

// stream writes head and the rest of r to f. Whether it compresses is decided
// on head.
func (s *Store) stream(ctx context.Context, f *os.File, head []byte, r io.Reader) (string, int64, error) {
	codec := s.encode(head)[0]
	if _, err := f.Write([]byte{codec}); err != nil {
		return "", 0, err
	}
	var w io.WriteCloser = nopCloser{f}
	if codec == codecZstd {
		z, err := zstd.NewWriter(f, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
		if err != nil {
			return "", 0, err
		}
		w = z
	}
	sum := sha256.New()
	in := io.MultiReader(bytes.NewReader(head), reader{ctx, r})
	size, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(in, s.max+1))
	if err = errors.Join(err, w.Close()); err != nil {
		return "", 0, err
	}
	if size > s.max {
		return "", 0, fault.New(fault.Exhausted, "a blob is over the limit of %d bytes", s.max)
	}
	return hex.EncodeToString(sum.Sum(nil)), size, nil
}

// reader ends when its context does.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
