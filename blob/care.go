package blob

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"syscall"
	"time"

	"github.com/cleveragents/agents/fault"
)

// Removing beside writers. A writer that is about to name a blob first makes
// sure that it is there: put stores it, or finds it and touches it. Remove
// looks at the age and unlinks under the exclusive lock, a touch is made under
// the shared one, so one of two comes first: the touch, and the blob is too
// young to be removed; or the removal, and the writer finds nothing and stores
// the bytes again. What is younger than the age that Remove is given may be
// about to be named; whoever calls it looks for names after it has fixed that
// age's limit, and an age longer than any step takes from put to commit covers
// the rest. The age is that of the inode's change time, which the kernel sets
// and no copying of times can move.

// removeBatch is how many blobs are removed under one hold of the lock.
const removeBatch = 64

// hold takes the lock of the directory, shared or exclusive; release lets go of
// it. Each hold opens it, so that two in one process exclude each other, too.
func (s *Store) hold(ctx context.Context, how int) (release func(), err error) {
	f, err := s.root.Open(".")
	if err != nil {
		return nil, unavailable("lock the blob store", err)
	}
	wait := time.NewTicker(2 * time.Millisecond)
	defer wait.Stop()
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil // closing lets go
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(unavailable("lock the blob store", err), f.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), f.Close())
		case <-wait.C:
		}
	}
}

// Touch makes blobs that are files young again and reports which are there.
func (s *Store) Touch(ctx context.Context, hashes ...string) (there map[string]bool, err error) {
	there = map[string]bool{}
	if len(hashes) == 0 {
		return there, nil
	}
	release, err := s.hold(ctx, syscall.LOCK_SH)
	if err != nil {
		return nil, err
	}
	defer release()
	for _, hash := range hashes {
		if s.Has(hash) {
			// A change of mode to what it is changes the time, and nothing else.
			if err := s.root.Chmod(place(hash), 0o600); err != nil {
				return nil, unavailable("touch blob "+hash, err)
			}
			there[hash] = true
		}
	}
	return there, nil
}

// File is one blob that lies as a file.
type File struct {
	Hash    string
	Size    int64     // on disk
	Touched time.Time // when it was stored, or last touched
}

// Files calls f for every blob that is a file.
func (s *Store) Files(ctx context.Context, f func(File) error) error {
	err := fs.WalkDir(s.root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil || d.IsDir() || checkHash(d.Name()) != nil || path != place(d.Name()) {
			return errors.Join(err, ctx.Err())
		}
		fi, err := s.root.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return f(File{d.Name(), fi.Size(), changed(fi)})
	})
	if err != nil && ctx.Err() == nil {
		return unavailable("list blobs", err)
	}
	return err
}

// Remove removes those of the blobs that are files and were last touched before
// t, and returns what it removed. The caller has looked for their names after t.
func (s *Store) Remove(ctx context.Context, t time.Time, hashes []string) (gone []File, err error) {
	for len(hashes) > 0 {
		n := min(removeBatch, len(hashes))
		some, err := s.removeSome(ctx, t, hashes[:n])
		gone = append(gone, some...)
		if err != nil {
			return gone, err
		}
		hashes = hashes[n:]
	}
	return gone, nil
}

func (s *Store) removeSome(ctx context.Context, t time.Time, hashes []string) (gone []File, err error) {
	release, err := s.hold(ctx, syscall.LOCK_EX)
	if err != nil {
		return nil, err
	}
	defer release()
	for _, hash := range hashes {
		if err := checkHash(hash); err != nil {
			return gone, err
		}
		fi, err := s.root.Lstat(place(hash))
		if errors.Is(err, fs.ErrNotExist) || err == nil && !changed(fi).Before(t) {
			continue
		}
		if err == nil {
			err = s.root.Remove(place(hash))
		}
		if err != nil {
			return gone, unavailable("remove blob "+hash, err)
		}
		gone = append(gone, File{hash, fi.Size(), changed(fi)})
	}
	return gone, nil
}

// Raw opens a blob that is a file as it lies on disk, for a copy of it.
func (s *Store) Raw(ctx context.Context, hash string) (io.ReadCloser, int64, error) {
	return s.open(ctx, hash)
}

// Check reads what Raw gives and returns fault.Corrupt when it is not the blob.
func (s *Store) Check(ctx context.Context, hash string, raw io.Reader) error {
	return s.copyRaw(ctx, hash, io.Discard, raw)
}

func unavailable(what string, err error) error {
	return fault.New(fault.Unavailable, "%s: %w", what, err)
}
