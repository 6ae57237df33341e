package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
)

// tx implements engine.Tx on one transaction.
type tx struct {
	db       *DB
	ctx      context.Context // of the Update or View that made it
	sql      *sql.Tx
	stmts    *statements
	readOnly bool
	spoiled  error    // the database refused something: it cannot commit any more
	undo     []func() // gives back the numbers that records got
}

var _ engine.Tx = (*tx)(nil)

func (t *tx) takeBack() {
	for i := len(t.undo) - 1; i >= 0; i-- {
		t.undo[i]()
	}
}

// assign sets *p to v until the transaction fails.
func assign[T any](t *tx, p *T, v T) {
	old := *p
	t.undo = append(t.undo, func() { *p = old })
	*p = v
}

// spoil turns an error of the database into ours and ends the transaction:
// PostgreSQL refuses whatever follows, so SQLite is held to the same.
func (t *tx) spoil(what string, err error) error {
	err = t.db.fault(t.ctx, what, err)
	if t.spoiled == nil {
		t.spoiled = err
	}
	return err
}

func (t *tx) mayWrite(what string) error {
	if t.readOnly {
		return fault.New(fault.Internal, "%s: a view cannot write", what)
	}
	return t.spoiled
}

// exec runs one writing statement and returns how many rows it changed.
func (t *tx) exec(what, query string, args ...any) (int64, error) {
	if err := t.mayWrite(what); err != nil {
		return 0, err
	}
	r, err := t.stmts.exec(t, query, args)
	if err != nil {
		return 0, t.spoil(what, err)
	}
	n, err := r.RowsAffected()
	if err != nil {
		return 0, t.spoil(what, err)
	}
	return n, nil
}

// insert stores a new row; one with the same key is fault.Exists and leaves
// the transaction usable.
func (t *tx) insert(what, table string, cols []column) error {
	args, err := values(cols)
	if err != nil {
		return invalid(what, err)
	}
	n, err := t.exec(what, insertText(table, names(cols), params(1, len(cols)), ""), args...)
	if err == nil && n == 0 {
		return exists(what)
	}
	return err
}

// insertNext is insert with one more column, counter, that gets the next
// number of all rows where scope has this row's value ("" for the whole
// table). Writers never overlap, so the number is unique and leaves no gap.
func (t *tx) insertNext(what, table, counter, scope string, cols []column) (int64, error) {
	if err := t.mayWrite(what); err != nil {
		return 0, err
	}
	args, err := values(cols)
	if err != nil {
		return 0, invalid(what, err)
	}
	next := "(SELECT COALESCE(MAX(" + counter + "), 0) + 1 FROM " + table
	for i, c := range cols {
		if c.name == scope {
			next += " WHERE " + scope + " = " + param(i+1)
		}
	}
	next += ")"
	q := insertText(table, names(cols)+", "+counter, params(1, len(cols))+", "+next, " RETURNING "+counter)
	var n int64
	switch err := t.stmts.row(t, q, args).Scan(&n); {
	case errors.Is(err, sql.ErrNoRows):
		return 0, exists(what)
	case err != nil:
		return 0, t.spoil(what, err)
	}
	return n, nil
}

func insertText(table, names, values, tail string) string {
	return "INSERT INTO " + table + " (" + names + ") VALUES (" + values + ") ON CONFLICT DO NOTHING" + tail
}

func params(from, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(param(from + i))
	}
	return b.String()
}

// update stores the columns that may change in the row where key has the value
// id, and returns whether there was one. Where and its arguments narrow it; the
// arguments are numbered from 2.
func (t *tx) update(what, table, key, id string, cols []column, where string, more ...any) (bool, error) {
	args := append([]any{id}, more...)
	var set []string
	for _, c := range cols {
		if c.fixed {
			continue
		}
		v, err := c.cell.get()
		if err != nil {
			return false, fault.New(fault.Invalid, "%s: column %s: %w", what, c.name, err)
		}
		args = append(args, v)
		set = append(set, c.name+" = "+param(len(args)))
	}
	n, err := t.exec(what, "UPDATE "+table+" SET "+strings.Join(set, ", ")+" WHERE "+key+" = $1"+where, args...)
	return n == 1, err
}

// list returns the records that the tail of a SELECT (FROM and on) finds.
func list[T any](t *tx, what string, of func(*T) []column, tail string, args ...any) ([]T, error) {
	if t.spoiled != nil {
		return nil, t.spoiled
	}
	var proto T
	rows, err := t.stmts.query(t, "SELECT "+names(of(&proto))+" "+tail, args)
	if err != nil {
		return nil, t.spoil(what, err)
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		var v T
		if err := rows.Scan(targets(of(&v))...); err != nil {
			return nil, unreadable(what, err)
		}
		out = append(out, v)
	}
	if err := rows.Err(); err != nil {
		return nil, t.spoil(what, err)
	}
	return out, nil
}

// one returns the only record that the tail of a SELECT finds; none is
// fault.NotFound, "no " and what.
func one[T any](t *tx, what string, of func(*T) []column, tail string, args ...any) (T, error) {
	var none T
	found, err := list(t, what, of, tail, args...)
	if err != nil {
		return none, err
	}
	if len(found) == 0 {
		return none, missing(what)
	}
	return found[0], nil
}

// column1 is the column list of a query for one text.
func column1(name string) func(*string) []column {
	return func(s *string) []column { return []column{text(name, s)} }
}

func targets(cols []column) []any {
	out := make([]any, len(cols))
	for i, c := range cols {
		out[i] = c
	}
	return out
}

// unreadable is for a value in a table that this program cannot have written.
func unreadable(what string, err error) error {
	return fault.New(fault.Corrupt, "%s: cannot read the record: %w", what, err)
}

func invalid(what string, err error) error { return fault.New(fault.Invalid, "%s: %w", what, err) }

func missing(what string) error { return fault.New(fault.NotFound, "no %s", what) }

func exists(what string) error { return fault.New(fault.Exists, "%s exists already", what) }

func changed(what string, ok bool, err error) error {
	if err == nil && !ok {
		return missing(what)
	}
	return err
}
