package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/action"
	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/llm/scripted"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/prompt"
)

// watched is a model that shows each request before it is made.
type watched struct {
	engine.Model
	see func(actor.Request)
}

func (m watched) Generate(ctx context.Context, r actor.Request, progress func(string)) (actor.Response, error) {
	m.see(r)
	if ctx.Err() != nil {
		return actor.Response{}, ctx.Err()
	}
	return m.Model.Generate(ctx, r, progress)
}

func weight(r actor.Request) int {
	return prompt.Tokens(prompt.Weigh(r.Messages...) + prompt.WeighTools(r.Tools))
}

func textOf(r actor.Request) string {
	var b strings.Builder
	for _, m := range r.Messages {
		b.WriteString(m.Text() + "\n")
	}
	return b.String()
}

// reader reads one file after the other, deciding something now and then.
func reader(files int) reply {
	n := 0
	return func(r scripted.Request) scripted.Reply {
		decide := func(kind string) scripted.ToolCall {
			return scripted.ToolCall{Name: "builtin__record_decision", Arguments: fmt.Sprintf(
				`{"type":%q,"question":"which at %d?","chosen":"way %d","alternatives":[],"rationale":"it is short"}`, kind, n, n)}
		}
		if r.Contains("system", "You are the strategist") {
			if r.Turn > 0 {
				return scripted.Reply{Text: "That is the strategy."}
			}
			return scripted.Reply{ToolCalls: []scripted.ToolCall{decide("strategy_choice")}}
		}
		if n++; n > files {
			return scripted.Reply{Text: "Done."}
		}
		out := scripted.Reply{Text: fmt.Sprintf("File %d.", n), ToolCalls: []scripted.ToolCall{
			{Name: "builtin__read", Arguments: fmt.Sprintf(`{"path":"f%d.txt"}`, n)},
		}}
		if n%20 == 1 {
			out.ToolCalls = append([]scripted.ToolCall{decide("implementation_choice")}, out.ToolCalls...)
		}
		return out
	}
}

func manyFiles(t testing.TB, dir string, n, size int) {
	t.Helper()
	files := map[string]string{}
	for i := range n {
		files[fmt.Sprintf("f%d.txt", i+1)] = strings.Repeat(fmt.Sprintf("this is line of file %d\n", i+1), size/24)
	}
	write(t, dir, files)
}

// A conversation of 200 turns, each with a result of 20 KB, comes to its end
// with a model that takes 32,000 tokens; a process that dies in the middle makes
// the same request again.
func TestALongConversationStaysWithinTheWindow(t *testing.T) {
	t.Parallel()
	const files, window, answer = 200, 32_000, 4_000
	const budget = window - answer - window/50
	data, tree := t.TempDir(), t.TempDir()
	manyFiles(t, tree, files, 20<<10)
	script := reader(files)
	invariant := func(a *action.Action) { a.Invariants = []string{"keep the files as they are"} }
	var requests []actor.Request
	ctx, cancel := context.WithCancel(context.Background())
	open := func() *world {
		w, _ := modelWorld(t, data, tree, script, task(invariant), turns(files+10))
		w.Window = func(string, string) (int, int) { return window, answer }
		w.Model = watched{w.Model, func(r actor.Request) {
			requests = append(requests, r)
			if len(requests) == files/2 {
				cancel()
			}
		}}
		return w
	}
	w := open()
	p := w.start("ci")
	if err := w.Run(ctx, p.ID, "", nil); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	half := len(requests)
	w = open()
	must(t, w.Prompt(context.Background(), p.ID, "Mind the commas.", false))
	p = w.run(p, "")
	if p.State == plan.Paused || p.State == plan.Errored {
		t.Fatalf("the plan is %s: %s", p.Status, p.Reason)
	}
	if len(requests) < files {
		t.Fatalf("%d requests", len(requests))
	}
	largest, cuts := 0, 0
	for i, r := range requests {
		n := weight(r)
		largest = max(largest, n)
		if n > budget {
			t.Errorf("request %d has %d tokens, %d fit", i, n, budget)
		}
		words := []string{"Do it.", "It is done.", "keep the files as they are"}
		if i > 2 {
			words = append(words, "way 0")
		}
		if i > half {
			words = append(words, "Mind the commas.")
		}
		contains(t, fmt.Sprintf("request %d", i), textOf(r), words...)
		if strings.Contains(textOf(r), "left out to make room") {
			cuts++
		}
	}
	if largest < budget*8/10 || cuts < files*8/10 {
		t.Errorf("at most %d tokens of %d are used, %d requests are cut", largest, budget, cuts)
	}
	first, again := requests[half-1], requests[half]
	said := len(again.Messages) - 1 // the message of the person comes last
	if d := cmp.Diff(first.Messages, again.Messages[:said]); d != "" {
		t.Errorf("after the restart the request is another:\n%s", d)
	}
	checkLeftOut(t, w, p, budget)
}

