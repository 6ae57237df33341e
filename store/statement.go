package store

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// statements keeps the prepared statements of one pool: the texts are few and
// fixed, and SQLite takes longer to parse most of them than to run them. A text
// that a transaction has used twice is prepared after it, when its connection
// is free again; a program that asks once pays nothing. The zero value
// prepares nothing.
type statements struct {
	db   *sql.DB
	mu   sync.Mutex
	of   map[string]*sql.Stmt // nil: used once
	want []string
}

// maxStatements bounds what is kept, should a text ever hold a value.
const maxStatements = 256

// in returns the statement for use in the transaction, nil to use the text.
func (s *statements) in(t *tx, text string) *sql.Stmt {
	if s.db == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch st, used := s.of[text]; {
	case st != nil:
		return t.sql.StmtContext(t.ctx, st)
	case used:
		s.want = append(s.want, text)
	case len(s.of) < maxStatements:
		if s.of == nil {
			s.of = map[string]*sql.Stmt{}
		}
		s.of[text] = nil
	}
	return nil
}

// prepare makes the statements that were wanted. It may wait for a connection,
// so it holds no lock meanwhile. One that fails is not a fault: its text says
// so to whoever uses it.
func (s *statements) prepare(ctx context.Context) {
	s.mu.Lock()
	want := s.want
	s.want = nil
	s.mu.Unlock()
	for _, text := range want {
		st, err := s.db.PrepareContext(ctx, text)
		if err != nil {
			continue
		}
		s.mu.Lock()
		if old := s.of[text]; old == nil && s.of != nil {
			s.of[text], st = st, nil
		}
		s.mu.Unlock()
		if st != nil { // another one was quicker, or the store is closed
			st.Close()
		}
	}
}

func (s *statements) exec(t *tx, text string, args []any) (sql.Result, error) {
	if st := s.in(t, text); st != nil {
		return st.ExecContext(t.ctx, args...)
	}
	return t.sql.ExecContext(t.ctx, text, args...)
}

func (s *statements) query(t *tx, text string, args []any) (*sql.Rows, error) {
	if st := s.in(t, text); st != nil {
		return st.QueryContext(t.ctx, args...)
	}
	return t.sql.QueryContext(t.ctx, text, args...)
}

func (s *statements) row(t *tx, text string, args []any) *sql.Row {
	if st := s.in(t, text); st != nil {
		return st.QueryRowContext(t.ctx, args...)
	}
	return t.sql.QueryRowContext(t.ctx, text, args...)
}

func (s *statements) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for _, st := range s.of {
		if st != nil {
			err = errors.Join(err, st.Close())
		}
	}
	s.of = nil
	return err
}
