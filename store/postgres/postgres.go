// Package postgres opens the store in a PostgreSQL database, for when several
// machines share it. Writers take one advisory lock each, in turn, so that the
// store behaves as it does in one file; readers see one snapshot and never
// wait. It does not reconnect within a transaction and does not make databases
// or roles.
package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/store"
)

// The keys of the advisory locks, which are counted per database: "agents" and
// a number in ASCII.
const (
	writeLock   = 0x6167656e747301
	migrateLock = 0x6167656e747302
)

// Options are the choices of Open. The zero value is good.
type Options struct {
	Busy    time.Duration // how long a writer waits for its turn; 0 means store.DefaultBusy
	Readers int           // connections that read; 0 means 8
}

// Open opens the store that dsn (a URL or key=value words) leads to and brings
// its schema up to date. A schema that a newer program made is
// fault.Unavailable, as is a server that cannot be reached.
func Open(ctx context.Context, dsn string, o Options) (*store.DB, error) {
	if o.Busy == 0 {
		o.Busy = store.DefaultBusy
	}
	if o.Readers == 0 {
		o.Readers = 8
	}
	c, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fault.New(fault.Invalid, "the address of the PostgreSQL store: %v", err) // pgx masks the password
	}
	c.RuntimeParams["application_name"] = "agents"
	c.RuntimeParams["lock_timeout"] = strconv.FormatInt(o.Busy.Milliseconds(), 10)
	// A writer that hangs in mid-transaction must not stop the others for ever.
	c.RuntimeParams["idle_in_transaction_session_timeout"] = "60000"
	db := stdlib.OpenDB(*c)
	db.SetMaxOpenConns(o.Readers + 1) // one writes
	db.SetMaxIdleConns(o.Readers + 1)
	where := "postgres://" + net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))) + "/" + c.Database
	if err := upgrade(ctx, db, where); err != nil {
		db.Close()
		return nil, err
	}
	return store.New(store.Config{
		Write: db, Read: db, Dialect: dialect(), Busy: o.Busy, Where: where, Check: check, Size: size,
	}), nil
}

func dialect() store.Dialect {
	return store.Dialect{
		Name: "postgres",
		// With all writers in a row, each statement sees all that was committed.
		Lock:    fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", int64(writeLock)),
		RelaxTx: "SET LOCAL synchronous_commit = off",
		Write:   sql.TxOptions{Isolation: sql.LevelReadCommitted},
		Read:    sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true},
		Kind:    kind,
	}
}

// upgrade brings the schema to the latest version while it holds the lock of
// the schema on a connection of its own.
func upgrade(ctx context.Context, db *sql.DB, where string) error {
	latest, err := store.Latest(store.Migrations())
	if err != nil {
		return err
	}
	lock, err := db.Conn(ctx)
	if err != nil {
		return trouble(ctx, where, err)
	}
	defer lock.Close()
	if _, err := lock.ExecContext(ctx, "SELECT pg_advisory_lock($1)", int64(migrateLock)); err != nil {
		return trouble(ctx, where, err)
	}
	// Also when ctx is done: the connection goes back into the pool.
	defer lock.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", int64(migrateLock))
	var ours bool
	if err := lock.QueryRowContext(ctx, "SELECT to_regclass('goose_db_version') IS NOT NULL").Scan(&ours); err != nil {
		return trouble(ctx, where, err)
	}
	if ours {
		has, err := store.Version(ctx, lock)
		if err != nil {
			return trouble(ctx, where, err)
		}
		if has > latest {
			return store.Newer(where, has, latest)
		}
		if has == latest {
			return nil
		}
	}
	if err := store.Migrate(ctx, db, "postgres", store.Migrations()); err != nil {
		return trouble(ctx, where, err)
	}
	return nil
}

// trouble names the server in an error while the store is being opened.
func trouble(ctx context.Context, where string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("open %s: %w", where, ctx.Err())
	}
	if k, ok := kind(err); ok {
		return fault.New(k, "open %s: %w", where, err)
	}
	return fmt.Errorf("open %s: %w", where, err)
}

// kind tells what a SQLSTATE, or a connection that is gone, means.
func kind(err error) (fault.Kind, bool) {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		var connect *pgconn.ConnectError
		var network net.Error
		gone := errors.As(err, &connect) || errors.As(err, &network) || pgconn.SafeToRetry(err)
		return fault.Unavailable, gone
	}
	switch e.Code {
	case "23505": // unique_violation
		return fault.Exists, true
	case "23503": // foreign_key_violation
		return fault.NotFound, true
	case "55P03", "40001", "40P01": // lock_not_available, serialization_failure, deadlock_detected
		return fault.Busy, true
	case "25006": // read_only_sql_transaction
		return fault.Unavailable, true
	case "28000", "28P01": // who we are is not accepted
		return fault.Denied, true
	}
	switch e.Code[:min(2, len(e.Code))] {
	case "22", "23": // a value that the schema refuses
		return fault.Invalid, true
	case "53": // out of disk, memory or connections
		return fault.Exhausted, true
	case "08", "57": // the connection, or the server going down
		return fault.Unavailable, true
	case "XX": // data_corrupted, index_corrupted
		return fault.Corrupt, true
	}
	return 0, false
}

// check has nothing of its own to find: the server watches over its pages and
// references. It tells whether the server keeps what it commits.
func check(ctx context.Context, db *sql.DB) ([]string, error) {
	var found []string
	for _, name := range []string{"fsync", "full_page_writes", "synchronous_commit"} {
		var value string
		if err := db.QueryRowContext(ctx, "SELECT current_setting($1)", name).Scan(&value); err != nil {
			return nil, err
		}
		if value == "off" {
			found = append(found, "the server runs with "+name+" = off: what was committed can be lost")
		}
	}
	return found, nil
}

func size(ctx context.Context, db *sql.DB) (n int64, err error) {
	err = db.QueryRowContext(ctx, "SELECT pg_database_size(current_database())").Scan(&n)
	return n, err
}
