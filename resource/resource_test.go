package resource_test

import (
	"strings"
	"testing"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/resource"
)

func TestTypes(t *testing.T) {
	sandbox := map[string]string{resource.GitCheckout: "git_worktree", resource.FSDirectory: "filesystem_copy"}
	if len(resource.Types()) != len(sandbox) {
		t.Fatalf("%d types, want %d", len(resource.Types()), len(sandbox))
	}
	for name, strategy := range sandbox {
		got, err := resource.FindType(name)
		if err != nil || got.Name != name || got.Sandbox != strategy || got.Description == "" {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
	_, err := resource.FindType("postgres")
	if !fault.Is(err, fault.NotFound) {
		t.Fatalf("got %v", err)
	}
	for name := range sandbox {
		if !strings.Contains(fault.As(err).Hint, name) {
			t.Errorf("the hint %q does not name %s", fault.As(err).Hint, name)
		}
	}
}
