package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/plan"
)

// A terminal says how long ago something was; a pipe and --wide say when.
func TestMoments(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--format rich plan list", "3h ago"}, {"--format rich plan show", "3h ago"},
		{"--format rich approval list --sort created", "3h ago"},
		{"--format table plan show", "2026-03-04 05:06:07Z"}, {"plan show", "2026-03-04 05:06:07Z"},
		{"--format rich plan list --wide", "2026-03-04 05:06:07Z"},
	} {
		list := answers()
		x := list["approval/list"].(a2a.ApprovalsView)
		x.Approvals = append([]plan.Approval(nil), x.Approvals...)
		for i := range x.Approvals {
			x.Approvals[i].Created = at()
		}
		list["approval/list"] = x
		w := newWorld(list)
		w.env.Now = func() time.Time { return at().Add(3*time.Hour + 59*time.Minute) }
		w.want(t, 0, strings.Fields(c.args)...)
		if !strings.Contains(w.out.String(), c.want) {
			t.Errorf("%s: no %q in\n%s", c.args, c.want, &w.out)
		}
	}
}

func TestAgo(t *testing.T) {
	const day = 24 * time.Hour
	for d, want := range map[time.Duration]string{
		-2 * time.Minute: "later", -time.Second: "just now", 0: "just now", 59 * time.Second: "just now", time.Minute: "1m ago",
		59 * time.Minute: "59m ago", time.Hour: "1h ago", 47 * time.Hour: "47h ago", 2 * day: "2d ago", 59 * day: "59d ago", 61 * day: "2 months ago",
	} {
		if got := ago(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
	if !moment("nonsense").IsZero() || moment("2026-03-04T05:06:07Z") != at() {
		t.Error("a moment is not read")
	}
	if got := (&printer{format: Rich, now: at()}).when(time.Time{}); got != "" {
		t.Errorf("no moment is %q", got)
	}
}

// What does not fit a narrow terminal goes in an order: columns that can be
// spared, then the reason below its row.
func TestNarrowPlans(t *testing.T) {
	list := answers()
	v := list["plan/list"].(a2a.PlansView)
	v.Plans = append([]a2a.PlanSummary(nil), v.Plans...)
	for i := range v.Plans {
		v.Plans[i].Reason = strings.Repeat("a reason ", 12)
	}
	list["plan/list"] = v
	for _, c := range []struct {
		width               int
		created, oneProject bool
	}{{120, true, true}, {80, true, true}, {66, false, true}, {60, false, false}} {
		w := newWorld(list).terminal()
		w.env.Width, w.env.Now = c.width, func() time.Time { return at().Add(time.Hour) }
		w.want(t, 0, "--color=never", "plan", "list")
		out := w.out.String()
		head, _, _ := strings.Cut(out, "\n")
		if strings.Contains(head, "CREATED") != c.created || strings.Contains(head, "PROJECT") != c.oneProject || strings.Contains(head, "REASON") {
			t.Errorf("%d columns: %s", c.width, head)
		}
		if got := strings.Count(out, "\n    a reason "); got != 2 || strings.Count(out, "\n") != 6 {
			t.Errorf("%d columns: %d notes\n%s", c.width, got, out)
		}
	}
	v.Plans[0].Project = "local/other" // tells the rows apart, so it stays
	w := newWorld(list).terminal()
	w.env.Width = 60
	w.want(t, 0, "--color=never", "plan", "list")
	if !strings.Contains(w.out.String(), "PROJECT") {
		t.Errorf("the project is gone:\n%s", &w.out)
	}
	w.want(t, 0, "--color=never", "plan", "list", "-v")
	if !strings.Contains(w.out.String(), "\n    a reason a reason a reason a reason a reason a reason a\n    reason") {
		t.Errorf("-v cuts the reason:\n%s", &w.out)
	}
}

// --wide shows whole ids wherever it is taken.
func TestWholeIDs(t *testing.T) {
	for _, args := range []string{"plan tree", "plan show --checkpoints", "status", "plan list"} {
		w := newWorld(answers())
		w.want(t, 0, append(strings.Fields(args), "--format=table")...)
		short := w.out.String()
		w.want(t, 0, append(strings.Fields(args), "--format=table", "--wide")...)
		if strings.Count(w.out.String(), "01HZX3V5T8Q0") <= strings.Count(short, "01HZX3V5T8Q0") {
			t.Errorf("%s --wide:\n%s", args, &w.out)
		}
	}
}
