package llm_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cleveragents/agents/llm"
)

func TestWireName(t *testing.T) {
	long := strings.Repeat("n", 65)
	for name, want := range map[string]string{
		"builtin/read": "builtin__read", "read": "read", "srv:ns/do.it": "srv_ns__do_it", "": "_",
		long[:64]: long[:64], long: long[:55] + "_1e3fb6d5",
	} {
		if got := llm.WireName(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestWireNameIsAllowed(t *testing.T) {
	allowed := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	rapid.Check(t, func(t *rapid.T) {
		if name := rapid.String().Draw(t, "name"); !allowed.MatchString(llm.WireName(name)) {
			t.Fatalf("%q is %q", name, llm.WireName(name))
		}
	})
}
