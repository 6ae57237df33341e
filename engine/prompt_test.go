package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/llm/scripted"
	"github.com/cleveragents/agents/plan"
)

// prompt leaves a message.
func (w *world) prompt(p plan.Plan, text string, now bool) {
	w.t.Helper()
	must(w.t, w.Prompt(context.Background(), p.ID, text, now))
}

// interventions are what persons said, in the record of the plan.
func (w *world) interventions(p plan.Plan) (said []string) {
	w.t.Helper()
	for _, d := range w.records(p.ID).decisions {
		if d.Type == plan.UserIntervention {
			said = append(said, d.Chosen)
			if d.Parent == "" || d.Rationale == "" {
				w.t.Errorf("the intervention is %+v", d)
			}
		}
	}
	return said
}

// A message from another process is in the next request, once, after the
// results that stand before it, and in the record.
func TestMessagesReachARunningActor(t *testing.T) {
	for _, c := range []struct {
		name string
		turn int // in which they are said
	}{{"before the work", -1}, {"between two turns", 0}, {"at the end", 1}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			data, tree := t.TempDir(), t.TempDir()
			var p plan.Plan
			var other *world
			say := func(turn int) {
				if turn == c.turn {
					other.prompt(p, "First red.", false)
					other.prompt(p, "Then blue.", false)
				}
			}
			w, wr := modelWorld(t, data, tree, writer(t, say), task())
			t.Cleanup(w.audit)
			other, _ = modelWorld(t, data, tree, writer(t, func(int) {}), task())
			p = w.start("ci")
			say(-1)
			p = w.run(p, "")
			w.status(p, plan.Applied)
			if got := strings.Join(w.interventions(p), "|"); got != "First red.|Then blue." {
				t.Errorf("recorded: %s", got)
			}
			said := 0
			for _, b := range wr.bodies {
				one, two := strings.Index(string(b), "A person says: First red."), strings.Index(string(b), "A person says: Then blue.")
				if one >= 0 && two > one {
					said++
				}
				if strings.Count(string(b), "A person says: First red.") > 1 {
					t.Error("it is said twice")
				}
			}
			if last := wr.last(); said == 0 || c.turn >= 0 && !strings.Contains(last, "Then blue.") {
				t.Errorf("said in %d requests; the last: %.600s", said, last)
			}
			for _, in := range p.Inputs {
				if in.Slot == "prompt" && !strings.HasPrefix(in.Origin, "decision:") {
					t.Errorf("the input comes from %q", in.Origin)
				}
			}
			w.view(func(tx engine.Tx) error {
				if n, err := engine.Messages(tx, p.ID); n != 0 || err != nil {
					t.Errorf("%d messages are left (%v)", n, err)
				}
				return nil
			})
		})
	}
}

// What is said to a plan that waits at a gate sends the actor back to work, and
// the question is asked again for what comes of it.
func TestMessageInsteadOfAnAnswer(t *testing.T) {
	for _, paused := range []bool{false, true} {
		w, wr := modelWorld(t, t.TempDir(), t.TempDir(), writer(t, func(int) {}), task())
		t.Cleanup(w.audit)
		p := w.run(w.start("auto"), "")
		w.status(p, plan.Waiting)
		asked, calls := w.open(p), wr.count()
		if paused {
			must(t, w.Pause(context.Background(), p.ID))
		}
		w.prompt(p, "Make it red.", false)
		w.status(w.plan(p.ID), map[bool]plan.State{false: plan.Waiting, true: plan.Paused}[paused])
		p = w.run(p, "")
		w.status(p, plan.Waiting)
		if again := w.open(p); again.ID == asked.ID || again.Subject != asked.Subject {
			t.Errorf("asked again: %+v", again)
		}
		if wr.count() != calls+1 {
			t.Errorf("%d requests more", wr.count()-calls)
		}
		contains(t, "the request", wr.last(), "A person says: Make it red.")
		p = w.run(p, plan.PhaseApply)
		w.status(p, plan.Applied)
	}
}

// An order to apply does not overtake a message.
func TestMessageBeforeAnOrder(t *testing.T) {
	w, wr := modelWorld(t, t.TempDir(), t.TempDir(), builder(t, func(turn int, r scripted.Request) scripted.Reply {
		switch turn {
		case 0:
			return calls(record, choose("how", ""), "builtin__write", `{"path":"a.txt","content":"a\n"}`)
		case 2:
			return calls("builtin__write", `{"path":"b.txt","content":"b\n"}`)
		}
		return scripted.Reply{Text: "Done."}
	}), task())
	p := w.run(w.start("auto"), "")
	w.prompt(p, "And b.txt.", false)
	p = w.run(p, plan.PhaseApply)
	w.status(p, plan.Waiting)
	contains(t, "the last request", wr.last(), "And b.txt.")
	if got := files(t, w.tree); len(got) > 0 {
		t.Errorf("applied what was not shown: %v", got)
	}
	w.status(w.run(p, plan.PhaseApply), plan.Applied)
}