// checkLeftOut looks that each call has the record of what it was not sent.
func checkLeftOut(t *testing.T, w *world, p plan.Plan, budget int) {
	t.Helper()
	rec := w.records(p.ID)
	cut, told, short := map[string]bool{}, 0, 0
	for _, c := range rec.calls {
		if c.LeftOut == "" {
			continue
		}
		cut[c.LeftOut] = true
		short++
		var l evidence.LeftOut
		must(t, json.Unmarshal(w.blob(c.LeftOut), &l))
		if l.Budget != budget || l.Results+l.Turns == 0 {
			t.Errorf("turn %d: %+v", c.Turn, l)
		}
		var m evidence.Manifest
		must(t, json.Unmarshal(w.blob(c.Manifest), &m))
		m, err := m.Resolve(func(hash string) ([]byte, error) { return w.blob(hash), nil })
		must(t, err)
		sent := map[string]bool{}
		for _, s := range m.Spans {
			sent[s.Blob] = true
		}
		for _, d := range l.Drops {
			if d.Slot == "tool_result" && sent[d.Blob] {
				t.Errorf("turn %d: the result of turn %d is left out and was sent", c.Turn, d.Turn)
			}
			w.blob(d.Blob)
		}
	}
	for _, e := range rec.events {
		if e.Type == "prompt.cut" {
			told++
			contains(t, "event", string(e.Data), `"budget"`, `"results"`, `"turns"`, `"whole"`)
		}
	}
	if len(cut) == 0 || told != len(cut) || len(cut) >= short {
		t.Errorf("%d calls have a short prompt, of %d cuts, %d told", short, len(cut), told)
	}
}

// When the answers themselves are too many, whole turns give way to a line for
// each call; the open decision stays in full, and so does what a person said.
func TestOldTurnsBecomeLines(t *testing.T) {
	t.Parallel()
	n := 0
	w, _ := modelWorld(t, t.TempDir(), t.TempDir(), reply(func(r scripted.Request) scripted.Reply {
		if r.Contains("system", "You are the strategist") {
			return reader(0)(r)
		}
		if n++; n > 40 {
			return scripted.Reply{Text: "Done."}
		}
		out := scripted.Reply{Text: strings.Repeat("I think about it. ", 100), ToolCalls: []scripted.ToolCall{
			{Name: "builtin__glob", Arguments: fmt.Sprintf(`{"pattern":"*.%d"}`, n)},
		}}
		if n == 2 {
			out.ToolCalls[0] = scripted.ToolCall{Name: "builtin__record_decision",
				Arguments: `{"type":"implementation_choice","question":"where?","chosen":"in the middle","alternatives":[],"rationale":"nobody looks there"}`}
		}
		return out
	}), task())
	w.Window = func(string, string) (int, int) { return 16_000, 4_000 }
	var last actor.Request
	w.Model = watched{w.Model, func(r actor.Request) { last = r }}
	p := w.run(w.start("ci"), "")
	if p.State == plan.Paused || p.State == plan.Errored {
		t.Fatalf("the plan is %s: %s", p.Status, p.Reason)
	}
	contains(t, "the last request", textOf(last), "The oldest turns of this conversation are left out",
		"turn 1: builtin/glob *.1: ok", "turn 2: decided implementation_choice: where? → in the middle\n",
		"where? → in the middle. nobody looks there", "Do it.")
	if m := last.Messages[len(last.Messages)-2]; len(m.ToolCalls) != 1 || !strings.Contains(m.ToolCalls[0].Arguments, "*.40") {
		t.Errorf("the newest answer is %+v", m)
	}
	if m := last.Messages[2]; m.Role != actor.User || m.Pieces[0].Slot != "history" {
		t.Errorf("the third message is %+v", m)
	}
}

// What cannot be left out and does not fit pauses the plan, with what takes the
// room and by how much it is too large.
func TestAPromptThatCannotFitPausesThePlan(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*world, *plan.Plan){
		"window":      func(w *world, _ *plan.Plan) { w.Window = func(string, string) (int, int) { return 6_000, 1_000 } },
		"max_context": func(_ *world, p *plan.Plan) { p.Strategy.MaxContext = 5_000 },
	} {
		t.Run(name, func(t *testing.T) {
			w, wr := modelWorld(t, t.TempDir(), t.TempDir(), script(t, ""), task())
			p := w.use(engine.UseInput{Action: "local/task", Profile: "ci", Prompt: strings.Repeat("very long ", 3000)})
			w.setPlan(p.ID, func(p *plan.Plan) { set(w, p) })
			p = w.run(p, "")
			w.status(p, plan.Paused)
			if p.Fault != fault.Exhausted.String() || wr.count() != 0 {
				t.Errorf("%s after %d requests", p.Fault, wr.count())
			}
			contains(t, "reason", p.Reason, "cannot be made small enough", "the task with the advice of the repository: 82", "the tools: ")
		})
	}
}
