package cli

import (
	"context"
	"testing"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

// A person is asked before data is replaced; nobody is asked where nobody is.
func TestRestoreAsks(t *testing.T) {
	for _, c := range []struct {
		name, in string
		terminal bool
		args     []string
		exit     int
		asked    int
	}{
		{"no terminal", "", false, nil, 4, 1},
		{"yes", "y\n", true, nil, 0, 2},
		{"no", "n\n", true, nil, 9, 1},
		{"no input", "y\n", true, []string{"--no-input"}, 4, 1},
		{"said before", "", false, []string{"--yes"}, 0, 1},
	} {
		w := newWorld(answers())
		if c.terminal {
			w.terminal()
		}
		w.answers["db/restore"] = answerer(func(_ context.Context, req any, _ func(plan.Event)) (any, error) {
			if !req.(a2a.DBRestoreRequest).Replace {
				return nil, fault.New(fault.Waiting, "/d holds data")
			}
			return answers()["db/restore"], nil
		})
		w.in = c.in
		if got := w.run(append(c.args, "db", "restore", "b.tar")...); got != c.exit || len(w.asked) != c.asked {
			t.Errorf("%s: exit %d after %d operations, want %d after %d\n%s", c.name, got, len(w.asked), c.exit, c.asked, &w.err)
		}
	}
}