// A message that does not want to wait cuts the answer short; the call is made
// again under its own number.
func TestUrgentMessage(t *testing.T) {
	data, tree := t.TempDir(), t.TempDir()
	var p plan.Plan
	var other *world
	hang := true
	w, wr := modelWorld(t, data, tree, builder(t, func(turn int, r scripted.Request) scripted.Reply {
		if hang {
			hang = false
			other.prompt(p, "Stop thinking.", true)
			return scripted.Reply{Text: "I thi", Hang: true}
		}
		return scripted.Reply{Text: "Done."}
	}), task())
	t.Cleanup(w.audit)
	other, _ = modelWorld(t, data, tree, writer(t, func(int) {}), task())
	p = w.start("ci")
	p = w.run(p, "")
	w.status(p, plan.Applied)
	contains(t, "the request", wr.last(), "A person says: Stop thinking.")
	n := 0
	for _, c := range w.records(p.ID).calls {
		if c.Phase == plan.PhaseExecute {
			n++
		}
	}
	if n != 1 || len(w.eventsOf("call.cut")) != 1 {
		t.Errorf("%d calls, %d cut", n, len(w.eventsOf("call.cut")))
	}
}

func TestMessagesThatAreRefused(t *testing.T) {
	ctx := context.Background()
	w, _ := modelWorld(t, t.TempDir(), t.TempDir(), writer(t, func(int) {}), task())
	p := w.start("auto")
	for name, text := range map[string]string{
		"too long": strings.Repeat("x", engine.MaxPrompt+1), "blank": " \n", "not UTF-8": "\xff",
	} {
		if err := w.Prompt(ctx, p.ID, text, false); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.prompt(p, strings.Repeat("x", engine.MaxPrompt), false)
	for range 31 {
		w.prompt(p, "more", false)
	}
	if err := w.Prompt(ctx, p.ID, "one more", false); !fault.Is(err, fault.Conflict) {
		t.Errorf("too many: %v", err)
	}
	if err := w.Prompt(ctx, "none", "x", false); !fault.Is(err, fault.NotFound) {
		t.Errorf("no plan: %v", err)
	}
	must(t, w.Cancel(ctx, p.ID, "", false))
	if err := w.Prompt(ctx, p.ID, "x", false); !fault.Is(err, fault.Conflict) {
		t.Errorf("a cancelled plan: %v", err)
	}
	g := newWorld(t, t.TempDir(), t.TempDir(), noModel{}, nil, nil)
	graph := g.use(command(map[string]string{"command": "true"}, "auto"))
	if err := g.Prompt(ctx, graph.ID, "x", false); !fault.Is(err, fault.Conflict) {
		t.Errorf("a plan without a model: %v", err)
	}
}

// In a graph the model that is at work is told; when the work is done, the one
// that worked last, and the graph goes on from there.
func TestMessagesInAGraph(t *testing.T) {
	data, tree := t.TempDir(), t.TempDir()
	var p plan.Plan
	var other *world
	graph := func(c *actor.Config) {
		m := actor.Model{Provider: c.Provider, Name: c.Model}
		*c = actor.Config{Name: c.Name, Graph: []actor.Node{
			{ID: "think", Model: &m},
			{ID: "look", Tool: "builtin/list", With: map[string]any{"path": "."}},
		}}
	}
	w, wr := modelWorld(t, data, tree, writer(t, func(turn int) {
		if turn == 0 {
			other.prompt(p, "First red.", false)
		}
	}), task(), graph)
	other, _ = modelWorld(t, data, tree, writer(t, func(int) {}), task(), graph)
	p = w.start("auto")
	p = w.run(p, "")
	w.status(p, plan.Waiting)
	contains(t, "the last request", wr.last(), "A person says: First red.")
	looked := func() (n int) {
		for _, c := range w.records(p.ID).toolCalls {
			if c.Tool == "builtin/list" && c.Phase == plan.PhaseExecute {
				n++
			}
		}
		return n
	}
	before := looked()
	w.prompt(p, "Then blue.", false)
	p = w.run(p, "")
	w.status(p, plan.Waiting)
	contains(t, "the last request", wr.last(), "A person says: First red.", "A person says: Then blue.")
	if looked() != before+1 {
		t.Errorf("the graph did not go on after the model: %d looks, %d before", looked(), before)
	}
	if got := strings.Join(w.interventions(p), "|"); got != "First red.|Then blue." {
		t.Errorf("recorded: %s", got)
	}
	w.status(w.run(p, plan.PhaseApply), plan.Applied)
}

// A message does not get around the yes that a node wants before it is entered.
func TestMessageToANodeThatAsksFirst(t *testing.T) {
	w, wr := modelWorld(t, t.TempDir(), t.TempDir(), writer(t, func(int) {}), task(), func(c *actor.Config) {
		m := actor.Model{Provider: c.Provider, Name: c.Model}
		*c = actor.Config{Name: c.Name, Graph: []actor.Node{{ID: "think", Model: &m, Interrupt: actor.Before}}}
	})
	p := w.run(w.start("auto"), "")
	for w.open(p).Kind == plan.ApproveNode {
		p = w.answer(p, true, "")
	}
	w.status(p, plan.Waiting)
	calls := wr.count()
	w.prompt(p, "Make it red.", false)
	p = w.run(p, "")
	w.status(p, plan.Waiting)
	if asked := w.open(p); asked.Kind != plan.ApproveNode || wr.count() != calls {
		t.Errorf("asked about %s, %d calls more", asked.Kind, wr.count()-calls)
	}
	w.answer(p, true, "")
	contains(t, "the last request", wr.last(), "A person says: Make it red.")
}
