package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"pgregory.net/rapid"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

// Every list command takes the same flags and refuses a field that it does not
// have before it asks anything.
func TestEveryListIsAList(t *testing.T) {
	lists := 0
	for _, c := range leaves(t) {
		if c.Name() != "list" && c.CommandPath() != "agents provider models" {
			continue
		}
		lists++
		for _, f := range []string{"limit", "sort", "filter", "all"} {
			if c.Flags().Lookup(f) == nil {
				t.Errorf("%s has no --%s", c.CommandPath(), f)
			}
		}
		path := strings.Fields(c.CommandPath())[1:]
		if c.Name() == "models" {
			path = append(path, "work")
		}
		w := newWorld(answers())
		w.want(t, 0, append(path, "--wide", "--all")...)
		for _, bad := range [][]string{{"--sort", "nonsense"}, {"--sort=-nonsense"}, {"--filter", "nonsense=1"}, {"--filter", "name"}, {"--filter", "=x"}, {"--limit", "0"}} {
			w := newWorld(answers())
			w.want(t, 2, append(path, bad...)...)
			if strings.Contains(bad[len(bad)-1], "nonsense") && !strings.Contains(w.err.String(), "there is no such field; known are ") || len(w.asked) > 0 {
				t.Errorf("%v %v: asked %v, stderr %s", path, bad, w.asked, &w.err)
			}
		}
	}
	if lists < 8 {
		t.Errorf("only %d lists", lists)
	}
}

func manyPlans(n int) a2a.PlansView {
	var v a2a.PlansView
	for i := range n {
		s := summary(plan.PhaseExecute, plan.Waiting)
		s.ID = ident.PlanID(fmt.Sprintf("01HZX3V5T8Q0PLANAAAA00%04d", i))
		s.Name, s.Attempt = fmt.Sprintf("local/p%d", i), (i*7)%n
		if i%3 == 0 {
			s.State = plan.Applied
		}
		v.Plans = append(v.Plans, s)
	}
	return v
}

func TestLists(t *testing.T) {
	for _, c := range []struct {
		args, names, warning string
		asked                int // the limit that the operation was given
	}{
		{"--limit 2", "p0 p1", "there are more than 2; --limit or --all shows them", 3},
		{"--limit 10", "p0 p1 p2 p3 p4 p5 p6 p7 p8 p9", "", 11},
		{"--all --limit 1", "p0", "there are more than 1; --limit or --all shows them", 2},
		{"--all", "p0 p1 p2 p3 p4 p5 p6 p7 p8 p9", "", 0},
		{"--sort attempt --limit 3", "p0 p3 p6", "3 of 10 are shown; --limit or --all shows more", 0},
		{"--sort -attempt --limit 3", "p7 p4 p1", "3 of 10 are shown; --limit or --all shows more", 0},
		{"--sort -name --limit 2", "p9 p8", "2 of 10 are shown; --limit or --all shows more", 0},
		{"--filter state=applied", "p0 p3 p6 p9", "", 0},
		{"--filter state=applied --filter attempt=1", "p3", "", 0},
		{"--filter attempt=1 --filter attempt=0", "p0 p3", "", 0},
		{"--filter id=aa000007", "p7", "", 0},
		{"--filter id=01HZX3V5T8Q0PLANAAAA000008", "p8", "", 0},
		{"--filter held=true", "", "", 0},
	} {
		w := newWorld(map[string]any{"plan/list": manyPlans(10)})
		w.want(t, 0, append([]string{"plan", "list", "--format", "json"}, strings.Fields(c.args)...)...)
		var got struct {
			Data     a2a.PlansView
			Warnings []string
		}
		if err := json.Unmarshal(w.out.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, p := range got.Data.Plans {
			names = append(names, strings.TrimPrefix(p.Name, "local/"))
		}
		if d := cmp.Diff(c.names, strings.Join(names, " ")); d != "" || strings.Join(got.Warnings, "|") != c.warning {
			t.Errorf("%s: %s\nwarnings %v", c.args, d, got.Warnings)
		}
		if q := w.reqs["plan/list"].(a2a.PlanListQuery); q.Limit != c.asked {
			t.Errorf("%s: asked for %d", c.args, q.Limit)
		}
		if !strings.Contains(w.out.String(), `"plans": [`) {
			t.Errorf("%s: no list in %s", c.args, &w.out)
		}
	}
	w := newWorld(map[string]any{"plan/list": manyPlans(40)})
	w.want(t, 0, "plan", "list")
	if got := strings.Count(w.out.String(), "\n"); got != usualLimit || !strings.HasPrefix(w.err.String(), "warning: there are more than 30") {
		t.Errorf("%d rows, stderr %s", got, &w.err)
	}
}

func TestWideLists(t *testing.T) {
	w := newWorld(answers())
	w.want(t, 0, "plan", "list", "--format", "table")
	if strings.Contains(w.out.String(), planID) || strings.Contains(w.out.String(), "PROFILE") {
		t.Errorf("too much:\n%s", &w.out)
	}
	w.want(t, 0, "plan", "list", "--format", "table", "--wide")
	if !strings.Contains(w.out.String(), planID) || !strings.Contains(w.out.String(), "PROFILE") {
		t.Errorf("too little:\n%s", &w.out)
	}
}

// TestTakeIsOrdered: sorting keeps every row, orders them, and keeps the order
// of equal ones.
func TestTakeIsOrdered(t *testing.T) {
	type row struct{ key, at int }
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOf(rapid.IntRange(0, 5)).Draw(t, "keys")
		down := rapid.Bool().Draw(t, "down")
		var rows []row
		for i, k := range keys {
			rows = append(rows, row{k, i})
		}
		l := &list[row]{columns: []column[row]{{name: "key", value: func(r row) any { return r.key }}}}
		cmd := &cobra.Command{Use: "x"}
		l.bind(cmd, "")
		field := "key"
		if down {
			field = "-key"
		}
		if err := cmd.ParseFlags([]string{"--all", "--sort=" + field}); err != nil {
			t.Fatal(err)
		}
		if err := l.check(cmd); err != nil {
			t.Fatal(err)
		}
		got, _ := l.take(rows)
		if len(got) != len(rows) {
			t.Fatalf("%d of %d rows", len(got), len(rows))
		}
		for i := 1; i < len(got); i++ {
			a, b := got[i-1], got[i]
			if (a.key > b.key) != down && a.key != b.key || a.key == b.key && a.at > b.at {
				t.Fatalf("%v before %v", a, b)
			}
		}
	})
}
