package upkeep

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/cleveragents/agents/blob"
	"github.com/cleveragents/agents/crash"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/store"
	"github.com/cleveragents/agents/store/sqlite"
)

// BackupRequest says what goes where.
type BackupRequest struct {
	DataDir string
	File    string // absolute; one that is there is not overwritten
	NoBlobs bool   // the database alone
	Now     time.Time
	Program string // which version writes it
}

// Backup writes a consistent copy of the data to one file while others may
// write. No garbage collection works meanwhile, so the blobs that the copy of
// the database names stay until they are copied, too. The file has its name
// only when it was read back and found good.
func Backup(ctx context.Context, blobs *blob.Store, r BackupRequest) (h Head, size int64, err error) {
	if _, err := os.Lstat(r.File); err == nil {
		return h, 0, fault.New(fault.Exists, "%s is there already", r.File).WithHint("choose another file with -o")
	}
	release, err := hold(ctx, r.DataDir, gcLock, syscall.LOCK_SH)
	if err != nil {
		return h, 0, err
	}
	defer release()
	work, err := os.MkdirTemp(r.DataDir, "backup-*.part")
	if err != nil {
		return h, 0, unavailable("back up", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	crash.Point("backup.begun")
	copied := filepath.Join(work, storeName)
	if err := sqlite.Copy(ctx, filepath.Join(r.DataDir, storeName), copied); err != nil {
		return h, 0, err
	}
	crash.Point("backup.copied")
	h = Head{Format: format, Version: version, Made: r.Now.UTC(), Program: r.Program, Whole: !r.NoBlobs}
	if h.Size, h.SHA256, err = hashFile(ctx, copied); err != nil {
		return h, 0, err
	}
	look, err := sqlite.Look(ctx, copied, true)
	if err == nil && len(look.Problems) > 0 {
		err = fault.New(fault.Corrupt, "%s is damaged: %s", filepath.Join(r.DataDir, storeName), look.Problems[0])
	}
	if err != nil {
		return h, 0, err
	}
	h.Schema = look.Schema
	var files []blob.File
	if !r.NoBlobs {
		if files, err = named(ctx, copied, blobs); err != nil {
			return h, 0, err
		}
	}
	for _, f := range files {
		h.Blobs, h.BlobSize = h.Blobs+1, h.BlobSize+f.Size
	}
	size, err = writeFile(ctx, r.File, func(w io.Writer) error { return write(ctx, w, h, copied, files, blobs) },
		func(in io.Reader) error {
			_, err := reading{name: r.File, check: blobs.Check, database: nowhere, blob: nowhereBlob}.read(ctx, in)
			return err
		})
	return h, size, err
}

func nowhere(Head) (io.WriteCloser, error)       { return nil, nil }
func nowhereBlob(string) (io.WriteCloser, error) { return nil, nil }

// named returns the blobs that are files and can be reached from a copy.
func named(ctx context.Context, copied string, blobs *blob.Store) (out []blob.File, err error) {
	db, err := sqlite.Open(ctx, copied, sqlite.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	m := marks{}
	err = db.Care(ctx, false, func(c *store.Care) error {
		return m.mark(ctx, c, blobs, func(ident.PlanID) bool { return false })
	})
	if err != nil {
		return nil, err
	}
	err = blobs.Files(ctx, func(f blob.File) error {
		if m[f.Hash] {
			out = append(out, f)
		}
		return nil
	})
	slices.SortFunc(out, func(a, b blob.File) int { return bytes.Compare([]byte(a.Hash), []byte(b.Hash)) })
	return out, err
}

func write(ctx context.Context, to io.Writer, h Head, copied string, files []blob.File, blobs *blob.Store) error {
	w := writing{tar.NewWriter(to), h}
	b, err := json.MarshalIndent(h, "", "  ")
	if err != nil {
		return fault.New(fault.Internal, "encode the head: %w", err)
	}
	if err := w.entry(ctx, headName, int64(len(b)), bytes.NewReader(b)); err != nil {
		return err
	}
	db, err := os.Open(copied)
	if err != nil {
		return err
	}
	err = errors.Join(w.entry(ctx, storeName, h.Size, db), db.Close())
	for _, f := range files {
		if err != nil {
			return err
		}
		in, size, rerr := blobs.Raw(ctx, f.Hash)
		if rerr != nil {
			return rerr
		}
		err = errors.Join(w.entry(ctx, blobEntry(f.Hash), size, in), in.Close())
	}
	return errors.Join(err, w.t.Close())
}

// writeFile makes a file aside, syncs it, has it read back and gives it its
// name, which nothing may have.
func writeFile(ctx context.Context, name string, put func(io.Writer) error, back func(io.Reader) error) (size int64, err error) {
	dir := filepath.Dir(name)
	part, err := os.CreateTemp(dir, "."+filepath.Base(name)+".*.part") // mode 0600
	if errors.Is(err, fs.ErrNotExist) {
		return 0, fault.New(fault.NotFound, "the directory of %s is not there", name)
	}
	if err != nil {
		return 0, unavailable("write "+name, err)
	}
	defer func() {
		if rm := os.Remove(part.Name()); rm != nil && !errors.Is(rm, fs.ErrNotExist) {
			err = errors.Join(err, rm)
		}
	}()
	err = put(part)
	if err == nil {
		err = part.Sync()
	}
	if err == nil {
		size, err = part.Seek(0, io.SeekEnd)
	}
	crash.Point("backup.written")
	if err == nil {
		_, err = part.Seek(0, io.SeekStart)
	}
	if err != nil {
		return 0, errors.Join(unavailable("write "+name, err), part.Close())
	}
	if err := errors.Join(back(part), part.Close(), ctx.Err()); err != nil {
		return 0, err
	}
	if err := os.Link(part.Name(), name); errors.Is(err, fs.ErrExist) {
		return 0, fault.New(fault.Exists, "%s is there already", name).WithHint("choose another file with -o")
	} else if err != nil { // a file system without links
		if err := os.Rename(part.Name(), name); err != nil {
			return 0, unavailable("write "+name, err)
		}
	}
	crash.Point("backup.named")
	return size, syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return unavailable("sync "+dir, err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return unavailable("sync "+dir, err)
	}
	return nil
}

func hashFile(ctx context.Context, name string) (int64, string, error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, "", unavailable("read "+name, err)
	}
	sum := sha256.New()
	n, err := io.Copy(sum, ctxReader{ctx, f})
	if err := errors.Join(err, f.Close()); err != nil {
		return 0, "", unavailable("read "+name, err)
	}
	return n, hex.EncodeToString(sum.Sum(nil)), nil
}

// unavailable tells an error of the file system; a fault stays what it is.
func unavailable(what string, err error) error {
	var f *fault.Error
	switch {
	case errors.As(err, &f):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fault.New(fault.Exhausted, "%s: no space left: %w", what, err).WithHint("free some space; nothing was changed")
	}
	return fault.New(fault.Unavailable, "%s: %w", what, err)
}
