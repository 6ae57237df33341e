package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/klauspost/compress/zstd"

	"github.com/cleveragents/agents/fault"
)

// Get returns the bytes of the blob: fault.NotFound when it is not there,
// fault.Corrupt when what is there is something else or decodes to more than
// MaxSize.
func (s *Store) Get(ctx context.Context, hash string) ([]byte, error) {
	f, size, err := s.open(ctx, hash)
	if fault.Is(err, fault.NotFound) && s.rows != nil {
		return s.getRow(ctx, hash, err)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw := make([]byte, size)
	if _, err := io.ReadFull(f, raw); err != nil {
		return nil, fault.New(fault.Unavailable, "read blob %s: %w", hash, err)
	}
	return s.decode(hash, raw)
}

// getRow reads a blob from the rows; absent is the error when there is none.
func (s *Store) getRow(ctx context.Context, hash string, absent error) ([]byte, error) {
	raw, err := s.rows.Blob(ctx, hash)
	switch {
	case fault.Is(err, fault.NotFound):
		return nil, absent
	case err != nil:
		return nil, err
	case len(raw) == 0 || int64(len(raw)) > s.max+1:
		return nil, corrupt(hash, errSize)
	}
	return s.decode(hash, raw)
}

// decode returns the bytes that a file or a row holds.
func (s *Store) decode(hash string, raw []byte) (b []byte, err error) {
	b = raw[1:]
	switch raw[0] {
	case codecRaw:
	case codecZstd:
		if b, err = s.dec.DecodeAll(b, nil); err != nil {
			return nil, corrupt(hash, err)
		}
	default:
		return nil, corrupt(hash, errCodec)
	}
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != hash {
		return nil, corrupt(hash, errHash)
	}
	return b, nil
}

// GetTo writes the bytes of the blob to w, without holding them in memory.
// When it returns an error, w may have got bytes that are wrong.
func (s *Store) GetTo(ctx context.Context, hash string, w io.Writer) error {
	f, _, err := s.open(ctx, hash)
	if fault.Is(err, fault.NotFound) && s.rows != nil {
		b, err := s.getRow(ctx, hash, err)
		if err == nil {
			_, err = w.Write(b)
		}
		return err
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return s.copyRaw(ctx, hash, w, f)
}

// copyRaw writes the bytes of the blob that f holds as a file does.
func (s *Store) copyRaw(ctx context.Context, hash string, w io.Writer, f io.Reader) error {
	var codec [1]byte
	if _, err := io.ReadFull(f, codec[:]); err != nil {
		return fault.New(fault.Unavailable, "read blob %s: %w", hash, err)
	}
	var r io.Reader = f
	switch codec[0] {
	case codecRaw:
	case codecZstd:
		z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20))
		if err != nil {
			return corrupt(hash, err)
		}
		defer z.Close()
		r = z
	default:
		return corrupt(hash, errCodec)
	}
	return s.copyOut(ctx, hash, w, r)
}

func (s *Store) copyOut(ctx context.Context, hash string, w io.Writer, r io.Reader) error {
	sum := sha256.New()
	out := &writer{w: w}
	n, err := io.Copy(io.MultiWriter(out, sum), io.LimitReader(reader{ctx, r}, s.max+1))
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case out.err != nil:
		return out.err
	case err != nil:
		return corrupt(hash, err)
	case n > s.max:
		return corrupt(hash, errSize)
	case hex.EncodeToString(sum.Sum(nil)) != hash:
		return corrupt(hash, errHash)
	}
	return nil
}

func (s *Store) open(ctx context.Context, hash string) (*os.File, int64, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	if err := checkHash(hash); err != nil {
		return nil, 0, err
	}
	f, err := s.root.OpenFile(place(hash), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fault.New(fault.NotFound, "no blob %s", hash)
	}
	if err != nil {
		return nil, 0, fault.New(fault.Unavailable, "read blob: %w", err)
	}
	fi, err := f.Stat()
	switch {
	case err != nil:
		err = fault.New(fault.Unavailable, "read blob: %w", err)
	case !fi.Mode().IsRegular() || fi.Size() == 0 || fi.Size() > s.max+1:
		err = corrupt(hash, errSize)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, fi.Size(), nil
}

// Each is the cause in an error of kind Corrupt.
var (
	errCodec = errors.New("unknown codec")
	errHash  = errors.New("the bytes have another hash")
	errSize  = errors.New("the size is out of bounds")
)

func corrupt(hash string, cause error) error {
	return fault.New(fault.Corrupt, "blob %s is damaged: %w", hash, cause).With("blob", hash)
}

// writer keeps the error of w apart from errors of reading.
type writer struct {
	w   io.Writer
	err error
}

func (w *writer) Write(p []byte) (int, error) {
	n, err := w.w.Write(p)
	if err != nil {
		w.err = err
	}
	return n, err
}
