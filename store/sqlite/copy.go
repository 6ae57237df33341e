package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/store"
)

// Report is what Look finds in a file.
type Report struct {
	Schema   int64    // 0 for a file that is not there or empty
	Latest   int64    // the schema that this program knows
	Problems []string // what is damaged, when all of it was read
}

// Look tells what schema a file has, without making, changing or upgrading it;
// whole asks to read every page and reference, too. Errors are those of Open,
// but that the schema may be newer than Latest.
func Look(ctx context.Context, path string, whole bool) (r Report, err error) {
	f, err := at(path)
	if err != nil {
		return r, err
	}
	r.Latest = f.latest
	st, err := os.Lstat(f.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && st.Size() == 0 {
		return r, nil
	}
	if err != nil {
		return r, fault.New(fault.Unavailable, "store %s: %w", f.path, err)
	}
	if err := private(f.path, 0); err != nil {
		return r, err
	}
	db := f.reader()
	defer db.Close()
	if r.Schema, err = f.schema(ctx, db); err != nil || !whole {
		return r, err
	}
	if r.Problems, err = check(ctx, db); err != nil {
		return r, f.fault(ctx, err)
	}
	return r, nil
}

// Copy writes the database as one consistent state into a new file, mode 0600,
// whoever else reads and writes it meanwhile.
func Copy(ctx context.Context, path, to string) error {
	f, err := at(path)
	if err != nil {
		return err
	}
	made, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fault.New(fault.Unavailable, "copy %s: %w", f.path, err)
	}
	if err := made.Close(); err != nil {
		return fault.New(fault.Unavailable, "copy %s: %w", f.path, err)
	}
	db := f.writer()
	defer db.Close()
	if _, err := db.ExecContext(ctx, "VACUUM INTO $1", to); err != nil {
		return errors.Join(f.fault(ctx, err), os.Remove(to))
	}
	return nil
}

// Settle gives a copy the way of writing that Open expects of a file, and syncs
// it.
func Settle(ctx context.Context, path string) error {
	f, err := at(path)
	if err != nil {
		return err
	}
	db := f.writer()
	if _, err := db.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
		return errors.Join(f.fault(ctx, err), db.Close())
	}
	if err := db.Close(); err != nil {
		return f.fault(ctx, err)
	}
	return nil
}

func at(path string) (file, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return file{}, fault.New(fault.Invalid, "store %s: %w", path, err)
	}
	f := file{path: path, o: Options{Busy: store.DefaultBusy, Readers: 1}}
	f.latest, err = store.Latest(store.Migrations())
	return f, err
}
