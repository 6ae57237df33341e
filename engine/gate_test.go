package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/action"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/llm/scripted"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/policy"
	"github.com/cleveragents/agents/tool"
)

// fixer decides, writes something wrong, and right when it is told so; and once
// more when a person says something.
func fixer(t testing.TB) scripted.Script {
	return builder(t, func(turn int, r scripted.Request) scripted.Reply {
		last, _ := r.Last("user")
		switch {
		case turn == 0:
			return calls(record, choose("how", ""), "builtin__write", `{"path":"a.txt","content":"bad\n"}`)
		case len(r.Results()) > 0:
			return scripted.Reply{Text: "Done."}
		case strings.Contains(last.Text, "A person"):
			return calls("builtin__write", `{"path":"b.txt","content":"as you say\n"}`)
		case strings.Contains(last.Text, "did not pass"):
			return calls("builtin__write", `{"path":"a.txt","content":"good\n"}`)
		}
		return scripted.Reply{Text: "Done."}
	})
}

// open is the one open approval of a plan.
func (w *world) open(p plan.Plan) plan.Approval {
	w.t.Helper()
	var open []plan.Approval
	w.view(func(tx engine.Tx) (err error) {
		open, err = tx.Approvals(p.ID, true)
		return err
	})
	if len(open) != 1 {
		w.t.Fatalf("%d approvals are open for a plan in %s, want 1", len(open), p.Status)
	}
	return open[0]
}

// answer decides the open question of a plan and carries it on.
func (w *world) answer(p plan.Plan, yes bool, text string) plan.Plan {
	w.t.Helper()
	_, err := w.Decide(context.Background(), w.open(p).ID, yes, text)
	must(w.t, err)
	return w.run(p, "")
}

func good() func(*action.Action) { return validated("grep -q good a.txt") }

func TestWhereEachProfileStops(t *testing.T) {
	const (
		strategize, execute, apply = "action: gate strategize", "strategize: gate execute", "execute: gate apply"
		decideS, decideE, fix      = "strategize: decision", "execute: decision", "execute: fix execute/0"
	)
	for profile, want := range map[string][]string{
		"manual":     {strategize, decideS, execute, decideE, fix, apply},
		"review":     {decideS, decideE, fix, apply},
		"supervised": {execute, decideE, fix, apply},
		"trusted":    {apply},
		"auto":       {apply},
		"ci":         nil,
	} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			tree := t.TempDir()
			w, _ := modelWorld(t, t.TempDir(), tree, fixer(t), task(good()))
			p := w.run(w.start(profile), "")
			var got []string
			for range 10 {
				if p.State != plan.Waiting {
					break
				}
				a := w.open(p)
				if a.Kind == plan.ApproveDecision {
					a.Subject = ""
				}
				got = append(got, strings.TrimSpace(string(p.Phase)+": "+string(a.Kind)+" "+a.Subject))
				if again := w.run(p, ""); again.State != plan.Waiting || w.open(again).Subject == "" {
					t.Fatalf("a run without an answer went to %s", again.Status)
				}
				p = w.answer(p, true, "")
			}
			w.status(p, plan.Applied)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("it asked:\n%s", diff)
			}
			for _, a := range w.records(p.ID).approvals {
				if a.State != plan.Used {
					t.Errorf("approval of %s %s is %s", a.Kind, a.Subject, a.State)
				}
			}
			if got := read(t, tree, "a.txt"); got != "good\n" {
				t.Errorf("a.txt is %q", got)
			}
		})
	}
}

func TestRejectionWithGuidanceGoesToTheActor(t *testing.T) {
	tree := t.TempDir()
	w, wr := modelWorld(t, t.TempDir(), tree, fixer(t), task(good()))
	p := w.run(w.start("auto"), "")
	w.status(p, plan.Waiting)
	calls := wr.count()
	p = w.answer(p, false, "Write b.txt too.")
	w.status(p, plan.Waiting)
	if wr.count() != calls+2 {
		t.Errorf("%d calls after the guidance, want 2", wr.count()-calls)
	}
	contains(t, "the actor's request", wr.last(), "A person looked at this and says: Write b.txt too.")
	var said []plan.Decision
	for _, d := range w.records(p.ID).decisions {
		if d.Type == plan.UserIntervention {
			said = append(said, d)
		}
	}
	if len(said) != 1 || said[0].Chosen != "Write b.txt too." {
		t.Errorf("decisions of the person: %v", said)
	}
	p = w.answer(p, true, "")
	w.status(p, plan.Applied)
	if got := read(t, tree, "b.txt"); got != "as you say\n" {
		t.Errorf("b.txt is %q", got)
	}
}

