package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/llm/scripted"
	"github.com/cleveragents/agents/plan"
)

// ear is a test that keeps what is wrong to itself.
type ear struct {
	inner
	heard []string
}

func (e *ear) Errorf(format string, args ...any) {
	e.heard = append(e.heard, fmt.Sprintf(format, args...))
}

// stubborn is a model that goes on until it got through: it asks again when a
// person said no, each time for something else.
func stubborn() scripted.Script {
	return reply(func(r scripted.Request) scripted.Reply {
		last, _ := r.Last("user")
		switch {
		case !r.Contains("tool", "recorded decision"):
			kind := "implementation_choice"
			if r.Contains("system", "You are the strategist") {
				kind = "strategy_choice"
			}
			return call(record, fmt.Sprintf(`{"type":%q,"question":"turn %d","chosen":"c","alternatives":[],"rationale":"r"}`, kind, r.Turn))
		case r.Contains("system", "You carry out") && strings.Contains(last.Text, "did not pass") && len(r.Results()) == 0:
			return call("builtin__write", fmt.Sprintf(`{"path":"a.txt","content":"good in turn %d\n"}`, r.Turn))
		}
		return scripted.Reply{Text: "Done."}
	})
}

// Whatever people do to a plan in whatever order, it stays in a status that is
// reachable, its events tell every move, it never asks the same twice at once,
// and nothing reaches the project before apply. T23
func TestLifeOfAPlan(t *testing.T) {
	t.Parallel()
	live(t, func(tb testing.TB, box, tree string) (*world, *wire) {
		return modelWorld(tb, box, tree, stubborn(), task(good()), turns(40))
	})
}

// The same holds for a graph of models with a loop and questions of its own.
func TestLifeOfAGraph(t *testing.T) {
	t.Parallel()
	graph := strings.Replace(fixing, "  - id: check\n", "  - id: check\n    interrupt: after\n    on_reject: code\n", 1)
	rules := script(t, "")
	live(t, func(tb testing.TB, box, tree string) (*world, *wire) {
		return graphWorld(tb, box, tree, reply(func(r scripted.Request) scripted.Reply {
			switch {
			case r.Contains("system", "You are the strategist") && !r.Contains("tool", "recorded decision"):
				return call(record, fmt.Sprintf(`{"type":"strategy_choice","question":"turn %d","chosen":"c","alternatives":[],"rationale":"r"}`, r.Turn))
			case r.Contains("system", "You are the strategist"):
				out, err := rules.Reply(r)
				must(t, err)
				return out
			case r.Contains("system", "You review") || len(r.Results()) > 0:
				return scripted.Reply{Text: fmt.Sprintf("Done in turn %d.", r.Turn)}
			case r.Turn < 3:
				return call("builtin__write", fmt.Sprintf(`{"path":"a.txt","content":"bad in turn %d\n"}`, r.Turn))
			}
			return call("builtin__write", fmt.Sprintf(`{"path":"a.txt","content":"good in turn %d\n"}`, r.Turn))
		}), task(good()), graph, reviewing)
	})
}

// live lets people do things to a plan of the task.
func live(t *testing.T, make func(tb testing.TB, box, tree string) (*world, *wire)) {
	known := map[plan.Status]bool{{Phase: plan.PhaseAction, State: plan.Queued}: true}
	leads := map[string]bool{}
	for _, tr := range plan.Transitions() {
		known[tr.To] = true
		leads[tr.From.String()+">"+tr.To.String()] = true
	}
	ctx := context.Background()
	rapid.Check(t, func(rt *rapid.T) {
		tree, box := t.TempDir(), t.TempDir()
		tb := &ear{inner: inner{TB: t}}
		w, wr := make(tb, box, tree)
		defer tb.close()
		p := w.start(rapid.SampledFrom([]string{"manual", "review", "supervised", "auto"}).Draw(rt, "profile"))
		write := rapid.Bool().Draw(rt, "writes need approval")
		w.setPlan(p.ID, func(p *plan.Plan) { p.Profile.Guard.RequireApprovalForWrites = write })
		for i := range rapid.IntRange(1, 14).Draw(rt, "steps") {
			op := rapid.SampledFrom([]string{"run", "run", "approve", "approve", "approve", "reject", "guide", "order", "pause", "cancel"}).Draw(rt, fmt.Sprint("step ", i))
			calls := wr.count()
			var err error
			switch op {
			case "run":
				err = w.Run(ctx, p.ID, "", nil)
			case "order":
				phases := []plan.Phase{plan.PhaseStrategize, plan.PhaseExecute, plan.PhaseApply}
				err = w.Run(ctx, p.ID, rapid.SampledFrom(phases).Draw(rt, "phase"), nil)
			case "pause":
				err = w.Pause(ctx, p.ID)
			case "cancel":
				if rapid.IntRange(0, 3).Draw(rt, "sure") == 0 {
					err = w.Cancel(ctx, p.ID, "", false)
				}
			default:
				for _, a := range w.records(p.ID).approvals {
					if a.State != plan.Open {
						continue
					}
					text := ""
					if op == "guide" {
						text = "Write b.txt."
					}
					_, err = w.Decide(ctx, a.ID, op == "approve", text)
				}
			}
			if err != nil && !fault.Is(err, fault.Conflict) {
				rt.Fatalf("%s: %v", op, err)
			}
			was := p.Status
			p = w.plan(p.ID)
			if !known[p.Status] || p.State == plan.Running {
				rt.Fatalf("%s left the plan in %s", op, p.Status)
			}
			if was.Terminal() && (p.Status != was || wr.count() != calls) {
				rt.Fatalf("%s moved a plan that was %s to %s", op, was, p.Status)
			}
			r := w.records(p.ID)
			for _, e := range r.events {
				var d struct{ From, To string }
				if must(t, jsonOf(e.Data, &d)); e.Type == "plan.state" && !leads[d.From+">"+d.To] {
					rt.Fatalf("the plan went from %s to %s", d.From, d.To)
				}
			}
			if w.audit(); len(tb.heard) > 0 {
				rt.Fatalf("%s: %q", op, tb.heard)
			}
			if got := files(t, tree); (len(got) > 0) != (p.State == plan.Applied) {
				rt.Fatalf("the plan is %s, and the project has %v", p.Status, got)
			}
		}
		// From wherever it is, a person who says yes to everything gets there.
		for range 40 {
			if p = w.plan(p.ID); p.Terminal() {
				return
			}
			for _, a := range w.records(p.ID).approvals {
				if a.State == plan.Open {
					_, err := w.Decide(ctx, a.ID, true, "")
					must(t, err)
				}
			}
			must(t, w.Run(ctx, p.ID, "", nil))
		}
		rt.Fatalf("the plan stays in %s: %s", p.Status, p.Reason)
	})
}
