package sqlite

import (
	"testing"

	lib "modernc.org/sqlite/lib"

	"github.com/cleveragents/agents/fault"
)

// A disk without room shows in two ways, of which only one says so.
func TestMeaning(t *testing.T) {
	for code, want := range map[int]fault.Kind{
		lib.SQLITE_FULL: fault.Exhausted, lib.SQLITE_IOERR_SHMSIZE: fault.Exhausted,
		lib.SQLITE_IOERR_READ: fault.Unavailable, lib.SQLITE_READONLY: fault.Unavailable,
		lib.SQLITE_CORRUPT: fault.Corrupt, lib.SQLITE_NOTADB: fault.Corrupt,
		lib.SQLITE_BUSY: fault.Busy, lib.SQLITE_CONSTRAINT_UNIQUE: fault.Exists,
	} {
		if got, ok := meaning(code); !ok || got != want {
			t.Errorf("code %d is %v (%v), want %v", code, got, ok, want)
		}
	}
	if _, ok := meaning(lib.SQLITE_MISUSE); ok {
		t.Error("a misuse has a meaning for users")
	}
}
