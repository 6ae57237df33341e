package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/action"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/llm/scripted"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/policy"
	"github.com/cleveragents/agents/tool"
)

// choose is the arguments of a record_decision in Execute.
func choose(question, more string) string {
	return fmt.Sprintf(`{"type":"implementation_choice","question":%q,"chosen":"c","alternatives":[],"rationale":"r"%s}`, question, more)
}

// calls is an answer of several calls, as name, arguments, name, arguments.
func calls(words ...string) scripted.Reply {
	var out scripted.Reply
	for i := 0; i < len(words); i += 2 {
		out.ToolCalls = append(out.ToolCalls, scripted.ToolCall{Name: words[i], Arguments: words[i+1]})
	}
	return out
}

const record = "builtin__record_decision"

func TestDecisionsAndTheirEdges(t *testing.T) {
	var ids []string // the ends of the ids, as the model is told them
	w, _ := modelWorld(t, t.TempDir(), t.TempDir(), builder(t, func(turn int, r scripted.Request) scripted.Reply {
		for _, m := range r.Results() {
			if id, ok := strings.CutPrefix(m.Text, "recorded decision "); ok {
				ids = append(ids, id)
			}
		}
		switch turn {
		case 0:
			return calls(record, choose("first", ""), record, choose("alone", `,"independent":true`))
		case 1:
			return calls(
				record, choose("child", `,"parent":"`+ids[0]+`"`),
				record, choose("leans", `,"independent":true,"depends_on":["`+ids[0]+`","`+ids[1]+`"]`),
				record, choose("lost", `,"parent":"ZZZZZZZZ"`),
				record, choose("vague", `,"depends_on":["`+ids[0][len(ids[0])-1:]+`","0"]`),
				record, `{"type":"strategy_choice","question":"q","chosen":"c","alternatives":[],"rationale":"r"}`,
				record, `{"type":"implementation_choice","question":"q","chosen":"c","alternatives":[],"rationale":" "}`,
			)
		}
		return scripted.Reply{Text: "Done."}
	}), task(func(a *action.Action) { a.Invariants = []string{"it stays small"} }))
	p := w.run(w.start("auto"), "")
	w.status(p, plan.Waiting)
	r := w.records(p.ID)
	name := map[ident.DecisionID]string{}
	for _, d := range r.decisions {
		name[d.ID] = d.Question
		if (d.Phase == plan.PhaseExecute) != (d.Checkpoint != "") {
			t.Errorf("decision %q of %s has checkpoint %q", d.Question, d.Phase, d.Checkpoint)
		}
	}
	var edges []string
	for _, e := range r.edges {
		edges = append(edges, name[e.Up]+" > "+name[e.Down])
	}
	root := "What is to be done?"
	want := []string{
		root + " > What must hold throughout?", root + " > How?", root + " > first",
		"first > child", "first > leans", "alone > leans",
	}
	if diff := cmp.Diff(want, edges); diff != "" {
		t.Errorf("influences:\n%s", diff)
	}
	var refused []string
	for _, c := range r.toolCalls {
		if c.Tool == "builtin/record_decision" && c.Status != tool.OK {
			refused = append(refused, w.output(c))
		}
	}
	if len(refused) != 4 {
		t.Fatalf("%d decisions were refused, want 4: %q", len(refused), refused)
	}
	contains(t, "the unknown parent", refused[0], `no decision "ZZZZZZZZ"`)
	contains(t, "the type of another phase", refused[2], "cannot be recorded in execute")
	contains(t, "the empty rationale", refused[3], "must say something")
	if len(r.points) != 4 {
		t.Errorf("%d checkpoints, want 4", len(r.points))
	}
}

func TestAmbiguousDecisionIsRefused(t *testing.T) {
	w, _ := modelWorld(t, t.TempDir(), t.TempDir(), builder(t, func(turn int, r scripted.Request) scripted.Reply {
		if turn == 0 {
			return calls(record, choose("vague", `,"parent":"SAME"`), record, choose("vague too", `,"depends_on":["XSAME"]`), record, choose("short", `,"parent":"AME"`))
		}
		return scripted.Reply{Text: "Done."}
	}), task())
	p := w.run(w.start("supervised"), "")
	must(t, w.Store.Update(context.Background(), func(tx engine.Tx) error {
		for i, id := range []ident.DecisionID{"01ARZ3NDEKTSV4RRFFQ69XSAME", "01ARZ3NDEKTSV4RRFFQ69YSAME"} {
			d := plan.Decision{
				ID: id, Plan: p.ID, Attempt: 1, Phase: plan.PhaseStrategize, Type: plan.StrategyChoice,
				Question: fmt.Sprint("q", i), Chosen: "c", Rationale: "r", Alternatives: []plan.Option{},
			}
			if err := tx.InsertDecision(&d, nil); err != nil {
				return err
			}
		}
		return nil
	}))
	w.setPlan(p.ID, func(p *plan.Plan) { p.Profile.Thresholds[policy.DecideExecution] = 0 })
	p = w.run(p, plan.PhaseExecute)
	w.status(p, plan.Waiting)
	r := w.records(p.ID)
	last := r.toolCalls[len(r.toolCalls)-3:]
	if last[0].Status == tool.OK || last[1].Status != tool.OK || last[2].Status == tool.OK {
		t.Errorf("the calls ended %s, %s and %s", last[0].Status, last[1].Status, last[2].Status)
	}
	contains(t, "the ambiguous end", w.output(last[0]), "more than one decision")
	contains(t, "the short end", w.output(last[2]), "at least its last 4")
}

