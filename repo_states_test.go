package agents_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/plan"
)

var update = flag.Bool("update", false, "rewrite the files that are generated from code")

// TestStates keeps docs/states.md equal to the transition table.
func TestStates(t *testing.T) {
	const file = "docs/states.md"
	want := statesPage(plan.Transitions())
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(want, read(t, file)); d != "" {
		t.Errorf("%s differs from plan.Transitions (renew it with: go test . -run TestStates -update)\n%s", file, d)
	}
}

// TestStatesPage shows that the page depends on every part of a row.
func TestStatesPage(t *testing.T) {
	row := plan.Transition{From: plan.Status{Phase: plan.PhaseAction, State: plan.Queued}, On: plan.Begin,
		To: plan.Status{Phase: plan.PhaseApply, State: plan.Applied}}
	page := statesPage([]plan.Transition{row})
	for _, want := range []string{
		"    state action {\n        action_queued : queued\n    }\n",
		"    state apply {\n        apply_applied : applied\n    }\n",
		"    [*] --> action_queued\n",
		"    action_queued --> apply_applied : begin\n",
		"    apply_applied --> [*]\n",
		"| action/queued | begin | apply/applied |\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}

// statesPage draws the table: a composite state a phase, then the moves in the
// order of the table.
func statesPage(rows []plan.Transition) string {
	var b strings.Builder
	b.WriteString(`# The life of a plan

Generated from ` + "`plan.Transitions`" + `; a test compares the two. Every move that is
not here is refused with the code ` + "`IllegalTransition`" + `.

` + "```mermaid\nstateDiagram-v2\n")
	id := func(s plan.Status) string { return strings.ReplaceAll(s.String(), "/", "_") }

	var phases []plan.Phase
	states := map[plan.Phase][]plan.Status{}
	seen := map[plan.Status]bool{}
	for _, r := range rows {
		for _, s := range []plan.Status{r.From, r.To} {
			if seen[s] {
				continue
			}
			seen[s] = true
			if states[s.Phase] == nil {
				phases = append(phases, s.Phase)
			}
			states[s.Phase] = append(states[s.Phase], s)
		}
	}
	for _, p := range phases {
		fmt.Fprintf(&b, "    state %s {\n", p)
		for _, s := range states[p] {
			fmt.Fprintf(&b, "        %s : %s\n", id(s), s.State)
		}
		b.WriteString("    }\n")
	}
	fmt.Fprintf(&b, "    [*] --> %s\n", id(rows[0].From))
	for _, r := range rows {
		fmt.Fprintf(&b, "    %s --> %s : %s\n", id(r.From), id(r.To), r.On)
	}
	for _, p := range phases {
		for _, s := range states[p] {
			if s.Terminal() {
				fmt.Fprintf(&b, "    %s --> [*]\n", id(s))
			}
		}
	}
	b.WriteString("```\n\n| from | on | to |\n|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", r.From, r.On, r.To)
	}
	return b.String()
}
