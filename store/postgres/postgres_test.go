package postgres_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/store/postgres"
	"github.com/cleveragents/agents/store/storetest"
)

// fresh makes an empty database and returns how to reach it.
func fresh(t *testing.T, n *atomic.Int64) string {
	t.Helper()
	dsn := os.Getenv("AGENTS_TEST_POSTGRES")
	if dsn == "" {
		t.Skip("AGENTS_TEST_POSTGRES is not set: start a server with store/storetest/postgres.sh, or run ./test")
	}
	ctx := context.WithoutCancel(t.Context())
	admin, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("t%d_%s_%d", os.Getpid(), strings.ToLower(t.Name()[:5]), n.Add(1))
	if _, err := admin.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := admin.Exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
		admin.Close(ctx)
	})
	return dsn + " dbname=" + name
}

func TestStore(t *testing.T) {
	var n atomic.Int64
	storetest.Run(t, func(t *testing.T) engine.Store {
		s, err := postgres.Open(t.Context(), fresh(t, &n), postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	})
}

// TestOpenTogether: several that open an empty database at once make its schema
// once, and one that waits too long for its turn is told so.
func TestOpenTogether(t *testing.T) {
	var n atomic.Int64
	dsn := fresh(t, &n)
	stores := make([]engine.Store, 6)
	var all sync.WaitGroup
	for i := range stores {
		all.Go(func() {
			s, err := postgres.Open(t.Context(), dsn, postgres.Options{Busy: 5 * time.Second})
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { s.Close() })
			stores[i] = s
		})
	}
	all.Wait()
	if t.Failed() {
		return
	}
	quick, err := postgres.Open(t.Context(), dsn, postgres.Options{Busy: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer quick.Close()
	err = stores[0].Update(t.Context(), func(tx engine.Tx) error {
		err := quick.Update(t.Context(), func(engine.Tx) error { return nil })
		if !fault.Is(err, fault.Busy) || fault.As(err).Hint == "" {
			t.Errorf("got error %v while another writes, want Busy with a hint", err)
		}
		return tx.InsertPlan(plan.Plan{ID: "one"})
	})
	if err != nil {
		t.Fatal(err)
	}
	status, err := quick.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if status.Schema != status.Latest || status.Bytes == 0 || len(status.Problems) > 0 {
		t.Errorf("got status %+v", status)
	}
}

func TestNewerSchema(t *testing.T) {
	var n atomic.Int64
	dsn := fresh(t, &n)
	s, err := postgres.Open(t.Context(), dsn, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, true)"); err != nil {
		t.Fatal(err)
	}
	if _, err := postgres.Open(t.Context(), dsn, postgres.Options{}); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "99") {
		t.Errorf("got error %v for a newer schema", err)
	}
}

func TestUnreachable(t *testing.T) {
	dsn := "host=" + t.TempDir() + " port=1 user=agents password=secret dbname=none"
	_, err := postgres.Open(t.Context(), dsn, postgres.Options{})
	if !fault.Is(err, fault.Unavailable) || strings.Contains(err.Error(), "secret") {
		t.Errorf("got error %v for a server that is not there", err)
	}
	if _, err := postgres.Open(t.Context(), "postgres://u:secret@h:x/", postgres.Options{}); !fault.Is(err, fault.Invalid) || strings.Contains(err.Error(), "secret") {
		t.Errorf("got error %v for an address that is none", err)
	}
}