func TestEveryWriteIsUnderADecision(t *testing.T) {
	tree := t.TempDir()
	write(t, tree, map[string]string{"a.txt": "one\n", ".gitignore": "out/\n"})
	w, _ := modelWorld(t, t.TempDir(), tree, builder(t, func(turn int, r scripted.Request) scripted.Reply {
		switch turn {
		case 0: // no decision is open
			return calls("builtin__write", `{"path":"b.txt","content":"b\n"}`)
		case 1:
			return calls(record, choose("how", ""), "builtin__shell", `{"script":"echo two >> a.txt; mkfifo pipe; mkdir out; echo x > out/o"}`)
		case 2:
			return calls("builtin__shell", `{"script":"echo three >> a.txt; rm b.txt"}`)
		}
		return scripted.Reply{Text: "Done."}
	}), task())
	p := w.run(w.start("auto"), "")
	w.status(p, plan.Waiting)
	r := w.records(p.ID)
	byID := map[ident.DecisionID]plan.Decision{}
	for _, d := range r.decisions {
		byID[d.ID] = d
	}
	var got []string
	for _, h := range r.hunks {
		got = append(got, fmt.Sprintf("%s %s %s>%s %v implicit=%v", h.Path, h.Origin, h.Before.Kind, h.After.Kind, h.Ranges, byID[h.Decision].Implicit))
	}
	want := []string{
		"b.txt reported absent>file [{0 1}] implicit=true",
		"a.txt untracked file>file [{1 2}] implicit=false",
		"a.txt untracked file>file [{2 3}] implicit=false",
		"b.txt untracked file>absent [] implicit=false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("hunks:\n%s", diff)
	}
	got = nil
	for _, g := range r.gaps {
		got = append(got, string(g.Kind)+" "+g.Path)
		if g.ToolCall == "" {
			t.Errorf("gap %d has no tool call", g.Seq)
		}
	}
	want = []string{"special_file fifo pipe", "ignored_path out", "untracked_write a.txt", "untracked_write a.txt", "untracked_write b.txt"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("gaps:\n%s", diff)
	}
}

// boxes returns the directory of a plan's sandbox tree.
func (w *world) box(p plan.Plan) string {
	w.t.Helper()
	var found string
	must(w.t, filepath.WalkDir(filepath.Join(w.data, "trees"), func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == "marker.txt" && strings.Contains(path, string(p.ID)) && !strings.Contains(path, ".base") {
			found = filepath.Dir(path)
		}
		return err
	}))
	if found == "" {
		w.t.Fatal("the plan has no sandbox")
	}
	return found
}

