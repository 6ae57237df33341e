package upkeep

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"path"
	"time"

	"github.com/cleveragents/agents/fault"
)

// A backup is a tar file, which any tool can list: first its head, then the
// database, then each blob as it lies on disk. The head says how much has to
// follow, so that a file that was cut is found; the database's hash is in it,
// and the name of a blob is its hash.

const (
	format     = "agents-backup"
	version    = 1
	headName   = "backup.json"
	maxHead    = 1 << 20
	maxEntries = 10_000_000
)

// Head is the first entry of a backup.
type Head struct {
	Format   string    `json:"format"`
	Version  int       `json:"version"`
	Made     time.Time `json:"made"`
	Program  string    `json:"program"`
	Schema   int64     `json:"schema_version"`
	Size     int64     `json:"database_bytes"`
	SHA256   string    `json:"database_sha256"`
	Whole    bool      `json:"whole"` // the blobs that are files are in it
	Blobs    int       `json:"blobs"`
	BlobSize int64     `json:"blob_bytes"`
}

// checker tells whether raw is the blob as the blob store keeps it.
type checker func(ctx context.Context, hash string, raw io.Reader) error

// reading is a backup that is read; put gets every entry that was announced and
// may keep a copy of what it reads.
type reading struct {
	name  string // for messages
	check checker
	// Each returns where a copy of the bytes goes; nil for nowhere.
	database func(Head) (io.WriteCloser, error)
	blob     func(hash string) (io.WriteCloser, error)
}

// read checks a whole backup.
func (r reading) read(ctx context.Context, in io.Reader) (h Head, err error) {
	t := tar.NewReader(in)
	first, err := t.Next()
	if err != nil || first.Name != headName || first.Typeflag != tar.TypeReg || first.Size > maxHead {
		return h, fault.New(fault.Invalid, "%s is not a backup of agents", r.name)
	}
	b, err := io.ReadAll(io.LimitReader(t, maxHead))
	if err == nil {
		err = json.Unmarshal(b, &h)
	}
	if err != nil || h.Format != format {
		return h, fault.New(fault.Invalid, "%s is not a backup of agents", r.name)
	}
	if h.Version > version {
		return h, fault.New(fault.Unavailable, "%s was written by a newer version of agents (form %d, this one knows %d)", r.name, h.Version, version).
			WithHint("use the newer version; nothing was changed")
	}
	if err := r.one(ctx, t, storeName, func(size int64) error { return r.takeDatabase(ctx, h, size, t) }); err != nil {
		return h, err
	}
	if h.Blobs < 0 || h.Blobs > maxEntries {
		return h, r.damaged("it names %d blobs", h.Blobs)
	}
	for range h.Blobs {
		if err := ctx.Err(); err != nil {
			return h, err
		}
		entry, err := t.Next()
		if err != nil {
			return h, r.damaged("it is cut short: %w", err)
		}
		hash := path.Base(entry.Name)
		if len(hash) != 2*sha256.Size || entry.Name != blobEntry(hash) || entry.Typeflag != tar.TypeReg {
			return h, r.damaged("an entry %q has no place there", entry.Name)
		}
		if err := r.takeBlob(ctx, hash, t); err != nil {
			return h, err
		}
	}
	if entry, err := t.Next(); err == nil {
		return h, r.damaged("there is %q after its end", entry.Name)
	} else if !errors.Is(err, io.EOF) {
		return h, r.damaged("it is cut short: %w", err)
	}
	return h, nil
}

func (r reading) one(ctx context.Context, t *tar.Reader, name string, take func(size int64) error) error {
	entry, err := t.Next()
	if err != nil || entry.Name != name || entry.Typeflag != tar.TypeReg {
		return r.damaged("%s is not where it has to be", name)
	}
	return errors.Join(ctx.Err(), take(entry.Size))
}

func (r reading) takeDatabase(ctx context.Context, h Head, size int64, in io.Reader) (err error) {
	if size != h.Size {
		return r.damaged("its database has %d bytes instead of %d", size, h.Size)
	}
	out, err := r.database(h)
	if err != nil {
		return err
	}
	sum := sha256.New()
	if err := pour(ctx, io.MultiWriter(sum, writerOr(out)), in, out); err != nil {
		return r.unread(err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != h.SHA256 {
		return r.damaged("its database is not what was backed up")
	}
	return nil
}

func (r reading) takeBlob(ctx context.Context, hash string, in io.Reader) error {
	out, err := r.blob(hash)
	if err != nil {
		return err
	}
	err = r.check(ctx, hash, io.TeeReader(in, writerOr(out)))
	if out != nil {
		err = errors.Join(err, out.Close())
	}
	return r.unread(err)
}

// unread keeps the kind of an error and says whose it is.
func (r reading) unread(err error) error {
	if err == nil {
		return nil
	}
	if fault.Is(err, fault.Internal) {
		return r.damaged("%w", err)
	}
	return fault.New(fault.KindOf(err), "%s: %w", r.name, err)
}

func (r reading) damaged(format string, args ...any) error {
	return fault.New(fault.Corrupt, "the backup "+r.name+" is damaged: "+format, args...).WithHint("nothing was changed; take another backup")
}

func writerOr(w io.Writer) io.Writer {
	if c, ok := w.(io.WriteCloser); !ok || c == nil {
		return io.Discard
	}
	return w
}

// pour copies and closes out, if there is one.
func pour(ctx context.Context, w io.Writer, in io.Reader, out io.Closer) error {
	_, err := io.Copy(w, ctxReader{ctx, in})
	if out != nil {
		err = errors.Join(err, out.Close())
	}
	return err
}

type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (r ctxReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

func blobEntry(hash string) string { return blobsName + "/" + hash[:2] + "/" + hash }

// writing puts a backup together.
type writing struct {
	t *tar.Writer
	h Head
}

func (w writing) entry(ctx context.Context, name string, size int64, r io.Reader) error {
	err := w.t.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: size, ModTime: w.h.Made, Typeflag: tar.TypeReg, Format: tar.FormatPAX})
	if err != nil {
		return err
	}
	_, err = io.Copy(w.t, ctxReader{ctx, r})
	return err
}
