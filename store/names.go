package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
)

// Care is a transaction of whoever keeps the store tidy: it sees every row of
// every table as text, and can take blobs out.
type Care struct {
	engine.Tx
	t *tx
}

// Name is one hash that stands in a row, in whatever column.
type Name struct {
	Table string
	Plan  ident.PlanID // "" where the row is of no plan
	Hash  string
}

// Care runs f on one consistent state, and when write is set in an Update, so
// that no row is added between what f reads and what it takes out.
func (d *DB) Care(ctx context.Context, write bool, f func(*Care) error) error {
	run := d.View
	if write {
		run = d.Update
	}
	return run(ctx, func(x engine.Tx) error {
		t, ok := x.(*tx)
		if !ok {
			return fault.New(fault.Internal, "care: a transaction of another store")
		}
		return f(&Care{Tx: x, t: t})
	})
}

// Names calls f for everything in any row that could be the name of a blob: 64
// hexadecimal digits, in whatever column, so that a column which is added later
// counts before anybody thinks of it. The rows of blobs are left out, and of the
// plans that dropBases picks, the snapshots they were forked from.
func (c *Care) Names(dropBases func(ident.PlanID) bool, f func(Name)) error {
	for _, table := range Tables() {
		if table == "blobs" {
			continue
		}
		if err := c.names(table, dropBases, f); err != nil {
			return err
		}
	}
	return nil
}

func (c *Care) names(table string, dropBases func(ident.PlanID) bool, f func(Name)) error {
	what := "names in " + table
	rows, err := c.t.sql.QueryContext(c.t.ctx, "SELECT * FROM "+table)
	if err != nil {
		return c.t.spoil(what, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return c.t.spoil(what, err)
	}
	cells := make([]sql.NullString, len(columns))
	into := make([]any, len(columns))
	for i := range cells {
		into[i] = &cells[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return unreadable(what, err)
		}
		var id ident.PlanID
		for i, name := range columns {
			if name == "plan_id" || table == "plans" && name == "id" {
				id = ident.PlanID(cells[i].String)
			}
		}
		for i, name := range columns {
			text := cells[i].String
			if table == "plans" && name == "doc" && dropBases(id) {
				if text, err = withoutBases(text); err != nil {
					return unreadable("plan "+string(id), err)
				}
			}
			Hashes([]byte(text), func(hash string) { f(Name{table, id, hash}) })
		}
	}
	if err := rows.Err(); err != nil {
		return c.t.spoil(what, err)
	}
	return nil
}

// withoutBases takes the bases out of a plan's document and leaves whatever
// else is in it, known or not.
func withoutBases(doc string) (string, error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(doc), &m); err != nil {
		return "", err
	}
	delete(m, "bases")
	b, err := json.Marshal(m)
	return string(b), err
}

// hashLen is the length of a blob's name.
const hashLen = 64

// Hashes calls f for every run of exactly 64 lower-case hexadecimal digits.
func Hashes(b []byte, f func(hash string)) {
	start := 0
	for i := 0; i <= len(b); i++ {
		if i < len(b) && (b[i] >= '0' && b[i] <= '9' || b[i] >= 'a' && b[i] <= 'f') {
			continue
		}
		if i-start == hashLen {
			f(string(b[start:i]))
		}
		start = i + 1
	}
}

// BlobRows returns the blobs that lie in rows, with the bytes that each takes.
func (c *Care) BlobRows() (map[string]int64, error) {
	rows, err := c.t.sql.QueryContext(c.t.ctx, "SELECT hash, LENGTH(data) FROM blobs")
	if err != nil {
		return nil, c.t.spoil("list blobs", err)
	}
	defer rows.Close()
	out := map[string]int64{}
	for rows.Next() {
		var hash string
		var n int64
		if err := rows.Scan(&hash, &n); err != nil {
			return nil, unreadable("list blobs", err)
		}
		out[hash] = n
	}
	if err := rows.Err(); err != nil {
		return nil, c.t.spoil("list blobs", err)
	}
	return out, nil
}

// RemoveBlob takes a blob out of the rows.
func (c *Care) RemoveBlob(hash string) error {
	_, err := c.t.exec("blob "+hash, "DELETE FROM blobs WHERE hash = $1", hash)
	return err
}

// Claims returns who runs which plan.
func (c *Care) Claims() ([]Claim, error) {
	of := func(r *Claim) []column {
		return []column{text("plan_id", &r.Plan), text("holder", &r.Holder), moment("at", &r.At)}
	}
	return list(c.t, "claims", of, "FROM claims ORDER BY plan_id")
}

// Claim says that a process runs a plan.
type Claim struct {
	Plan   ident.PlanID
	Holder string
	At     time.Time
}