// T46: noticed, recorded, never overwritten silently.
func TestPersonEditsTheSandboxWhileThePlanRuns(t *testing.T) {
	tree := t.TempDir()
	write(t, tree, map[string]string{"marker.txt": "m\n", "a.txt": "one\n", "b.txt": "b\n"})
	var w *world
	var p plan.Plan
	w, _ = modelWorld(t, t.TempDir(), tree, builder(t, func(turn int, r scripted.Request) scripted.Reply {
		switch turn {
		case 0:
			return calls("builtin__read", `{"path":"a.txt"}`, record, choose("how", ""), "builtin__edit", `{"path":"a.txt","old":"one","new":"two"}`)
		case 1:
			write(t, w.box(p), map[string]string{"a.txt": "mine\n"})
			return calls("builtin__write", `{"path":"a.txt","content":"model\n"}`, "builtin__write", `{"path":"c.txt","content":"c\n"}`)
		}
		return scripted.Reply{Text: "Done."}
	}), task(validated("cat a.txt")))
	p = w.start("auto")
	p = w.run(p, "")
	w.status(p, plan.Waiting)
	r := w.records(p.ID)
	if got := read(t, w.box(p), "a.txt"); got != "mine\n" {
		t.Errorf("the person's a.txt is %q", got)
	}
	byID := map[ident.DecisionID]plan.Decision{}
	for _, d := range r.decisions {
		byID[d.ID] = d
	}
	var got []string
	for _, h := range r.hunks {
		got = append(got, fmt.Sprintf("%s %s %s %s", h.Path, h.Origin, byID[h.Decision].Type, byID[h.Decision].Question))
	}
	want := []string{
		"a.txt reported implementation_choice how",
		"a.txt human user_intervention What was changed outside a recorded decision?",
		"c.txt reported implementation_choice how",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("hunks:\n%s", diff)
	}
	for _, c := range r.toolCalls {
		if c.Tool == "builtin/write" && c.Turn == 2 && c.Index == 0 {
			contains(t, "the write over the person's work", w.output(c), "changed since it was read")
		}
	}
	// At the gate: the edit reopens the phase, is validated, and what was asked lapses.
	old := r.approvals[len(r.approvals)-1]
	write(t, w.box(p), map[string]string{"b.txt": "edited at the gate\n"})
	p = w.run(p, plan.PhaseApply)
	w.status(p, plan.Waiting)
	r = w.records(p.ID)
	now := r.approvals[len(r.approvals)-1]
	if now.Bound == old.Bound || now.State != plan.Open {
		t.Errorf("the plan asks for %s %s, it asked for %s", now.State, now.Bound, old.Bound)
	}
	if n := len(r.results); n != 2 || r.results[1].ChangeSet != now.Bound {
		t.Errorf("%d results, the last for %s, asked is for %s", n, r.results[n-1].ChangeSet, now.Bound)
	}
	p = w.run(p, plan.PhaseApply)
	w.status(p, plan.Applied)
	if a, b := read(t, tree, "a.txt"), read(t, tree, "b.txt"); a != "mine\n" || b != "edited at the gate\n" {
		t.Errorf("applied a.txt %q, b.txt %q", a, b)
	}
}

// What a validation writes is put back, and what a person wrote meanwhile is
// kept and named. T46
func TestValidationChangesNothing(t *testing.T) {
	tree := t.TempDir()
	write(t, tree, map[string]string{"marker.txt": "m\n"})
	w, _ := modelWorld(t, t.TempDir(), tree, builder(t, func(turn int, r scripted.Request) scripted.Reply {
		if turn == 0 {
			return calls("builtin__write", `{"path":"a.txt","content":"a\n"}`)
		}
		return scripted.Reply{Text: "Done."}
	}), task(validated("echo litter > litter.txt; rm a.txt")))
	p := w.run(w.start("auto"), "")
	w.status(p, plan.Waiting)
	if got := files(t, w.box(p)); got["litter.txt"] != "" || got["a.txt"] != "a\n" {
		t.Errorf("the sandbox is %v", got)
	}
	r := w.records(p.ID)
	if len(r.hunks) != 1 || len(r.gaps) != 1 || r.gaps[0].Kind != evidence.GapUntracked {
		t.Fatalf("%d hunks, gaps %v", len(r.hunks), r.gaps)
	}
	_, kept, _ := strings.Cut(r.gaps[0].Detail, "is in blob ")
	var set plan.ChangeSet
	must(t, jsonOf(w.blob(kept), &set))
	if len(set) != 1 || set[0].Path != "litter.txt" || string(w.blob(set[0].After.Hash)) != "litter\n" {
		t.Errorf("kept: %v", set)
	}
}

// A validation that was cut short left something: it is not a person's work.
func TestInterruptedValidationIsPutBack(t *testing.T) {
	tree, begun := t.TempDir(), filepath.Join(t.TempDir(), "begun")
	must(t, mkfifo(begun))
	write(t, tree, map[string]string{"marker.txt": "m\n"})
	ctx, cancel := context.WithCancel(context.Background())
	w, _ := modelWorld(t, t.TempDir(), tree, builder(t, func(turn int, r scripted.Request) scripted.Reply {
		if turn == 0 {
			return calls("builtin__write", `{"path":"a.txt","content":"a\n"}`)
		}
		return scripted.Reply{Text: "Done."}
	}), task(validated("echo litter > litter.txt; if test -p '"+begun+"'; then echo > '"+begun+"'; sleep 60; fi; rm litter.txt")))
	p := w.start("auto")
	go func() { // there is no event between a validation's begin and its end
		defer cancel()
		if _, err := os.ReadFile(begun); err != nil {
			t.Error(err)
		}
		if err := os.Remove(begun); err != nil { // it is not waited for again
			t.Error(err)
		}
	}()
	if err := w.Run(ctx, p.ID, "", nil); err == nil {
		t.Fatal("the run was not interrupted")
	}
	p = w.run(w.plan(p.ID), "")
	w.status(p, plan.Waiting)
	r := w.records(p.ID)
	if len(r.hunks) != 1 || r.hunks[0].Path != "a.txt" {
		t.Errorf("hunks: %v", r.hunks)
	}
	if len(r.gaps) != 1 || r.gaps[0].Kind != evidence.GapTruncated {
		t.Errorf("gaps: %v", r.gaps)
	}
}
