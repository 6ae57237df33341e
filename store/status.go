package store

import "context"

// Status is the health of a store, for a person.
type Status struct {
	Database string       `json:"database"` // sqlite or postgres
	Where    string       `json:"where"`
	Schema   int64        `json:"schema"`
	Latest   int64        `json:"latest"` // the schema that this program knows
	Bytes    int64        `json:"bytes"`
	Tables   []TableCount `json:"tables"`
	Problems []string     `json:"problems"` // what the check of the whole database found; empty is good
}

// TableCount is how many records one table has.
type TableCount struct {
	Name string `json:"name"`
	Rows int64  `json:"rows"`
}

// Tables returns the names of the tables, in the order of the schema.
func Tables() []string {
	return []string{
		"actions", "actors", "resources", "projects", "project_links", "settings", "plans", "events", "claims",
		"decisions", "influences", "checkpoints", "calls", "tool_calls", "hunks", "gaps", "validation_results", "approvals", "blobs", "providers", "plan_marks", "sessions", "session_messages",
	}
}

// Status counts every table and checks the whole database, which reads all of it.
func (d *DB) Status(ctx context.Context) (Status, error) {
	s := Status{Database: d.c.Dialect.Name, Where: d.c.Where, Problems: []string{}}
	var err error
	if s.Latest, err = Latest(Migrations()); err != nil {
		return s, err
	}
	if s.Schema, err = Version(ctx, d.c.Read); err != nil {
		return s, d.fault(ctx, "read the schema's version", err)
	}
	if s.Tables, err = d.counts(ctx); err != nil {
		return s, err
	}
	if s.Bytes, err = d.c.Size(ctx, d.c.Read); err != nil {
		return s, d.fault(ctx, "measure the store", err)
	}
	found, err := d.c.Check(ctx, d.c.Read)
	if err != nil {
		return s, d.fault(ctx, "check the store", err)
	}
	s.Problems = append(s.Problems, found...)
	return s, nil
}

// counts counts all tables in one state.
func (d *DB) counts(ctx context.Context) ([]TableCount, error) {
	v, err := d.c.Read.BeginTx(ctx, &d.c.Dialect.Read)
	if err != nil {
		return nil, d.fault(ctx, "read the store", err)
	}
	defer v.Rollback()
	var out []TableCount
	for _, name := range Tables() {
		c := TableCount{Name: name}
		if err := v.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+name).Scan(&c.Rows); err != nil {
			return nil, d.fault(ctx, "count "+name, err)
		}
		out = append(out, c)
	}
	return out, nil
}
