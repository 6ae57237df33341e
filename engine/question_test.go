package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/llm/scripted"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/policy"
	"github.com/cleveragents/agents/tool"
)

const colours = `{"question":"Which colour?","choices":["red","blue"]}`

// asking asks a person and writes what it got.
func asking(t testing.TB, args string) scripted.Script {
	return builder(t, func(turn int, r scripted.Request) scripted.Reply {
		switch results := r.Results(); {
		case turn == 0:
			return calls(record, choose("how", ""), "builtin__ask", args)
		case turn == 1:
			return call("builtin__write", fmt.Sprintf(`{"path":"a.txt","content":%q}`, results[len(results)-1].Text+"\n"))
		}
		return scripted.Reply{Text: "Done."}
	})
}

func asksWorld(t *testing.T, args, profile string, in engine.UseInput) (*world, plan.Plan, *wire) {
	t.Helper()
	w, wr := graphWorld(t, t.TempDir(), t.TempDir(), asking(t, args), task())
	in.Action, in.Profile = "local/task", profile
	return w, w.run(w.use(in), ""), wr
}

func TestAQuestionWaitsForItsAnswer(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	w, p, wr := asksWorld(t, colours, "auto", engine.UseInput{})
	w.status(p, plan.Waiting)
	a := w.open(p)
	got := []any{a.Kind, a.Question, a.Choices, a.Summary, p.Reason}
	if d := cmp.Diff([]any{plan.ApproveQuestion, "Which colour?", []string{"red", "blue"}, "Which colour?", "Which colour?"}, got); d != "" {
		t.Error(d)
	}
	n := wr.count()
	if p = w.run(p, ""); p.State != plan.Waiting || w.open(p).ID != a.ID || wr.count() != n {
		t.Errorf("a run without an answer went to %s", p.Status)
	}
	for _, yes := range []bool{true, false} {
		_, err := w.Decide(ctx, a.ID, yes, "")
		if !fault.Is(err, fault.Invalid) || fault.As(err).Hint != "agents approval answer "+string(a.ID)+" --choose 1" {
			t.Errorf("a yes or no to a question: %v (%s)", err, fault.As(err).Hint)
		}
	}
	for name, bad := range map[string]struct {
		choice int
		words  string
	}{
		"nothing": {0, " "}, "both": {1, "x"}, "not there": {3, ""}, "below": {-1, ""},
		"not UTF-8": {0, "\xff"}, "long": {0, strings.Repeat("x", engine.MaxPrompt+1)},
	} {
		if _, err := w.Answer(ctx, a.ID, bad.choice, bad.words); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := w.Answer(ctx, a.ID, 2, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Answer(ctx, a.ID, 1, ""); !fault.Is(err, fault.Conflict) {
		t.Errorf("a second answer: %v", err)
	}
	p = w.run(p, "")
	if w.status(p, plan.Waiting); w.open(p).Kind != plan.ApproveGate {
		t.Errorf("it waits for a %s", w.open(p).Kind)
	}
	r := w.records(p.ID)
	d := r.decisions[len(r.decisions)-1]
	said := []any{d.Type, d.Question, d.Chosen, d.Alternatives}
	if diff := cmp.Diff([]any{plan.UserIntervention, "Which colour?", "blue", []plan.Option{{Option: "red", Why: "not chosen"}}}, said); diff != "" {
		t.Error(diff)
	}
	for _, c := range r.toolCalls {
		if c.Tool == engine.Ask && (c.ID != d.ToolCall || c.Status != tool.OK || string(w.blob(c.Output)) != "blue") {
			t.Errorf("the call ended %s with %s", c.Status, w.blob(c.Output))
		}
	}
	for _, x := range r.approvals {
		if x.ID == a.ID && x.State != plan.Used {
			t.Errorf("the answer is %s, and was used", x.State)
		}
	}
}

func TestAnAnswerInWords(t *testing.T) {
	t.Parallel()
	w, p, _ := asksWorld(t, `{"question":"Which\n colour?"}`, "auto", engine.UseInput{})
	a := w.open(p)
	if a.Summary != "Which colour?" || !strings.HasSuffix(engine.AnswerCommand(a), "--text 'your answer'") {
		t.Errorf("got %q, %q", a.Summary, engine.AnswerCommand(a))
	}
	if _, err := w.Answer(context.Background(), a.ID, 0, "green"); err != nil {
		t.Fatal(err)
	}
	p = w.run(p, "")
	w.status(w.run(p, plan.PhaseApply), plan.Applied)
	if got := read(t, w.tree, "a.txt"); got != "green\n" {
		t.Errorf("it wrote %q", got)
	}
}

// A question that cannot be asked is refused in words that say how to go on.
func TestWhoCannotAskIsToldToDecide(t *testing.T) {
	t.Parallel()
	alone := []string{"nobody can be asked", "Decide by yourself", "record_decision"}
	for name, c := range map[string]struct {
		args, profile string
		in            engine.UseInput
		deny          bool
		want          []string
	}{
		"no input":    {colours, "auto", engine.UseInput{NoInput: true}, false, alone},
		"ci":          {colours, "ci", engine.UseInput{}, false, alone},
		"denied":      {colours, "auto", engine.UseInput{}, true, []string{"denylist", "Decide by yourself"}},
		"long":        {`{"question":"` + strings.Repeat("x", engine.MaxQuestion+1) + `"}`, "auto", engine.UseInput{}, false, []string{"4097 bytes"}},
		"blank":       {`{"question":" "}`, "auto", engine.UseInput{}, false, []string{"says nothing"}},
		"many":        {`{"question":"x","choices":["` + strings.Repeat(`a","`, engine.MaxChoices) + `a"]}`, "auto", engine.UseInput{}, false, []string{"schema"}},
		"twice":       {`{"question":"x","choices":["a","a"]}`, "auto", engine.UseInput{}, false, []string{"there twice"}},
		"long choice": {`{"question":"x","choices":["` + strings.Repeat("a", engine.MaxChoice+1) + `"]}`, "auto", engine.UseInput{}, false, []string{"513 bytes"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := graphWorld(t, t.TempDir(), t.TempDir(), asking(t, c.args), task())
			c.in.Action, c.in.Profile = "local/task", c.profile
			p := w.use(c.in)
			if c.deny {
				w.setPlan(p.ID, func(p *plan.Plan) {
					p.Profile.Guard = policy.Guard{ToolDenylist: &[]string{engine.Ask}}
				})
			}
			p = w.run(p, "")
			for _, call := range w.records(p.ID).toolCalls {
				if call.Tool == engine.Ask {
					if call.Status != tool.Refused {
						t.Errorf("the call is %s", call.Status)
					}
					contains(t, "the refusal", string(w.blob(call.Output)), c.want...)
				}
			}
			for _, a := range w.records(p.ID).approvals {
				if a.Kind == plan.ApproveQuestion {
					t.Error("a person was asked")
				}
			}
		})
	}
}

func TestAnAnswerToWhatIsNoQuestion(t *testing.T) {
	t.Parallel()
	w, p, _ := asksWorld(t, colours, "manual", engine.UseInput{})
	a := w.open(p)
	_, err := w.Answer(context.Background(), a.ID, 0, "yes")
	if !fault.Is(err, fault.Invalid) || fault.As(err).Hint != "agents approval approve "+string(a.ID) {
		t.Errorf("%v (%s)", err, fault.As(err).Hint)
	}
}

func TestACancelledPlanTakesNoAnswer(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	w, p, _ := asksWorld(t, colours, "auto", engine.UseInput{})
	a := w.open(p)
	must(t, w.Cancel(ctx, p.ID, "", false))
	if _, err := w.Answer(ctx, a.ID, 1, ""); !fault.Is(err, fault.Conflict) {
		t.Errorf("got %v", err)
	}
}
