package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/llm"
	"github.com/cleveragents/agents/llm/scripted"
	"github.com/cleveragents/agents/plan"
)

// stockWorld is a world whose default model is this script, with more actors.
func stockWorld(t testing.TB, tree string, s scripted.Script, actors ...actor.Config) (*world, *wire) {
	t.Helper()
	p := scripted.Provider(scripted.Config{Scripts: map[string]scripted.Script{"test": s, "other": s}})
	wr := &wire{t: t, next: p.Transport}
	p.Transport = wr
	w := newWorld(t, t.TempDir(), tree, llm.New(llm.Config{Providers: map[string]llm.Provider{scripted.Name: p}}), nil, actors)
	w.DefaultModel = func(context.Context) (string, string, error) { return scripted.Name, "test", nil }
	t.Cleanup(w.audit)
	return w, wr
}

// worker is a model that plans when it is asked to and works by f.
func worker(f func(last string, r scripted.Request) scripted.Reply) scripted.Script {
	return reply(func(r scripted.Request) scripted.Reply {
		last, _ := r.Last("user")
		switch {
		case !r.Contains("system", "You are the strategist"):
			return f(last.Text, r)
		case r.Turn == 0:
			return call(record, `{"type":"strategy_choice","question":"How?","chosen":"by the smallest change","alternatives":[],"rationale":"r"}`)
		}
		return scripted.Reply{Text: "That is the strategy."}
	})
}

// asks fails the test unless some request holds all of the words.
func (w *wire) asks(what string, words ...string) {
	w.t.Helper()
	for _, b := range w.bodies {
		missing := false
		for _, word := range words {
			missing = missing || !strings.Contains(string(b), word)
		}
		if !missing {
			return
		}
	}
	w.t.Errorf("%s: no request says %q", what, words)
}

func TestStockChange(t *testing.T) {
	t.Parallel()
	tree := t.TempDir()
	write(t, tree, map[string]string{"greeting.txt": "hello\n", "other.txt": "x\n"})
	w, wr := stockWorld(t, tree, worker(func(_ string, r scripted.Request) scripted.Reply {
		switch r.Turn {
		case 0:
			return call("builtin__read", `{"path":"greeting.txt"}`)
		case 1:
			return calls(record, choose("What is the greeting?", ""), "builtin__edit", `{"path":"greeting.txt","old":"hello","new":"good day"}`)
		}
		return scripted.Reply{Text: "greeting.txt says good day."}
	}))
	p := w.run(w.use(engine.UseInput{Action: "builtin/change", Profile: "ci", Args: map[string]string{"task": "Say good day.", "validate": "grep -q 'good day' greeting.txt"}}), "")
	w.status(p, plan.Applied)
	if d := cmp.Diff(map[string]string{"greeting.txt": "good day\n", "other.txt": "x\n"}, files(t, tree)); d != "" {
		t.Errorf("the tree:\n%s", d)
	}
	wr.asks("the strategist", "You are the strategist", "You decide how a change is made", "task: Say good day.")
	wr.asks("the builder", "You carry out a plan", "You make the change that was decided", "by the smallest change")
}

// adder is a project with a fault that its test finds.
func adder(t testing.TB) string {
	tree := t.TempDir()
	write(t, tree, map[string]string{
		"add.sh":  "echo $(($1 - $2))\n",
		"test.sh": "got=$(sh add.sh 2 3)\ntest \"$got\" = 5 || { echo \"FAIL add 2 3: $got, want 5\"; exit 1; }\n",
	})
	return tree
}

