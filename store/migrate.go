package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"

	"github.com/cleveragents/agents/fault"
)

//go:embed migrations/*.sql
var embedded embed.FS

// Migrations returns the steps of the schema, one SQL file a version, the same
// for both databases.
func Migrations() fs.FS {
	sub, err := fs.Sub(embedded, "migrations")
	if err != nil {
		panic(fmt.Sprintf("store: embedded migrations: %v", err)) // the name is a constant
	}
	return sub
}

// Latest returns the version that the last of the steps leads to.
func Latest(steps fs.FS) (int64, error) {
	found, err := fs.Glob(steps, "*.sql")
	if err != nil || len(found) == 0 {
		return 0, fault.New(fault.Internal, "no migrations: %v", err)
	}
	var last int64
	for _, f := range found {
		digits, _, _ := strings.Cut(path.Base(f), "_")
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return 0, fault.New(fault.Internal, "migration %s: %w", f, err)
		}
		last = max(last, n)
	}
	return last, nil
}

// Pending returns the names of the steps that lead on from a version.
func Pending(steps fs.FS, has int64) ([]string, error) {
	found, err := fs.Glob(steps, "*.sql") // sorted
	if err != nil {
		return nil, fault.New(fault.Internal, "migrations: %w", err)
	}
	out := []string{}
	for _, f := range found {
		digits, _, _ := strings.Cut(path.Base(f), "_")
		if n, err := strconv.ParseInt(digits, 10, 64); err == nil && n > has {
			out = append(out, strings.TrimSuffix(f, ".sql"))
		}
	}
	return out, nil
}

// Version returns the version of a schema that goose keeps; the caller knows
// that its table is there.
func Version(ctx context.Context, db interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}) (int64, error) {
	var v int64
	err := db.QueryRowContext(ctx, "SELECT COALESCE(MAX(version_id), 0) FROM goose_db_version WHERE is_applied").Scan(&v)
	return v, err
}

// Migrate takes the schema to the latest version, each step in a transaction of
// its own. The caller keeps other processes away meanwhile and has checked that
// the schema is not newer.
func Migrate(ctx context.Context, db *sql.DB, dialect goose.Dialect, steps fs.FS) error {
	p, err := goose.NewProvider(dialect, db, steps, goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return fault.New(fault.Internal, "migrate the store: %w", err)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate the store: %w", err)
	}
	return nil
}

// Newer is the refusal of a schema that a later version of the program made.
func Newer(where string, has, knows int64) error {
	return fault.New(fault.Unavailable, "%s was written by a newer version of agents: its schema is %d, this one knows up to %d",
		where, has, knows).WithHint("use the newer version; nothing was changed")
}