func TestRejectionWithoutGuidancePauses(t *testing.T) {
	w, wr := modelWorld(t, t.TempDir(), t.TempDir(), fixer(t), task(good()))
	p := w.run(w.start("manual"), "")
	for range 6 { // at each question: no, look again, yes
		asked := w.open(p)
		calls := wr.count()
		p = w.answer(p, false, "")
		if asked.Kind == plan.ApproveDecision {
			// The actor is told, and its next turn decides; this one gives up.
			break
		}
		w.status(p, plan.Paused)
		contains(t, "the reason", p.Reason, "rejected")
		if wr.count() != calls {
			t.Errorf("the model was called after %s was rejected", asked.Subject)
		}
		p = w.run(p, "")
		w.status(p, plan.Waiting)
		again := w.open(p)
		if again.ID == asked.ID || again.Kind != asked.Kind || again.Subject != asked.Subject {
			t.Errorf("asked %s %s, and after the pause %s %s", asked.Kind, asked.Subject, again.Kind, again.Subject)
		}
		p = w.answer(p, true, "")
	}
	if p.Phase != plan.PhaseStrategize || p.State != plan.Paused {
		t.Errorf("the plan is %s: %s", p.Status, p.Reason)
	}
	contains(t, "the last request", wr.last(), "a person rejected this")
}

func TestGraphCannotBeGuided(t *testing.T) {
	w := newWorld(t, t.TempDir(), t.TempDir(), noModel{}, nil, nil)
	t.Cleanup(w.audit)
	p := w.run(w.use(command(map[string]string{"command": "echo x >> a.txt"}, "auto")), "")
	w.status(p, plan.Waiting)
	p = w.answer(p, false, "Do it in red.")
	w.status(p, plan.Paused)
	contains(t, "the reason", p.Reason, "rejected", "guidance")
	w.decisions(p, 4)
	p = w.run(p, "")
	w.status(p, plan.Waiting)
	p = w.answer(p, true, "")
	w.status(p, plan.Applied)
	if got := read(t, w.tree, "a.txt"); got != "x\n" {
		t.Errorf("a.txt is %q", got)
	}
}

// T23: an approval is for what was shown, and for once.
func TestApprovalIsBoundToWhatWasShown(t *testing.T) {
	tree := t.TempDir()
	write(t, tree, map[string]string{"marker.txt": "m\n"})
	w, _ := modelWorld(t, t.TempDir(), tree, fixer(t), task(good()))
	p := w.run(w.start("auto"), "")
	w.status(p, plan.Waiting)
	first := w.open(p)
	_, err := w.Decide(context.Background(), first.ID, true, "")
	must(t, err)
	write(t, w.box(p), map[string]string{"a.txt": "good but other\n"})
	p = w.run(p, "")
	w.status(p, plan.Waiting)
	second := w.open(p)
	if second.Bound == first.Bound {
		t.Error("the second question is bound to the first change set")
	}
	// Back at the first content, the first answer counts no more.
	write(t, w.box(p), map[string]string{"a.txt": "good\n"})
	p = w.run(p, plan.PhaseApply)
	w.status(p, plan.Waiting)
	if third := w.open(p); third.Bound != first.Bound || third.ID == first.ID {
		t.Errorf("asked for %s", third.Bound)
	}
	for _, id := range []plan.Approval{first, second} {
		if _, err := w.Decide(context.Background(), id.ID, true, ""); !fault.Is(err, fault.Conflict) {
			t.Errorf("deciding a closed approval: %v", err)
		}
	}
	p = w.run(p, plan.PhaseApply)
	w.status(p, plan.Applied)
}

// T23: the order to apply is for what was there when it was given.
func TestOrderIsBoundToTheChanges(t *testing.T) {
	tree := t.TempDir()
	w, _ := modelWorld(t, t.TempDir(), tree, always(t, `{status: 401}`), task())
	p := w.run(w.start("auto"), "")
	w.status(p, plan.Paused)
	w2, _ := modelWorld(t, w.data, tree, fixer(t), task(good()))
	p = w2.run(p, plan.PhaseApply)
	w2.status(p, plan.Waiting)
	if got := files(t, tree); len(got) > 0 {
		t.Errorf("what nobody has seen was applied: %v", got)
	}
	p = w2.run(p, plan.PhaseApply)
	w2.status(p, plan.Applied)
}

// An approval that an order overtook must not answer a later question.
func TestOvertakenApprovalAnswersNothing(t *testing.T) {
	tree := t.TempDir()
	w, _ := modelWorld(t, t.TempDir(), tree, fixer(t), task(good()))
	p := w.start("supervised")
	w.setPlan(p.ID, func(p *plan.Plan) { p.Profile.Guard.RequireApprovalForWrites = true })
	p = w.run(p, "")
	_, err := w.Decide(context.Background(), w.open(p).ID, true, "")
	must(t, err)
	p = w.run(p, plan.PhaseExecute) // approved, and ordered too
	for range 4 {
		if w.status(p, plan.Waiting); w.open(p).Kind == plan.ApproveGate {
			break
		}
		p = w.answer(p, true, "")
	}
	if p.Phase != plan.PhaseExecute {
		t.Fatalf("the plan is %s", p.Status)
	}
	p = w.answer(p, true, "")
	w.status(p, plan.Applied)
	if got := read(t, tree, "a.txt"); got != "good\n" {
		t.Errorf("a.txt is %q", got)
	}
}

