package engine_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/llm/scripted"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/tool"
)

// loopOf is a graph of one model and what comes after it.
func loopOf(model, more string) string {
	return "name: local/g\nstate: {out: {}, n: {reducer: sum}, o: {reducer: merge}}\ngraph:\n  - id: work\n    model: {provider: scripted, name: test" + model + "}\n" + more
}

func TestLimitsOfAGraph(t *testing.T) {
	t.Parallel()
	busy := builder(t, func(turn int, r scripted.Request) scripted.Reply {
		return call("builtin__write", fmt.Sprintf(`{"path":"a.txt","content":"%d"}`, turn))
	})
	t.Run("turns of a node", func(t *testing.T) {
		t.Parallel()
		w, wr := graphWorld(t, t.TempDir(), t.TempDir(), busy, task(), loopOf(", max_turns: 3", ""))
		p := w.run(w.start("ci"), "")
		w.status(p, plan.Paused)
		contains(t, "the reason", p.Reason, "node work of actor local/g made 3 model calls, its limit")
		n := wr.count()
		w.status(w.run(p, ""), plan.Paused)
		if wr.count() != n+3 {
			t.Errorf("%d calls after the resume, want 3", wr.count()-n)
		}
	})
	t.Run("a node that took all its turns failed", func(t *testing.T) {
		t.Parallel()
		w, _ := graphWorld(t, t.TempDir(), t.TempDir(), busy, task(),
			loopOf(", max_turns: 2", "    on_error: tidy\n    next: end\n  - {id: tidy, tool: builtin/write, with: {path: b.txt, content: tidy}}\n"))
		p := w.run(w.start("ci"), "")
		w.status(p, plan.Applied)
		if got := read(t, w.tree, "a.txt") + read(t, w.tree, "b.txt"); got != "1tidy" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("steps of the graph", func(t *testing.T) {
		t.Parallel()
		idle := builder(t, func(int, scripted.Request) scripted.Reply { return scripted.Reply{Text: "Nothing."} })
		w, wr := graphWorld(t, t.TempDir(), t.TempDir(), idle, task(),
			"max_turns: 4\n"+loopOf("", "    edges: [{when: {state.visits.work: {at_least: 7}}, to: end}]\n    next: work\n"))
		p := w.run(w.start("ci"), "")
		w.status(p, plan.Paused)
		contains(t, "the reason", p.Reason, "actor local/g took 4 steps, its limit")
		contains(t, "a visit without words of its own", wr.last(), "You are asked again")
		p = w.run(p, "")
		w.status(p, plan.Applied)
		if p.Visits != nil { // Apply has no actor
			t.Errorf("visits %v", p.Visits)
		}
		if n := len(w.entered(p)); n != 7 {
			t.Errorf("%d visits, want 7", n)
		}
	})
}

func TestWhatANodeSaves(t *testing.T) {
	t.Parallel()
	t.Run("a model is told what cannot be kept", func(t *testing.T) {
		t.Parallel()
		w, wr := graphWorld(t, t.TempDir(), t.TempDir(), builder(t, func(turn int, r scripted.Request) scripted.Reply {
			if turn == 0 {
				return scripted.Reply{Text: "many"}
			}
			return scripted.Reply{Text: " 3 "}
		}), task(), loopOf("", "    save: n\n    edges: [{when: {state.n: {at_least: 3}}, to: end}]\n    next: work\n"))
		p := w.run(w.start("ci"), "")
		w.status(p, plan.Applied)
		contains(t, "the repair", wr.last(), "cannot be kept", "is not a number")
	})
	t.Run("a tool that prints no number fails the plan", func(t *testing.T) {
		t.Parallel()
		w, _ := graphWorld(t, t.TempDir(), t.TempDir(), coding(t), task(),
			"name: local/g\nstate: {n: {reducer: sum}}\ngraph:\n  - {id: a, tool: builtin/shell, with: {script: echo x}, save: n}\n")
		p := w.run(w.start("ci"), "")
		w.status(p, plan.Errored)
		contains(t, "the reason", p.Reason, "node a: state.n:", "is not a number")
	})
	t.Run("a long output from both ends", func(t *testing.T) {
		t.Parallel()
		w, _ := graphWorld(t, t.TempDir(), t.TempDir(), coding(t), task(),
			"name: local/g\nstate: {out: {}}\ngraph:\n  - {id: a, tool: builtin/shell, with: {script: 'echo first; seq 60000; echo last'}, save: out, interrupt: after}\n")
		p := w.run(w.start("ci"), "")
		w.status(p, plan.Waiting)
		out := w.vars(p)["out"].(map[string]any)
		text := out["output"].(string)
		contains(t, "the output", text, "first", "last", "are left out")
		if len(text) > 9<<10 {
			t.Errorf("%d bytes are kept", len(text))
		}
		contains(t, "the whole", string(w.blob(out["blob"].(string))), "\n30000\n")
	})
	t.Run("too much", func(t *testing.T) {
		t.Parallel()
		w, _ := graphWorld(t, t.TempDir(), t.TempDir(), coding(t), task(),
			"name: local/g\nmax_turns: 1000\nstate: {out: {reducer: append}}\ngraph:\n  - {id: a, tool: builtin/shell, with: {script: 'seq 5000; echo {{state.visits.a}}'}, save: out, edges: [{when: {state.visits.a: {at_least: 900}}, to: end}], next: a}\n")
		p := w.run(w.start("ci"), "")
		w.status(p, plan.Errored)
		contains(t, "the reason", p.Reason, "node a: the state of the graph grows beyond")
	})
}

// An actor inside an actor has a state of its own, begins anew each time, and
// is told what its node says.
func TestGraphInAGraph(t *testing.T) {
	t.Parallel()
	outer := `name: local/outer
state: {got: {reducer: append}}
graph:
  - id: sub
    actor: local/inner
    input: "visit {{state.visits.sub}}"
    save: got
    interrupt: after
    edges: [{when: {state.visits.sub: {at_least: 2}}, to: show}]
    next: sub
  - {id: show, tool: builtin/write, with: {path: out.txt, content: "{{state.got}}"}}
`
	inner := `name: local/inner
state: {lines: {reducer: append}}
graph:
  - {id: one, tool: builtin/shell, with: {script: "echo {{state.input}} {{state.visits.one}}"}, save: lines, edges: [{when: {state.visits.one: 2}, to: end}], next: one}
`
	w, _ := graphWorld(t, t.TempDir(), t.TempDir(), coding(t), task(), outer, inner)
	p := w.run(w.start("ci"), "")
	w.status(p, plan.Waiting)
	if a := w.open(p); a.Subject != "after sub/end" {
		t.Errorf("asked for %s", a.Subject)
	}
	p = w.answer(p, true, "")
	w.status(p, plan.Waiting)
	p = w.answer(p, true, "")
	w.status(p, plan.Applied)
	var got []struct{ Lines []struct{ Output string } }
	must(t, json.Unmarshal([]byte(read(t, w.tree, "out.txt")), &got))
	var lines []string
	for _, g := range got {
		for _, l := range g.Lines {
			lines = append(lines, strings.SplitN(l.Output, "\n", 2)[0])
		}
	}
	if d := cmp.Diff([]string{"visit 1 1", "visit 1 2", "visit 2 1", "visit 2 2"}, lines); d != "" {
		t.Errorf("%s", d)
	}
}

// What fails a graph's work goes back to the model that worked last.
func TestGraphIsSentBack(t *testing.T) {
	t.Parallel()
	quick := strings.Replace(fixing, "to: review", "to: end", 1)
	quick = quick[:strings.Index(quick, "  - id: review")]
	t.Run("by a validation", func(t *testing.T) {
		t.Parallel()
		w, wr := graphWorld(t, t.TempDir(), t.TempDir(), coding(t), task(validated("test -f b.txt")), quick)
		p := w.run(w.start("ci"), "")
		w.status(p, plan.Applied)
		contains(t, "what the model is told", wr.last(), "required validation check did not pass")
		if got := w.entered(p); strings.Join(got[len(got)-2:], " ") != "check check" {
			t.Errorf("nodes: %v", got)
		}
	})
	t.Run("by a person at the gate", func(t *testing.T) {
		t.Parallel()
		w, _ := graphWorld(t, t.TempDir(), t.TempDir(), coding(t), task(), quick)
		p := w.run(w.start("auto"), "")
		w.status(p, plan.Waiting)
		p = w.answer(p, false, "Write b.txt.")
		w.status(p, plan.Waiting)
		p = w.answer(p, true, "")
		w.status(p, plan.Applied)
		if got := read(t, w.tree, "b.txt"); got != "as you say\n" {
			t.Errorf("b.txt is %q", got)
		}
	})
}

// A validation that failed does not lead past a person.
func TestSentBackPastAPerson(t *testing.T) {
	t.Parallel()
	quick := strings.Replace(fixing, "to: review", "to: end", 1)
	quick = strings.Replace(quick[:strings.Index(quick, "  - id: review")], "  - id: code\n", "  - id: code\n    interrupt: before\n", 1)
	w, wr := graphWorld(t, t.TempDir(), t.TempDir(), coding(t), task(validated("test -f b.txt")), quick)
	p := w.run(w.start("ci"), "")
	asked := 0
	for ; p.State == plan.Waiting && asked < 10; asked++ {
		if got := w.open(p).Subject; got != "before code" {
			t.Errorf("asked for %s", got)
		}
		p = w.answer(p, true, "")
	}
	w.status(p, plan.Applied)
	if asked != 4 {
		t.Errorf("asked %d times, want before each of 4 visits", asked)
	}
	contains(t, "what the model is told", wr.last(), "required validation check did not pass")
}

// A test between the visits of a model that does nothing is not a loop of calls.
func TestANodeRunsAsOftenAsItsGraphSays(t *testing.T) {
	t.Parallel()
	idle := builder(t, func(int, scripted.Request) scripted.Reply { return scripted.Reply{Text: "Nothing."} })
	w, _ := graphWorld(t, t.TempDir(), t.TempDir(), idle, task(),
		loopOf("", "  - {id: test, tool: builtin/shell, with: {script: exit 1}, save: out, edges: [{when: {state.visits.test: 9}, to: end}, {to: work}]}\n"))
	p := w.run(w.start("ci"), "")
	w.status(p, plan.Applied)
	if n := len(w.entered(p)); n != 18 {
		t.Errorf("%d visits, want 18", n)
	}
}

// A graph that strategizes has to come to a strategy before it ends.
func TestGraphStrategist(t *testing.T) {
	t.Parallel()
	a := task()
	w, wr := graphWorld(t, t.TempDir(), t.TempDir(), reply(func(r scripted.Request) scripted.Reply {
		last, _ := r.Last("user")
		switch {
		case strings.Contains(last.Text, "No strategy") && len(r.Results()) == 0:
			return call(record, `{"type":"strategy_choice","question":"How?","chosen":"so","alternatives":[],"rationale":"r"}`)
		case r.Contains("system", "You carry out") && !r.Contains("tool", "recorded"):
			return call(record, choose("how", ""))
		}
		return scripted.Reply{Text: "Done."}
	}), a, "name: local/thinkers\ngraph:\n  - {id: look, model: {provider: scripted, name: test}}\n  - {id: decide, model: {provider: scripted, name: test}}\n")
	p := w.run(w.use(engine.UseInput{Action: "local/task", Profile: "supervised", StrategyActor: "local/thinkers", ExecutionActor: "local/model"}), "")
	p = w.run(p, plan.PhaseStrategize)
	if p.Phase != plan.PhaseStrategize || p.State != plan.Waiting && p.State != plan.Complete {
		t.Fatalf("the plan is %s: %s", p.Status, p.Reason)
	}
	var nodes []string
	for _, c := range w.records(p.ID).calls {
		nodes = append(nodes, c.Node)
	}
	if d := cmp.Diff([]string{"look", "decide", "decide", "decide"}, nodes); d != "" {
		t.Errorf("calls:\n%s", d)
	}
	if n := wr.count(); n != 4 {
		t.Errorf("%d requests", n)
	}
	if d := w.records(p.ID).toolCalls; len(d) != 1 || d[0].Node != "decide" || d[0].Status != tool.OK {
		t.Errorf("tool calls %+v", d)
	}
}

// A model in a graph is held to its list of tools; a node that is a tool is not.
func TestToolsOfANode(t *testing.T) {
	t.Parallel()
	w, _ := graphWorld(t, t.TempDir(), t.TempDir(), builder(t, func(turn int, r scripted.Request) scripted.Reply {
		if turn == 0 {
			return calls("builtin__write", `{"path":"a.txt","content":"x"}`, "builtin__list", `{"path":"."}`)
		}
		return scripted.Reply{Text: "Done."}
	}), task(), loopOf(", tools: [builtin/list]", "  - {id: put, tool: builtin/write, with: {path: b.txt, content: y}}\n"))
	p := w.run(w.start("ci"), "")
	w.status(p, plan.Applied)
	var got []string
	for _, c := range w.records(p.ID).toolCalls {
		if c.Phase == plan.PhaseExecute {
			got = append(got, fmt.Sprint(c.Node, " ", c.Tool, " ", c.Status, " ", c.Call != ""))
		}
	}
	if d := cmp.Diff([]string{"work builtin__write refused true", "work builtin/list ok true", "put builtin/write ok false"}, got); d != "" {
		t.Errorf("%s", d)
	}
}

// A tool that failed has failed, also when a person looked at it in between.
func TestAYesDoesNotMakeItWell(t *testing.T) {
	t.Parallel()
	w, _ := graphWorld(t, t.TempDir(), t.TempDir(), coding(t), task(), `name: local/g
graph:
  - {id: a, tool: builtin/shell, with: {script: exit 1}, interrupt: after, on_error: bad, next: end}
  - {id: bad, tool: builtin/write, with: {path: bad.txt, content: "{{state.input}}"}}
`)
	p := w.run(w.use(engine.UseInput{Action: "local/task", Profile: "ci", Prompt: "as told"}), "")
	w.status(p, plan.Waiting)
	p = w.answer(p, true, "")
	w.status(p, plan.Applied)
	if got := read(t, w.tree, "bad.txt"); got != "as told" {
		t.Errorf("bad.txt is %q", got)
	}
}

// A node whose tool a person did not allow is asked for again in the same visit.
func TestANoToAToolIsNoVisit(t *testing.T) {
	t.Parallel()
	w, _ := graphWorld(t, t.TempDir(), t.TempDir(), coding(t), task(),
		"name: local/g\ngraph:\n  - {id: a, tool: builtin/write, with: {path: a.txt, content: \"{{state.visits.a}}\"}}\n")
	p := w.start("auto")
	w.setPlan(p.ID, func(p *plan.Plan) { p.Profile.Guard.RequireApprovalForWrites = true })
	p = w.run(p, "")
	w.status(p, plan.Waiting)
	p = w.answer(p, false, "")
	w.status(p, plan.Paused)
	p = w.run(p, "")
	w.status(p, plan.Waiting)
	p = w.answer(p, true, "")
	w.status(p, plan.Waiting) // at the gate
	p = w.answer(p, true, "")
	w.status(p, plan.Applied)
	if got := read(t, w.tree, "a.txt"); got != "1" {
		t.Errorf("the visit is number %s", got)
	}
}

// The turns of a node count from its entry, and what was said to it before it
// was entered is not said in other words once more.
func TestEachVisitHasItsTurns(t *testing.T) {
	t.Parallel()
	w, wr := graphWorld(t, t.TempDir(), t.TempDir(), builder(t, func(turn int, r scripted.Request) scripted.Reply {
		if len(r.Results()) > 0 {
			return scripted.Reply{Text: "Done."}
		}
		return call("builtin__write", fmt.Sprintf(`{"path":"a.txt","content":"visit %d"}`, turn/2))
	}), task(validated("grep -q 'visit 3' a.txt")), loopOf(", max_turns: 2", "    interrupt: before\n    edges: [{when: {state.visits.work: {at_least: 3}}, to: end}]\n    next: work\n"))
	p := w.run(w.start("ci"), "")
	for range 4 {
		w.status(p, plan.Waiting)
		p = w.answer(p, true, "")
	}
	w.status(p, plan.Applied)
	if got := strings.Count(wr.last(), "You are asked again"); got != 2 {
		t.Errorf("asked again %d times, want 2: the third time by the validation", got)
	}
	contains(t, "the last visit", wr.last(), "did not pass")
}
