package blob

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/cleveragents/agents/fault"
)

// Leftovers counts what Sweep would remove, and its bytes.
func (s *Store) Leftovers(ctx context.Context, t time.Time) (n int, bytes int64, err error) {
	err = s.temps(ctx, t, func(_ string, size int64) error {
		n++
		bytes += size
		return nil
	})
	return n, bytes, err
}

// Sweep removes temp files last written before t, which only a crash leaves,
// and returns how many.
func (s *Store) Sweep(ctx context.Context, t time.Time) (n int, err error) {
	err = s.temps(ctx, t, func(path string, _ int64) error {
		n++
		if err := s.root.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
	return n, err
}

// temps calls f for every temp file that was last written before t.
func (s *Store) temps(ctx context.Context, t time.Time, f func(path string, size int64) error) error {
	err := fs.WalkDir(s.root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasPrefix(d.Name(), tempPrefix) {
			return errors.Join(err, ctx.Err())
		}
		fi, err := s.root.Lstat(path)
		if err != nil || !fi.ModTime().Before(t) {
			return nil // renamed meanwhile, or in use
		}
		return f(path, fi.Size())
	})
	if err != nil {
		return fault.New(fault.Unavailable, "sweep blob store: %w", err)
	}
	return nil
}

// MissingDirs returns how many of the directories of blobs are not there, so
// that some blobs could not be put.
func (s *Store) MissingDirs() int {
	n := 0
	for i := range 256 {
		if fi, err := s.root.Lstat(hex.EncodeToString([]byte{byte(i)})); err != nil || !fi.IsDir() {
			n++
		}
	}
	return n
}

// MakeDirs makes the directories of blobs that are not there.
func (s *Store) MakeDirs() error {
	if err := s.makeAllDirs(); err != nil {
		return fault.New(fault.Unavailable, "blob store: %w", err)
	}
	return nil
}