// T19, T20: a guard stands before every tool, and a person may open it for one
// call as it is.
func TestGuards(t *testing.T) {
	list := func(names ...string) *[]string { all := append([]string{}, names...); return &all }
	limit := func(n int) *int { return &n }
	tests := []struct {
		name   string
		change func(*policy.Profile)
		asks   int // questions before the one at the gate
		why    string
		gate   bool // asked under ci
	}{
		{"denylist", func(p *policy.Profile) { p.Guard.ToolDenylist = list("builtin/write") }, 2, "denylist", false},
		{"allowlist", func(p *policy.Profile) { p.Guard.ToolAllowlist = list("builtin/record_decision", "builtin/write") }, 0, "allowlist", true},
		{"empty allowlist", func(p *policy.Profile) { p.Guard.ToolAllowlist = list() }, 4, "allowlist", true},
		{"call limit", func(p *policy.Profile) { p.Guard.MaxToolCallsPerStep = limit(2) }, 1, "limit is 2", false},
		{"writes", func(p *policy.Profile) { p.Guard.RequireApprovalForWrites = true }, 2, "writes need approval", false},
		{"apply", func(p *policy.Profile) { p.Guard.RequireApprovalForApply = true }, 0, "apply needs approval", true},
		{"every step", func(p *policy.Profile) { p.Safety.RequireHumanApproval = true }, 6, "asks before", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tree := t.TempDir()
			w, _ := modelWorld(t, t.TempDir(), tree, fixer(t), task(good()))
			p := w.start("ci")
			w.setPlan(p.ID, func(p *plan.Plan) { tt.change(&p.Profile) })
			p = w.run(p, "")
			asks := 0
			for ; p.State == plan.Waiting && w.open(p).Subject != "apply" && asks < 10; asks++ {
				a := w.open(p)
				contains(t, "the question", a.Summary, tt.why)
				p = w.answer(p, true, "")
			}
			if asks != tt.asks {
				t.Errorf("%d questions, want %d", asks, tt.asks)
			}
			if got := files(t, tree); len(got) > 0 && tt.gate {
				t.Errorf("%v was applied without a word", got)
			}
			if gate := p.State == plan.Waiting; gate != tt.gate {
				t.Fatalf("the plan is %s: %s", p.Status, p.Reason)
			}
			if tt.gate {
				p = w.answer(p, true, "")
			}
			w.status(p, plan.Applied)
			p = w.start("ci")
			w.setPlan(p.ID, func(p *plan.Plan) { tt.change(&p.Profile); p.NoInput = true })
			if p = w.run(p, ""); tt.asks > 0 || tt.gate {
				for _, c := range w.records(p.ID).toolCalls {
					if c.Status == tool.OK && c.Tool == "builtin/write" && tt.why == "denylist" {
						t.Errorf("%s ran", c.Tool)
					}
				}
				if p.State == plan.Applied && tt.gate {
					t.Errorf("the plan is applied and nobody was asked")
				}
			}
		})
	}
}

func TestRejectedToolCallIsNotRun(t *testing.T) {
	tree := t.TempDir()
	w, wr := modelWorld(t, t.TempDir(), tree, builder(t, func(turn int, r scripted.Request) scripted.Reply {
		if turn == 0 {
			return calls(record, choose("how", ""), "builtin__write", `{"path":"a.txt","content":"a\n"}`, "builtin__write", `{"path":"b.txt","content":"b\n"}`)
		}
		return scripted.Reply{Text: "Done."}
	}), task())
	p := w.start("auto")
	w.setPlan(p.ID, func(p *plan.Plan) { p.Profile.Guard.RequireApprovalForWrites = true })
	p = w.run(p, "")
	contains(t, "the question", w.open(p).Summary, "a.txt")
	p = w.answer(p, false, "Leave a.txt alone.")
	contains(t, "the question", w.open(p).Summary, "b.txt")
	p = w.answer(p, true, "")
	w.status(p, plan.Waiting)
	contains(t, "the actor's request", wr.last(), "a person rejected this and says: Leave a.txt alone.")
	p = w.answer(p, true, "")
	w.status(p, plan.Applied)
	if diff := cmp.Diff(map[string]string{"b.txt": "b\n"}, files(t, tree)); diff != "" {
		t.Errorf("applied:\n%s", diff)
	}
}

// A validation that failed for good is looked at again by a resume: its cause
// may be gone.
func TestFailedValidationCanBeResumed(t *testing.T) {
	dir := t.TempDir()
	w, wr := modelWorld(t, t.TempDir(), t.TempDir(), builder(t, func(turn int, r scripted.Request) scripted.Reply {
		return scripted.Reply{Text: "There is nothing to do."}
	}), task(validated("test -e '"+dir+"/there'")))
	p := w.run(w.start("ci"), "")
	w.status(p, plan.Errored)
	contains(t, "the reason", p.Reason, "required validation check")
	n := wr.count()
	p = w.run(p, "")
	w.status(p, plan.Errored)
	if wr.count() != n+1 {
		t.Errorf("%d calls after the resume, want one more round of fixing", wr.count()-n)
	}
	write(t, dir, map[string]string{"there": ""})
	p = w.run(p, "")
	w.status(p, plan.Applied)
}
