package cli

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

func TestSessionDeleteAsks(t *testing.T) {
	for _, c := range []struct {
		name, in string
		tty      bool
		args     []string
		exit     int
		asked    string
		deleted  string
	}{
		{"yes", "y\n", true, nil, 0, "session/show session/delete", sessionID},
		{"no", "n\n", true, nil, 9, "session/show", ""},
		{"nothing", "", true, nil, 9, "session/show", ""},
		{"--yes", "", true, []string{"--yes"}, 0, "session/delete", "talk"},
		{"--yes without a person", "", false, []string{"--yes"}, 0, "session/delete", "talk"},
		{"--no-input", "y\n", true, []string{"--no-input"}, 4, "session/show", ""},
		{"pipe", "y\n", false, nil, 4, "session/show", ""},
	} {
		w := newWorld(answers())
		if c.tty {
			w.terminal()
		}
		w.in = c.in
		w.want(t, c.exit, append(c.args, "session", "delete", "talk")...)
		if got := strings.Join(w.asked, " "); got != c.asked {
			t.Errorf("%s: asked %s, want %s", c.name, got, c.asked)
		}
		if got, _ := w.reqs["session/delete"].(a2a.RefQuery); got.Ref != c.deleted {
			t.Errorf("%s: deleted %q, want %q", c.name, got.Ref, c.deleted)
		}
		if c.exit == 4 && !strings.Contains(w.err.String(), "agents session delete "+sessionID+" --yes") {
			t.Errorf("%s: no way on in %s", c.name, &w.err)
		}
	}
}

func TestSessionTellReadsStandardInput(t *testing.T) {
	w := newWorld(answers())
	w.in = "why?\n"
	w.want(t, 0, "session", "tell", "talk", "-")
	if got, _ := w.reqs["session/tell"].(a2a.SessionTellRequest); got.Text != "why?\n" || got.Ref != "talk" || !got.NoInput {
		t.Errorf("asked %+v", got)
	}
	w.in = " \n"
	w.want(t, 2, "session", "tell", "talk", "-")
	w.want(t, 2, "session", "tell", "talk")
	w.want(t, 2, "session", "show", "--messages", "0")
}

// made is a new file in memory.
type made struct {
	bytes.Buffer
	closed, discarded bool
}

func (m *made) Close() error { m.closed = true; return nil }
func (m *made) Discard()     { m.discarded = true }

func TestSessionExportWritesItsFile(t *testing.T) {
	for _, broken := range []bool{false, true} {
		var file made
		var path string
		list := answers()
		list["session/export"] = func(_ context.Context, req any, _ func(plan.Event)) (any, error) {
			q, _ := req.(a2a.SessionExportRequest)
			out, err := q.To(a2a.SessionSummary{Name: "local/talk"})
			if err != nil {
				return nil, err
			}
			if _, err := io.WriteString(out, "lines"); err != nil {
				return nil, err
			}
			if broken {
				return nil, fault.New(fault.Exhausted, "too much")
			}
			return a2a.SessionCarryView{}, nil
		}
		w := newWorld(list)
		w.env.Create = func(p string) (NewFile, error) { path = p; return &file, nil }
		exit := 0
		if broken {
			exit = 6
		}
		w.want(t, exit, "session", "export", "talk")
		if path != "/home/ann/shop/talk.jsonl" || file.String() != "lines" || file.closed == broken || file.discarded != broken {
			t.Errorf("%s holds %q: %+v", path, &file.Buffer, &file)
		}
	}
}
