package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/action"
	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/llm"
	"github.com/cleveragents/agents/llm/scripted"
	"github.com/cleveragents/agents/plan"
)

// fixing is a graph with a model that works, a test in a loop, and another
// model that looks at it when a person allows it.
const fixing = `name: local/fixing
state:
  test: {}
  notes: {reducer: append}
  verdict: {}
graph:
  - id: code
    model: {provider: scripted, name: test, prompt: You write the code.}
    input: "Round {{state.visits.code}}. The test says: {{state.test.output}}"
    save: notes
  - id: check
    tool: builtin/shell
    with: {script: "cat a.txt; grep -q good a.txt"}
    save: test
    edges:
      - when: {state.test.status: ok}
        to: review
      - when: {state.visits.code: {at_least: 5}}
        to: end
      - to: code
  - id: review
    interrupt: before
    actor: local/reviewer
    input: "Notes: {{state.notes}}"
    save: verdict
    next: end
`

const reviewing = "name: local/reviewer\nprovider: scripted\nmodel: test\nprompt: You review the code.\n"

// coding is the models of fixing: bad 1, bad 2, good; and b.txt when a person
// says something.
func coding(t testing.TB) scripted.Script {
	rules := script(t, "")
	return reply(func(r scripted.Request) scripted.Reply {
		last, _ := r.Last("user")
		save := func(path, text string) scripted.Reply {
			return call("builtin__write", fmt.Sprintf(`{"path":%q,"content":%q}`, path, text+"\n"))
		}
		switch {
		case r.Contains("system", "You review"):
			return scripted.Reply{Text: "It is good."}
		case !r.Contains("system", "You carry out"):
			out, err := rules.Reply(r)
			must(t, err)
			return out
		case len(r.Results()) > 0:
			return scripted.Reply{Text: fmt.Sprintf("Written in answer %d.", r.Turn)}
		case r.Turn == 0:
			return calls(record, choose("how", ""), "builtin__write", `{"path":"a.txt","content":"bad 1\n"}`)
		case strings.Contains(last.Text, "A person") || r.Contains("user", "did not pass"):
			return save("b.txt", "as you say")
		case strings.Contains(last.Text, "bad 1"):
			return save("a.txt", "bad 2")
		case strings.Contains(last.Text, "bad 2"):
			return save("a.txt", "good")
		}
		return scripted.Reply{Text: "Nothing to do."}
	})
}

// graphWorld is a world whose task is executed by the first of the actors.
func graphWorld(t testing.TB, data, tree string, s scripted.Script, a action.Action, actors ...string) (*world, *wire) {
	t.Helper()
	wr := &wire{t: t}
	w := graphWorldOver(t, data, tree, func(next http.RoundTripper) http.RoundTripper { wr.next = next; return wr }, s, a, actors...)
	t.Cleanup(w.audit)
	return w, wr
}

// graphWorldOver is graphWorld with something between the engine and the model.
func graphWorldOver(t testing.TB, data, tree string, over func(http.RoundTripper) http.RoundTripper, s scripted.Script, a action.Action, actors ...string) *world {
	t.Helper()
	p := scripted.Provider(scripted.Config{Scripts: map[string]scripted.Script{"test": s}})
	p.Transport = over(p.Transport)
	who := []actor.Config{{Name: "local/model", Provider: scripted.Name, Model: "test"}}
	for i, text := range actors {
		c, err := actor.Parse("graph.yaml", []byte(text))
		must(t, err)
		if i == 0 {
			a.ExecutionActor = c.Name
		}
		who = append(who, c)
	}
	return newWorld(t, data, tree, llm.New(llm.Config{Providers: map[string]llm.Provider{scripted.Name: p}}), []action.Action{a}, who)
}

// entered are the nodes that the plan went into, in order.
func (w *world) entered(p plan.Plan) (out []string) {
	w.t.Helper()
	for _, e := range w.records(p.ID).events {
		if e.Type == "node.entered" {
			var d struct{ Node string }
			must(w.t, json.Unmarshal(e.Data, &d))
			out = append(out, d.Node)
		}
	}
	return out
}

func (w *world) vars(p plan.Plan) (out map[string]any) {
	w.t.Helper()
	must(w.t, json.Unmarshal(w.blob(p.Vars), &out))
	return out
}

