package durable

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/cleveragents/agents/fault"
)

// trouble turns an error of the workflow file into one that names the file and
// the way out. DBOS keeps the text of SQLite's errors and drops the errors, so
// after it has spoken the file itself is asked whether it is damaged, and a
// disk without room is known by SQLite's words.
func trouble(ctx context.Context, path, what string, err error) error {
	if f := (*fault.Error)(nil); errors.As(err, &f) {
		return err
	}
	switch code := codeOf(err); {
	case code == sqlite3.SQLITE_NOTADB || code == sqlite3.SQLITE_CORRUPT || code == 0 && damaged(ctx, path):
		return fault.New(fault.Corrupt, "%s: the workflow file %s is damaged", what, path).
			WithHint("move it away: mv '%s' '%s.damaged'; plans go on from their records, an unfinished run from its first step", path, path)
	case code == sqlite3.SQLITE_FULL || shmFull(err) || errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), fullText):
		return fault.New(fault.Exhausted, "%s: no space left for the workflow file %s", what, path).
			WithHint("free some space and go on; everything that was recorded is kept")
	case code == sqlite3.SQLITE_READONLY || code == sqlite3.SQLITE_CANTOPEN || code == sqlite3.SQLITE_IOERR || strings.Contains(err.Error(), readOnlyText):
		return fault.New(fault.Unavailable, "%s: the workflow file %s cannot be read or written", what, path).
			WithHint("see that the directory is yours and can be written: agents doctor")
	}
	return fault.New(fault.Unavailable, "%s (%s): %w", what, path, err)
}

// What SQLite says of SQLITE_FULL and SQLITE_READONLY; a test compares.
const (
	fullText     = "database or disk is full"
	readOnlyText = "attempt to write a readonly database"
)

// shmFull reports whether there was no room for the index of the log.
func shmFull(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code() == sqlite3.SQLITE_IOERR_SHMSIZE
}

// codeOf is SQLite's primary result code, 0 for an error that is not SQLite's.
func codeOf(err error) int {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code() & 0xff
}

// damaged reads the whole file. One that cannot be read for another reason is
// not called damaged.
func damaged(ctx context.Context, path string) bool {
	found, err := inspect(context.WithoutCancel(ctx), path)
	if code := codeOf(err); code == sqlite3.SQLITE_NOTADB || code == sqlite3.SQLITE_CORRUPT {
		return true
	}
	return err == nil && found != ""
}

// inspect returns the first thing that is wrong with the file, "" for none.
func inspect(ctx context.Context, path string) (found string, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return "", err
	}
	q := url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(5000)"}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String())
	if err != nil {
		return "", err
	}
	defer db.Close()
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&found); err != nil {
		return "", err
	}
	if found == "ok" {
		return "", nil
	}
	return found, nil
}

// Check reads the whole workflow file and returns an error of kind Corrupt,
// with the way out, when it is damaged. One that is not there is sound.
func Check(ctx context.Context, path string) error {
	if gone, err := absent(path); gone || err != nil {
		return err
	}
	found, err := inspect(ctx, path)
	if err != nil {
		return trouble(ctx, path, "check", err)
	}
	if found != "" {
		return trouble(ctx, path, "check", errors.New(found))
	}
	return nil
}
