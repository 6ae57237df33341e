package engine_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/action"
	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/demo"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/llm"
	"github.com/cleveragents/agents/llm/scripted"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/tool"
)

// demoWorld is a world with the demonstration's action, actors and model.
func demoWorld(t testing.TB, data, tree string, over func(llm.Provider) llm.Provider) *world {
	t.Helper()
	file := func(name string) []byte {
		b, err := demo.Read(name)
		must(t, err)
		return b
	}
	a, err := action.Parse(demo.ActionFile, file(demo.ActionFile))
	must(t, err)
	var who []actor.Config
	for _, f := range demo.ActorFiles() {
		c, err := actor.Parse(f, file(f))
		must(t, err)
		who = append(who, c)
	}
	s, err := scripted.Parse(demo.ScriptFile, file(demo.ScriptFile))
	must(t, err)
	p := over(scripted.Provider(scripted.Config{Scripts: map[string]scripted.Script{demo.Model: s}}))
	return newWorld(t, data, tree, llm.New(llm.Config{Providers: map[string]llm.Provider{scripted.Name: p}}), []action.Action{a}, who)
}

// files reads a tree, with the executable bit.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		must(t, err)
		info, err := d.Info()
		must(t, err)
		if d.Type() == fs.ModeSymlink {
			to, err := os.Readlink(path)
			must(t, err)
			out[name] = "-> " + to
			return nil
		}
		if info.Mode()&0o100 != 0 {
			name += "*"
		}
		b, err := os.ReadFile(path)
		must(t, err)
		out[name] = string(b)
		return nil
	}))
	return out
}

func TestDemonstration(t *testing.T) {
	tree := t.TempDir()
	must(t, demo.Write(tree))
	before := files(t, tree)
	var wr *wire
	w := demoWorld(t, t.TempDir(), tree, func(p llm.Provider) llm.Provider {
		wr = &wire{t: t, next: p.Transport}
		p.Transport = wr
		return p
	})
	p := w.run(w.use(engine.UseInput{Action: demo.Action, Profile: "auto"}), "")
	w.status(p, plan.Waiting)
	if diff := cmp.Diff(before, files(t, tree)); diff != "" {
		t.Errorf("something was written before apply:\n%s", diff)
	}
	r := w.records(p.ID)
	strategy := 0
	for _, d := range r.decisions {
		if d.Phase == plan.PhaseStrategize && d.Call != "" {
			if strategy++; len(d.Alternatives) == 0 || d.Context.Manifest == "" {
				t.Errorf("decision %q has %d alternatives and the manifest %q", d.Question, len(d.Alternatives), d.Context.Manifest)
			}
		}
		if d.Phase == plan.PhaseExecute && d.Checkpoint == "" {
			t.Errorf("decision %q has no checkpoint", d.Question)
		}
	}
	if strategy < 5 {
		t.Errorf("%d decisions in strategize, want at least 5", strategy)
	}
	var verdicts []tool.Verdict
	for _, v := range r.results {
		verdicts = append(verdicts, v.Verdict)
	}
	if diff := cmp.Diff([]tool.Verdict{tool.NotPassed, tool.Passed}, verdicts); diff != "" {
		t.Errorf("verdicts:\n%s", diff)
	}
	if len(r.hunks) != 2 {
		t.Errorf("%d hunks, want 2", len(r.hunks))
	}
	for _, h := range r.hunks {
		if h.Origin != evidence.Reported || h.ToolCall == "" || h.Call == "" || h.Path != "price.sh" || len(h.Ranges) != 1 {
			t.Errorf("hunk %d of %s: origin %s, tool call %q, call %q, ranges %v", h.Seq, h.Path, h.Origin, h.ToolCall, h.Call, h.Ranges)
		}
	}
	if len(r.calls) < 8 || wr.count() != len(r.calls) {
		t.Errorf("%d calls in %d requests, want as many and at least 8", len(r.calls), wr.count())
	}
	p = w.run(p, plan.PhaseApply)
	w.status(p, plan.Applied)
	w.audit()
	after := files(t, tree)
	if after["price.sh*"] == before["price.sh*"] {
		t.Error("price.sh is as it was")
	}
	delete(before, "price.sh*")
	delete(after, "price.sh*")
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("more than price.sh changed:\n%s", diff)
	}
}

func TestModelInStrategizeOnlyReads(t *testing.T) {
	tree := t.TempDir()
	write(t, tree, map[string]string{"a.txt": "one\n"})
	w, wr := modelWorld(t, t.TempDir(), tree, script(t, `
  - when: {system_contains: You are the strategist, turn: 0}
    reply:
      tool_calls:
        - {name: builtin/write, args: {path: new.txt, content: x}}
        - {name: builtin/shell, args: {script: "echo two > a.txt"}}
        - {name: builtin/delete, args: {path: a.txt}}
        - {name: builtin/read, args: {path: a.txt}}
        - {name: builtin/record_decision, args: {type: strategy_choice, question: "How?", chosen: so, alternatives: [], rationale: short}}
  - when: {system_contains: You carry out}
    reply: {text: Nothing to do.}
`), task())
	p := w.run(w.start("supervised"), "")
	if p.Phase != plan.PhaseStrategize {
		t.Fatalf("the plan is %s", p.Status)
	}
	var offered struct {
		Tools []struct{ Function struct{ Name string } }
	}
	must(t, jsonOf(wr.bodies[0], &offered))
	var names []string
	for _, o := range offered.Tools {
		names = append(names, o.Function.Name)
	}
	want := []string{"builtin__ask", "builtin__glob", "builtin__grep", "builtin__list", "builtin__page", "builtin__read", "builtin__record_decision"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("offered:\n%s", diff)
	}
	r := w.records(p.ID)
	for i, c := range r.toolCalls {
		if i < 3 && (c.Status != tool.Refused || c.Executed != "") || i >= 3 && c.Status != tool.OK {
			t.Errorf("%s ended %s: %s", c.Tool, c.Status, w.output(c))
		}
	}
	contains(t, "the refusal", w.output(r.toolCalls[0]), "error: there is no tool", "write")
	if n := len(r.hunks) + len(r.gaps); n > 0 {
		t.Errorf("%d hunks and gaps", n)
	}
	p = w.run(p, plan.PhaseExecute)
	w.status(p, plan.Waiting)
	if r := w.records(p.ID); len(r.hunks) > 0 {
		t.Errorf("the sandbox was changed: %v", r.hunks)
	}
}

func TestStrategistThatRecordsNothingIsPaused(t *testing.T) {
	tree := t.TempDir()
	w, wr := modelWorld(t, t.TempDir(), tree, reply(func(r scripted.Request) scripted.Reply {
		return scripted.Reply{Text: "I think it is easy."}
	}), task())
	p := w.run(w.start("auto"), "")
	w.status(p, plan.Paused)
	contains(t, "the reason", p.Reason, "no use", "strategy_choice")
	if wr.count() != 4 {
		t.Errorf("%d requests, want one and three repairs", wr.count())
	}
	contains(t, "the last request", wr.last(), "No strategy is recorded yet")
	p = w.run(p, "")
	w.status(p, plan.Paused)
	if wr.count() != 8 {
		t.Errorf("%d requests after the resume, want 8", wr.count())
	}
}