func TestGraphOfModels(t *testing.T) {
	t.Parallel()
	tree := t.TempDir()
	w, wr := graphWorld(t, t.TempDir(), tree, coding(t), task(), fixing, reviewing)
	p := w.run(w.start("auto"), "")
	w.status(p, plan.Waiting)
	a := w.open(p)
	if a.Kind != plan.ApproveNode || a.Subject != "before review" {
		t.Errorf("it asks for %s %s", a.Kind, a.Subject)
	}
	contains(t, "the question", a.Summary, "go into node review", "Written in answer 5.", "scripted/test")
	if again := w.run(p, ""); again.State != plan.Waiting || w.open(again).ID != a.ID {
		t.Errorf("a run without an answer went to %s", again.Status)
	}
	if strings.Contains(wr.last(), "You review") {
		t.Error("the reviewer was asked before the person")
	}
	p = w.answer(p, true, "")
	w.status(p, plan.Waiting)
	for _, x := range w.records(p.ID).approvals {
		if x.ID == a.ID && x.State != plan.Used {
			t.Errorf("the yes is %s, and was used", x.State)
		}
	}
	contains(t, "the review", wr.last(), "You review the code.", "Notes: ", "Written in answer 1.")
	if strings.Contains(wr.last(), "bad 1") || strings.Contains(wr.last(), "The test says") {
		t.Error("the reviewer sees what was said to the other model")
	}
	if d := cmp.Diff([]string{"code", "check", "code", "check", "code", "check", "review"}, w.entered(p)); d != "" {
		t.Errorf("nodes:\n%s", d)
	}
	var got []string
	for _, c := range w.records(p.ID).calls {
		if c.Phase == plan.PhaseExecute {
			got = append(got, fmt.Sprint(c.Node, " ", c.Turn))
		}
	}
	want := []string{"code 1", "code 2", "code 4", "code 5", "code 7", "code 8", "review 10"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("calls:\n%s", d)
	}
	third := string(wr.bodies[len(wr.bodies)-3]) // the third visit begins
	contains(t, "the conversation", third, "Round 1.", "Round 2.", "Round 3.", "bad 2", "Written in answer 3.")
	vars := w.vars(p)
	if vars["verdict"] != "It is good." || len(vars["notes"].([]any)) != 3 {
		t.Errorf("saved: %v", vars)
	}
	test := vars["test"].(map[string]any)
	if test["status"] != "ok" || test["exit"] != 0.0 || !strings.Contains(string(w.blob(test["blob"].(string))), "good") {
		t.Errorf("the test saved %v", test)
	}
	p = w.run(p, plan.PhaseApply)
	w.status(p, plan.Applied)
	if got := read(t, tree, "a.txt"); got != "good\n" {
		t.Errorf("a.txt is %q", got)
	}
}

// A decision names the state of its actor at that moment.
func TestDecisionsNameTheActorsState(t *testing.T) {
	t.Parallel()
	w, _ := graphWorld(t, t.TempDir(), t.TempDir(), reply(func(r scripted.Request) scripted.Reply {
		out, err := coding(t).Reply(r)
		must(t, err)
		if last, _ := r.Last("user"); strings.Contains(last.Text, "bad 2") && len(r.Results()) == 0 {
			out.ToolCalls = append(calls(record, choose("again", "")).ToolCalls, out.ToolCalls...)
		}
		return out
	}), task(), fixing, reviewing)
	p := w.run(w.start("auto"), "")
	w.status(p, plan.Waiting)
	seen := 0
	for _, d := range w.records(p.ID).decisions {
		s, err := w.ActorState(context.Background(), d)
		must(t, err)
		if s.Phase != d.Phase || s.Attempt != d.Attempt {
			t.Errorf("decision %d: state of %s, %d", d.Seq, s.Phase, s.Attempt)
		}
		switch d.Question {
		case "how":
			seen++
			if d := cmp.Diff(plan.ActorState{Phase: plan.PhaseExecute, Attempt: 1, Turn: 1, Node: "code", Steps: 1, Visits: map[string]int{"code": 1}}, s); d != "" {
				t.Error(d)
			}
		case "again":
			seen++
			test, _ := s.Vars["test"].(map[string]any)
			if s.Turn != 7 || s.NodeTurn != 6 || s.Steps != 5 || s.Visits["code"] != 3 || s.Visits["check"] != 2 || test["status"] != "failed" || len(s.Vars["notes"].([]any)) != 2 {
				t.Errorf("got %+v", s)
			}
		}
	}
	if seen != 2 {
		t.Errorf("%d of 2 decisions", seen)
	}
	if _, err := w.ActorState(context.Background(), plan.Decision{}); !fault.Is(err, fault.NotFound) {
		t.Errorf("of no state: %v", err)
	}
}

