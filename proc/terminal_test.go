package proc_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/proc"
)

func TestTerminal(t *testing.T) {
	out := filepath.Join(t.TempDir(), "env")
	t.Setenv("OUT", out)
	t.Setenv("COLOURS", "many")
	t.Setenv("SOME_API_KEY", "hidden")
	if err := proc.Terminal(t.Context(), []string{"sh", "-c", `env > "$OUT"`}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(out)
	if err != nil || !strings.Contains(string(b), "COLOURS=many") || strings.Contains(string(b), "hidden") {
		t.Errorf("%v\n%s", err, b)
	}
	if err := proc.Terminal(t.Context(), []string{"sh", "-c", "exit 3"}); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("a program that fails: %v", err)
	}
	if err := proc.Terminal(t.Context(), []string{"no-such-program"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("no program: %v", err)
	}
}

func TestVars(t *testing.T) {
	t.Setenv("AGENTS_TESTVAR_a", "1=2")
	t.Setenv("OTHER_AGENTS_TESTVAR_b", "x")
	got := proc.Vars("AGENTS_TESTVAR_")
	if len(got) != 1 || got["AGENTS_TESTVAR_a"] != "1=2" {
		t.Errorf("%v", got)
	}
}
