// Package sqlite opens the store in one file.
//
// Open looks before it writes: through a read-only connection it asks whether
// the file is a database, is ours, is whole as far as its schema tells, and is
// not newer than this program. Only then it makes or upgrades the schema, under
// a lock of the file system, with a copy of the old file kept beside it. After
// that one connection writes (WAL, BEGIN IMMEDIATE, every commit synced to the
// disk) and a few read. A look may leave SQLite's own index of the log (-shm)
// and an empty log (-wal) beside the file; neither holds anything.
//
// It does not check every page at each start (Status does), repair anything, or
// delete a file of the user's.
package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/store"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// Options are the choices of Open. The zero value is good.
type Options struct {
	Busy    time.Duration // how long a writer waits for its turn; 0 means store.DefaultBusy
	Readers int           // connections that read; 0 means 4
	// Steps replaces the schema's migrations; nil means store.Migrations.
	Steps fs.FS
}

// Open opens the store in the file, which is made when it is not there (mode
// 0600, its directory 0700). A file that is damaged is fault.Corrupt, one that
// cannot be written, or that a newer program made, fault.Unavailable, one that
// is not ours fault.Invalid, and a place that others can write fault.Blocked;
// the file and its log are not touched in any of these cases.
func Open(ctx context.Context, path string, o Options) (*store.DB, error) {
	if o.Busy == 0 {
		o.Busy = store.DefaultBusy
	}
	if o.Readers == 0 {
		o.Readers = 4
	}
	if o.Steps == nil {
		o.Steps = store.Migrations()
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fault.New(fault.Invalid, "store %s: %w", path, err)
	}
	f := file{path: path, o: o}
	if f.latest, err = store.Latest(o.Steps); err != nil {
		return nil, err
	}
	if err := f.prepare(); err != nil {
		return nil, err
	}
	reader := f.reader()
	has, err := f.inspect(ctx, reader)
	if err == nil && has < f.latest {
		err = f.upgrade(ctx)
	}
	if err != nil {
		reader.Close()
		return nil, err
	}
	return store.New(store.Config{
		Write: f.writer(), Read: reader, Dialect: dialect(), Busy: o.Busy, Where: path, Check: check, Size: f.size,
	}), nil
}

// file is one database file while it is being opened.
type file struct {
	path   string
	o      Options
	latest int64
}

func (f file) dsn(q url.Values) string {
	q.Set("_busy_timeout", strconv.FormatInt(f.o.Busy.Milliseconds(), 10))
	q.Set("_dqs", "0")
	q.Set("_defensive", "1")
	q.Set("_error_rc", "1")
	u := url.URL{Scheme: "file", Path: f.path, RawQuery: q.Encode()}
	return u.String()
}

// writer returns the pool of the one connection that writes.
func (f file) writer() *sql.DB {
	return pool(f.dsn(url.Values{
		"mode": {"rw"}, "_txlock": {"immediate"}, "_foreign_keys": {"1"}, "_synchronous": {"FULL"},
	}), 1)
}

// reader returns a pool through which nothing can be written, not even the
// checkpoint of the log when it is closed.
func (f file) reader() *sql.DB {
	return pool(f.dsn(url.Values{"mode": {"ro"}, "_query_only": {"1"}}), f.o.Readers)
}

func pool(dsn string, n int) *sql.DB {
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		panic(fmt.Sprintf("sqlite: %v", err)) // only for an unknown driver name
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db
}

// inspect is schema for what is going to be opened: a newer one is refused.
func (f file) inspect(ctx context.Context, db *sql.DB) (int64, error) {
	has, err := f.schema(ctx, db)
	if err == nil && has > f.latest {
		return 0, store.Newer(f.path, has, f.latest)
	}
	return has, err
}

// schema returns the version of the schema, 0 for an empty database.
func (f file) schema(ctx context.Context, db *sql.DB) (int64, error) {
	var tables, ours int
	err := db.QueryRowContext(ctx, `SELECT COUNT(*), COUNT(CASE WHEN name = 'goose_db_version' THEN 1 END)
		FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'`).Scan(&tables, &ours)
	if err != nil {
		return 0, f.fault(ctx, err)
	}
	if tables == 0 {
		return 0, nil
	}
	if ours == 0 {
		return 0, fault.New(fault.Invalid, "%s is a SQLite database of another program", f.path).
			WithHint("choose another file; nothing was changed")
	}
	has, err := store.Version(ctx, db)
	if err != nil {
		return 0, f.fault(ctx, err)
	}
	return has, nil
}

// upgrade brings the schema to the latest version unless another process did
// so while this one waited for the lock.
func (f file) upgrade(ctx context.Context) error {
	unlock, err := f.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	reader := f.reader()
	has, err := f.inspect(ctx, reader)
	reader.Close()
	if err != nil || has == f.latest {
		return err
	}
	w := f.writer()
	defer w.Close()
	if has > 0 {
		if err := f.backup(ctx, w, has); err != nil {
			return err
		}
	}
	if _, err := w.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
		return f.fault(ctx, err)
	}
	if err := store.Migrate(ctx, w, "sqlite3", f.o.Steps); err != nil {
		return f.fault(ctx, err)
	}
	return nil
}

// backup copies the database as it is beside itself. The copy has its name only
// when it is whole.
func (f file) backup(ctx context.Context, db *sql.DB, version int64) error {
	final := f.backupName(version)
	part := final + ".part"
	if err := os.Remove(part); err != nil && !os.IsNotExist(err) {
		return fault.New(fault.Unavailable, "back up %s: %w", f.path, err)
	}
	made, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fault.New(fault.Unavailable, "back up %s: %w", f.path, err)
	}
	made.Close()
	if _, err := db.ExecContext(ctx, "VACUUM INTO $1", part); err != nil {
		return f.fault(ctx, fmt.Errorf("back up: %w", err))
	}
	if err := os.Rename(part, final); err != nil {
		return fault.New(fault.Unavailable, "back up %s: %w", f.path, err)
	}
	return nil
}

func (f file) backupName(version int64) string { return BackupName(f.path, version) }

// BackupName returns the file in which an upgrade leaves the store as it was.
func BackupName(path string, version int64) string { return fmt.Sprintf("%s.v%d.bak", path, version) }

// lastBackup returns the newest copy that an upgrade left, "" for none.
func (f file) lastBackup() string {
	for v := f.latest; v > 0; v-- {
		if _, err := os.Lstat(f.backupName(v)); err == nil {
			return f.backupName(v)
		}
	}
	return ""
}

// fault names the file in an error of the database while it is being opened.
func (f file) fault(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("open %s: %w", f.path, ctx.Err())
	}
	k, ok := kind(err)
	if !ok {
		return fmt.Errorf("open %s: %w", f.path, err)
	}
	e := fault.New(k, "open %s: %w", f.path, err)
	switch k {
	case fault.Busy:
		return e.WithHint("another process holds it; try again")
	case fault.Exhausted:
		return fault.New(k, "open %s: no space left on its disk: %w", f.path, err).
			WithHint("free some space; everything that was committed is kept")
	case fault.Corrupt:
		e = fault.New(k, "%s is damaged or not a database: %w", f.path, err)
		if b := f.lastBackup(); b != "" {
			return e.WithHint("nothing was changed; the last backup is %s", b)
		}
		return e.WithHint("nothing was changed; there is no backup beside it; move the file away to start anew")
	}
	return e
}