func TestStockFixTests(t *testing.T) {
	t.Parallel()
	tree := adder(t)
	w, wr := stockWorld(t, tree, worker(func(last string, r scripted.Request) scripted.Reply {
		edit := func(from, to string) scripted.Reply {
			return calls("builtin__read", `{"path":"add.sh"}`, record, choose("Why "+from+"?", ""),
				"builtin__edit", fmt.Sprintf(`{"path":"add.sh","old":%q,"new":%q}`, from, to))
		}
		switch {
		case len(r.Results()) > 0:
			return scripted.Reply{Text: "One cause is gone."}
		case strings.Contains(last, "add 2 3: -1"):
			return edit("$1 - $2", "$1 * $2")
		case strings.Contains(last, "add 2 3: 6"):
			return edit("$1 * $2", "$1 + $2")
		}
		return scripted.Reply{Text: "I do not know."}
	}))
	p := w.run(w.use(engine.UseInput{Action: "builtin/fix-tests", Profile: "ci", Args: map[string]string{"command": "sh test.sh"}}), "")
	w.status(p, plan.Applied)
	if got := read(t, tree, "add.sh"); got != "echo $(($1 + $2))\n" {
		t.Errorf("add.sh is %q", got)
	}
	if d := cmp.Diff([]string{"test", "fix", "test", "fix", "test"}, w.entered(p)); d != "" {
		t.Errorf("nodes:\n%s", d)
	}
	wr.asks("the fixer", "You make failing tests pass", "(round 1)", "status 1", "FAIL add 2 3: -1, want 5", "(round 2)", "FAIL add 2 3: 6, want 5", "One cause is gone.")
}

// Tests that nobody can repair fail the plan, and nothing reaches the project.
func TestStockFixTestsGivesUp(t *testing.T) {
	t.Parallel()
	tree := adder(t)
	before := files(t, tree)
	w, _ := stockWorld(t, tree, worker(func(_ string, r scripted.Request) scripted.Reply {
		if len(r.Results()) > 0 {
			return scripted.Reply{Text: "Tried."}
		}
		return call("builtin__write", fmt.Sprintf(`{"path":"note.txt","content":"try %d"}`, r.Turn))
	}))
	p := w.run(w.use(engine.UseInput{Action: "builtin/fix-tests", Profile: "ci", Args: map[string]string{"command": "sh test.sh"}}), "")
	w.status(p, plan.Errored)
	contains(t, "the reason", p.Reason, "required validation tests")
	if p.Fault != fault.ValidationFailed.String() {
		t.Errorf("the fault is %s", p.Fault)
	}
	if p.Visits["fix"] < 5 {
		t.Errorf("it gave up after %d tries", p.Visits["fix"])
	}
	if d := cmp.Diff(before, files(t, tree)); d != "" {
		t.Errorf("the tree:\n%s", d)
	}
}

func TestStockReviewAndAsk(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]engine.UseInput{
		"review": {Action: "builtin/review", Args: map[string]string{"about": "add.sh"}},
		"ask":    {Action: "builtin/ask", Prompt: "What does add.sh do?"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := adder(t)
			before := files(t, tree)
			w, wr := stockWorld(t, tree, worker(func(_ string, r scripted.Request) scripted.Reply {
				switch r.Turn {
				case 0:
					return calls("builtin__read", `{"path":"add.sh"}`, "builtin__write", `{"path":"add.sh","content":"x"}`, "builtin__shell", `{"script":"rm test.sh"}`)
				case 1:
					return call(record, choose("What is wrong at add.sh:1?", ""))
				}
				return scripted.Reply{Text: "add.sh:1 takes away."}
			}))
			in.Profile = "ci"
			p := w.run(w.use(in), "")
			w.status(p, plan.Applied)
			if d := cmp.Diff(before, files(t, tree)); d != "" {
				t.Errorf("the tree:\n%s", d)
			}
			r := w.records(p.ID)
			if len(r.hunks) > 0 {
				t.Errorf("%d hunks", len(r.hunks))
			}
			found := 0
			for _, d := range r.decisions {
				if d.Phase == plan.PhaseExecute {
					found++
				}
			}
			if found != 1 {
				t.Errorf("%d findings", found)
			}
			wr.asks("the actor", "You work on a project that you may look at and not change")
			for _, b := range wr.bodies {
				if strings.Contains(string(b), "builtin__write\",\"description") {
					t.Error("a tool that writes is offered")
				}
			}
		})
	}
}

