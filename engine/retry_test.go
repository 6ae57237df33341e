package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

func (w *world) retry(p plan.Plan) plan.Plan {
	w.t.Helper()
	must(w.t, w.Retry(context.Background(), p.ID, func(e plan.Event) { w.events = append(w.events, e) }))
	return w.plan(p.ID)
}

// A command that failed stays failed when the plan is resumed, and runs again
// when it is retried.
func TestRetryRunsTheFailedToolAgain(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	w := newWorld(t, t.TempDir(), t.TempDir(), noModel{}, nil, nil)
	t.Cleanup(w.audit)
	p := w.run(w.use(command(map[string]string{"command": "test -e " + gate + " && echo x > x.txt"}, "ci")), "")
	w.status(p, plan.Errored)
	calls := func() int { return len(w.records(p.ID).toolCalls) }
	before := calls()
	must(t, os.WriteFile(gate, nil, 0o600))
	p = w.run(p, "")
	w.status(p, plan.Errored)
	if calls() != before {
		t.Errorf("a resume ran a tool: %d calls, %d before", calls(), before)
	}
	must(t, os.Remove(gate))
	p = w.retry(p)
	w.status(p, plan.Errored)
	must(t, os.WriteFile(gate, nil, 0o600))
	p = w.retry(p)
	w.status(p, plan.Applied)
	if calls() != before+2 {
		t.Errorf("%d calls, want %d", calls(), before+2)
	}
	if err := w.Retry(context.Background(), p.ID, nil); !fault.Is(err, fault.Conflict) {
		t.Errorf("retrying an applied plan: %v", err)
	}
	q := w.use(command(map[string]string{"command": "true"}, "auto"))
	if err := w.Retry(context.Background(), q.ID, nil); !fault.Is(err, fault.Conflict) || w.plan(q.ID).State != plan.Queued {
		t.Errorf("retrying a plan that did not fail: %v", err)
	}
}

// A validation that failed is asked again, and the model is not.
func TestRetryAsksTheFailedValidationAgain(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	w, wr := modelWorld(t, t.TempDir(), t.TempDir(), writer(t, func(int) {}), task(validated("test -e "+gate)))
	t.Cleanup(w.audit)
	p := w.run(w.use(engine.UseInput{Action: "local/task", Profile: "auto", NoInput: true}), "")
	w.status(p, plan.Errored)
	results, calls := len(w.records(p.ID).results), wr.count()
	p = w.retry(p)
	w.status(p, plan.Errored)
	must(t, os.WriteFile(gate, nil, 0o600))
	p = w.retry(p)
	w.status(p, plan.Waiting)
	if n := len(w.records(p.ID).results); n != results+2 || wr.count() != calls {
		t.Errorf("%d more results, %d more calls", n-results, wr.count()-calls)
	}
}
