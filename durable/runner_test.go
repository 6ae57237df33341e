package durable

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cleveragents/agents/fault"
)

func TestOpenAnyPath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "a b?c#d%41&_pragma=x.db")
	r, err := Open(t.Context(), Config{Path: path, Live: deadTo{nobody{}}})
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	if err := r.Run(t.Context(), "p.1", count(2, &got)); err != nil {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("second Close = %v", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 || info.Size() == 0 {
		t.Errorf("file: mode %v, %d bytes", info.Mode(), info.Size())
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage.db")
	if err := os.WriteFile(garbage, []byte("this is not a database, and it is longer than a header is"), 0o600); err != nil {
		t.Fatal(err)
	}
	live := deadTo{nobody{}}
	tests := []struct {
		name string
		env  string
		c    Config
		want fault.Kind
	}{
		{"no path", "", Config{Live: live}, fault.Internal},
		{"no liveness", "", Config{Path: filepath.Join(dir, "a.db")}, fault.Internal},
		{"not a database", "", Config{Path: garbage, Live: live}, fault.Corrupt},
		{"a directory", "", Config{Path: dir, Live: live}, fault.Unavailable},
		{"below a file", "", Config{Path: filepath.Join(garbage, "a.db"), Live: live}, fault.Unavailable},
		{"renamed by the environment", "DBOS__VMID", Config{Path: filepath.Join(dir, "b.db"), Live: live}, fault.Invalid},
		{"reversioned by the environment", "DBOS__APPVERSION", Config{Path: filepath.Join(dir, "b.db"), Live: live}, fault.Invalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.env != "" {
				t.Setenv(tt.env, "x")
			}
			r, err := Open(t.Context(), tt.c)
			if err == nil {
				_ = r.Close()
			}
			if !fault.Is(err, tt.want) {
				t.Errorf("Open = %v, want %v", err, tt.want)
			}
		})
	}
}

// The one who waits for another process's opening gives up with its context.
func TestOpeningWaitsForTheLockOnlyAsLongAsItsCaller(t *testing.T) {
	path := filepath.Join(stateDir(t), "engine.db")
	f, err := os.Create(path + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := flock(f, unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, Config{Path: path, Live: deadTo{nobody{}}}); !fault.Is(err, fault.Busy) {
		t.Errorf("Open = %v, want Busy", err)
	}
}