func TestWhoPlaysWhichPart(t *testing.T) {
	t.Parallel()
	bare := actor.Config{Name: "local/other", Provider: scripted.Name, Model: "other"}
	own := actor.Config{Name: "local/own", Provider: scripted.Name, Model: "other", Prompt: "Be brief."}
	w, _ := stockWorld(t, adder(t), worker(nil), bare, own)
	ctx := context.Background()
	in := engine.UseInput{Action: "builtin/fix-tests", Project: "local/p", Args: map[string]string{"command": "true"}}
	use := func(change func(*engine.UseInput)) (plan.Plan, error) {
		q := in
		change(&q)
		return w.Use(ctx, q)
	}
	p, err := use(func(*engine.UseInput) {})
	must(t, err)
	if m := p.Execution.Models()[0]; m.Provider != scripted.Name || m.Name != "test" || p.Strategy.Model != "test" {
		t.Errorf("the default model became %+v and %s", m, p.Strategy.Model)
	}
	p, err = use(func(q *engine.UseInput) { q.ExecutionActor = "other" })
	must(t, err)
	if p.Execution.Name != "builtin/fix-tests-execution" || p.Execution.Models()[0].Name != "other" || p.Strategy.Model != "test" {
		t.Errorf("a model alone made of it %s with %s", p.Execution.Name, p.Execution.Models()[0].Name)
	}
	p, err = use(func(q *engine.UseInput) { q.ExecutionActor = "own" })
	must(t, err)
	if p.Execution.Name != "local/own" || p.Execution.Prompt != "Be brief." {
		t.Errorf("an actor with instructions made of it %+v", p.Execution)
	}
	p, err = use(func(q *engine.UseInput) { q.Adjust = func(c *actor.Config) { c.MaxTurns = 7 } })
	must(t, err)
	if p.Execution.MaxTurns != 7 || p.Strategy.MaxTurns == 7 {
		t.Errorf("max turns %d and %d", p.Execution.MaxTurns, p.Strategy.MaxTurns)
	}
	_, err = use(func(q *engine.UseInput) { q.ExecutionActor = "othre" })
	if !fault.Is(err, fault.NotFound) || !strings.Contains(fault.As(err).Hint, "did you mean local/other") {
		t.Errorf("%v, hint %q", err, fault.As(err).Hint)
	}
	w.DefaultModel = func(context.Context) (string, string, error) {
		return "", "", fault.New(fault.Denied, "the key is refused")
	}
	if _, err = use(func(*engine.UseInput) {}); !fault.Is(err, fault.Denied) {
		t.Errorf("got %v", err)
	}
	for _, none := range []func(context.Context) (string, string, error){nil, func(context.Context) (string, string, error) { return "", "", nil }} {
		w.DefaultModel = none
		_, err = use(func(*engine.UseInput) {})
		if !fault.Is(err, fault.Unavailable) || fault.As(err).Code != "NoProvider" {
			t.Errorf("got %v", err)
		}
		contains(t, "the hint", fault.As(err).Hint, "ANTHROPIC_API_KEY", "Ollama", "agents run builtin/command", "agents demo")
	}
}

// The other roles are looked up, checked and copied in like the two that work.
func TestOtherRoles(t *testing.T) {
	t.Parallel()
	guess := actor.Config{Name: "local/guess", Provider: scripted.Name, Model: "test"}
	a := task()
	a.EstimationActor, a.InvariantActor = "guess", "keeper"
	s := scripted.Provider(scripted.Config{Scripts: map[string]scripted.Script{"test": script(t, "")}})
	model := llm.New(llm.Config{Providers: map[string]llm.Provider{scripted.Name: s}})
	single := actor.Config{Name: "local/model", Provider: scripted.Name, Model: "test"}
	w := newWorld(t, t.TempDir(), t.TempDir(), model, nil, []actor.Config{single, guess, {Name: "local/keeper", Provider: "nowhere", Model: "m"}})
	w.Actions = append(w.Actions, a)
	in := engine.UseInput{Action: "local/task", Project: "local/p"}
	if _, err := w.Use(context.Background(), in); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "local/keeper") {
		t.Errorf("an actor that cannot be asked: %v", err)
	}
	w.Actors[len(w.Actors)-1].Provider, w.Actors[len(w.Actors)-1].Model = scripted.Name, "test"
	p, err := w.Use(context.Background(), in)
	must(t, err)
	if p.Estimation == nil || p.Estimation.Name != "local/guess" || p.Invariant == nil || p.Invariant.Name != "local/keeper" || len(p.Actors()) != 4 {
		t.Errorf("got %+v and %+v", p.Estimation, p.Invariant)
	}
	w.Actors = w.Actors[:len(w.Actors)-1]
	if _, err := w.Use(context.Background(), in); !fault.Is(err, fault.NotFound) {
		t.Errorf("an actor that is not there: %v", err)
	}
}