func TestNoAtANode(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T, graph string) (*world, plan.Plan) {
		w, _ := graphWorld(t, t.TempDir(), t.TempDir(), coding(t), task(), graph, reviewing)
		p := w.run(w.start("ci"), "")
		w.status(p, plan.Waiting)
		return w, p
	}
	t.Run("guidance goes to the model that worked last", func(t *testing.T) {
		t.Parallel()
		w, p := start(t, fixing)
		p = w.answer(p, false, "Write b.txt too.")
		w.status(p, plan.Waiting)
		if d := cmp.Diff([]string{"code", "check", "code", "check", "code", "check", "check"}, w.entered(p)); d != "" {
			t.Errorf("nodes:\n%s", d)
		}
		if w.vars(p)["person"] != "Write b.txt too." || p.Visits["code"] != 4 {
			t.Errorf("visits %v, state %v", p.Visits, w.vars(p))
		}
		r := w.records(p.ID)
		if last := r.decisions[len(r.decisions)-1]; last.Type != plan.UserIntervention || last.Chosen != "Write b.txt too." {
			t.Errorf("the last decision is %s: %s", last.Type, last.Chosen)
		}
		p = w.answer(p, true, "")
		w.status(p, plan.Applied)
		if got := read(t, w.tree, "b.txt"); got != "as you say\n" {
			t.Errorf("b.txt is %q", got)
		}
	})
	t.Run("a bare no pauses, and a resume asks again", func(t *testing.T) {
		t.Parallel()
		w, p := start(t, fixing)
		first := w.open(p)
		p = w.answer(p, false, "")
		w.status(p, plan.Paused)
		contains(t, "the reason", p.Reason, "rejected: go into node review")
		p = w.run(p, "")
		w.status(p, plan.Waiting)
		if again := w.open(p); again.ID == first.ID || again.Bound != first.Bound {
			t.Errorf("asked %s, then %s", first.Bound, again.Bound)
		}
		w.status(w.answer(p, true, ""), plan.Applied)
	})
	t.Run("the graph says where a no leads", func(t *testing.T) {
		t.Parallel()
		w, p := start(t, strings.Replace(fixing, "interrupt: before", "interrupt: before\n    on_reject: redo", 1)+
			"  - {id: redo, tool: builtin/write, with: {path: c.txt, content: '{{state.person}}'}}\n")
		p = w.answer(p, false, "Say this.")
		w.status(p, plan.Applied)
		if got := read(t, w.tree, "c.txt"); got != "Say this." {
			t.Errorf("c.txt is %q", got)
		}
	})
	t.Run("before the first node", func(t *testing.T) {
		t.Parallel()
		w, p := start(t, strings.Replace(fixing, "  - id: code\n", "  - id: code\n    interrupt: before\n", 1))
		if got := w.open(p).Subject; got != "before code" {
			t.Errorf("asked for %s", got)
		}
		p = w.answer(p, false, "Not like this.") // no model has worked that could be told
		w.status(p, plan.Paused)
		p = w.run(p, "")
		p = w.answer(p, true, "")
		w.status(p, plan.Waiting) // at the second visit: the state is another one
		if got := w.open(p).Subject; got != "before code" {
			t.Errorf("asked for %s", got)
		}
	})
	t.Run("after a node", func(t *testing.T) {
		t.Parallel()
		w, p := start(t, strings.Replace(fixing, "  - id: check\n", "  - id: check\n    interrupt: after\n", 1))
		a := w.open(p)
		if a.Subject != "after check" || p.Visits["check"] != 1 {
			t.Errorf("asked for %s after %v", a.Subject, p.Visits)
		}
		contains(t, "the question", a.Summary, "go on from node check", "bad 1")
		p = w.answer(p, true, "")
		w.status(p, plan.Waiting)
		if p.Visits["check"] != 2 {
			t.Errorf("visits %v", p.Visits)
		}
	})
	t.Run("another state is another question", func(t *testing.T) {
		t.Parallel()
		w, p := start(t, fixing)
		first := w.open(p)
		_, err := w.Decide(context.Background(), first.ID, true, "")
		must(t, err)
		w.setPlan(p.ID, func(p *plan.Plan) { p.Vars = "" }) // not what was shown
		p = w.run(p, "")
		w.status(p, plan.Waiting)
		if again := w.open(p); again.Bound == first.Bound {
			t.Error("the yes to another state was used")
		}
	})
	t.Run("another node is another question", func(t *testing.T) {
		t.Parallel()
		w, p := start(t, fixing)
		first := w.open(p)
		_, err := w.Decide(context.Background(), first.ID, true, "")
		must(t, err)
		w.setPlan(p.ID, func(p *plan.Plan) { p.Execution.Graph[2].Model.Prompt = "Say yes." })
		p = w.run(p, "")
		w.status(p, plan.Waiting)
		if again := w.open(p); again.Bound == first.Bound {
			t.Error("the yes to another node was used")
		}
	})
}
