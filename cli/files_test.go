package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/plan"
)

// A long list of files is cut for people, never in a pipe and never where all is
// asked for.
func TestLongListsOfFiles(t *testing.T) {
	list := answers()
	o := a2a.PlanOutcome{Plan: summary(plan.PhaseApply, plan.Applied)}
	for i := range 30 {
		o.Changed = append(o.Changed, a2a.FileStat{Path: fmt.Sprintf("f%02d.go", i), Status: "modified", Added: 1})
	}
	list["plan/status"] = o
	for _, c := range []struct {
		args  string
		files int
	}{
		{"--format rich", 20}, {"--format table", 20}, {"--format plain", 30}, {"--format rich -v", 30}, {"--format rich --wide", 30},
	} {
		w := newWorld(list)
		w.want(t, 0, append(strings.Fields(c.args), "plan", "status")...)
		if got := strings.Count(w.out.String(), ".go"); got != c.files {
			t.Errorf("%s: %d files, want %d:\n%s", c.args, got, c.files, &w.out)
		}
		if got, want := strings.Contains(w.out.String(), "and 10 more files"), c.files < 30; got != want {
			t.Errorf("%s: says how many more: %v\n%s", c.args, got, &w.out)
		}
		if !strings.Contains(w.out.String(), "30 files, +30 -0") {
			t.Errorf("%s: the sum is not of all:\n%s", c.args, &w.out)
		}
	}
}

func TestLongRowsOfChanges(t *testing.T) {
	var events []plan.Event
	for i := range 25 {
		events = append(events, event(int64(i+1), "change.recorded", fmt.Sprintf(`{"path":"f%02d.go","status":"modified"}`, i)))
	}
	events = append(events, event(30, "plan.state", `{"to":"execute/complete"}`), event(31, "change.recorded", `{"path":"last.go","status":"added"}`))
	list := answers()
	list["plan/execute"] = streaming(list["plan/execute"], events...)
	w := newWorld(list)
	w.want(t, 0, "plan", "execute")
	if got := w.err.String(); strings.Count(got, ".go") != 21 || !strings.Contains(got, "± … and 5 more changed files\n● execute/complete\n± added last.go\n") {
		t.Errorf("stderr:\n%s", got)
	}
	w.want(t, 0, "plan", "execute", "-v")
	if got := w.err.String(); strings.Count(got, ".go") != 26 || strings.Contains(got, "more changed") {
		t.Errorf("stderr:\n%s", got)
	}
}
