package cli

import (
	"strings"
	"testing"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/plan"
)

// A plan that is not waited for is made and stored, and never begun.
func TestWaiting(t *testing.T) {
	for args, start := range map[string]bool{
		"run fmt": true, "run fmt --wait": true, "run fmt --no-wait": false, "run fmt --wait=false": false, "run fmt --wait=false --no-wait": false,
		"plan use fmt": false, "plan use fmt --wait": true, "plan use fmt --no-wait": false,
	} {
		list := answers()
		list["plan/use"] = a2a.PlanOutcome{Plan: summary(plan.PhaseAction, plan.Queued), Next: []string{"agents plan strategize " + planID}}
		w := newWorld(list)
		exit := 0
		if strings.HasPrefix(args, "run") && start {
			exit = 4 // it was to be applied
		}
		w.want(t, exit, strings.Fields(args)...)
		if got := w.reqs["plan/use"].(a2a.PlanUseRequest).Start; got != start {
			t.Errorf("%s: started %v", args, got)
		}
		if !strings.Contains(w.err.String(), "next: agents plan strategize "+planID) {
			t.Errorf("%s: stderr %s", args, &w.err)
		}
	}
}
