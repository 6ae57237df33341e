package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/store"
)

func dialect() store.Dialect {
	return store.Dialect{
		Name: "sqlite", Read: sql.TxOptions{ReadOnly: true}, Kind: kind, Prepare: true,
		// In WAL mode NORMAL keeps every commit from a death of the process, and
		// leaves syncing the log to the next commit under FULL.
		Relax: "PRAGMA synchronous = NORMAL", Strict: "PRAGMA synchronous = FULL",
	}
}

// kind tells what a result code of SQLite means.
func kind(err error) (fault.Kind, bool) {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return 0, false
	}
	return meaning(e.Code())
}

// meaning tells what a result code means.
func meaning(code int) (fault.Kind, bool) {
	switch code {
	case lib.SQLITE_IOERR_SHMSIZE:
		return fault.Exhausted, true // no room for the index of the log
	case lib.SQLITE_CONSTRAINT_UNIQUE, lib.SQLITE_CONSTRAINT_PRIMARYKEY:
		return fault.Exists, true
	case lib.SQLITE_CONSTRAINT_FOREIGNKEY:
		return fault.NotFound, true
	}
	switch code & 0xff { // the rest of the code is detail
	case lib.SQLITE_CONSTRAINT, lib.SQLITE_TOOBIG:
		return fault.Invalid, true
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return fault.Busy, true
	case lib.SQLITE_FULL:
		return fault.Exhausted, true
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return fault.Corrupt, true
	case lib.SQLITE_READONLY, lib.SQLITE_CANTOPEN, lib.SQLITE_IOERR, lib.SQLITE_PERM:
		return fault.Unavailable, true
	case lib.SQLITE_INTERRUPT:
		return fault.Cancelled, true
	}
	return 0, false
}

// check reads every page and every reference.
func check(ctx context.Context, db *sql.DB) ([]string, error) {
	var found []string
	rows, err := db.QueryContext(ctx, "PRAGMA quick_check")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		if s != "ok" {
			found = append(found, s)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	broken, err := db.QueryContext(ctx, "PRAGMA foreign_key_check")
	if err != nil {
		return nil, err
	}
	defer broken.Close()
	for broken.Next() {
		var table, parent string
		var row sql.NullInt64
		var key int
		if err := broken.Scan(&table, &row, &parent, &key); err != nil {
			return nil, err
		}
		found = append(found, fmt.Sprintf("row %d of %s refers to nothing in %s", row.Int64, table, parent))
	}
	return found, broken.Err()
}
