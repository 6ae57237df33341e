package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cleveragents/agents/decode"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/policy"
	"github.com/cleveragents/agents/tool"
)

// An actor asks a person with a tool that the engine executes. The call is
// recorded as waiting together with the question; the answer is left in the
// approval, and the next step takes it from there: the call's result, a
// decision of the person's and the spent answer are one transaction. A crash
// at any point finds the question, the answer or the result, and asks once.

// Ask is the tool with which an actor asks a person.
const Ask = "builtin/ask"

// The bounds of a question: bytes of it, how many choices, bytes of each.
const (
	MaxQuestion = 4 << 10
	MaxChoices  = 20
	MaxChoice   = 512
)

// questionArgs is what the tool takes; package builtin holds the schema.
type questionArgs struct {
	Question string   `json:"question"`
	Choices  []string `json:"choices"`
}

// decideAlone is what an actor is told that cannot ask.
const decideAlone = "Decide by yourself from what you can read, and record the decision with the record_decision tool; " +
	"say in its rationale what you would have asked."

// question reads and checks the arguments. Errors are for the caller, who may
// try again.
func question(args []byte) (q questionArgs, err error) {
	if err := decode.JSON("arguments", args, &q); err != nil {
		return q, err
	}
	switch {
	case strings.TrimSpace(q.Question) == "":
		return q, fault.New(fault.Invalid, "the question says nothing")
	case len(q.Question) > MaxQuestion:
		return q, fault.New(fault.Invalid, "the question has %d bytes, at most %d", len(q.Question), MaxQuestion)
	case len(q.Choices) > MaxChoices:
		return q, fault.New(fault.Invalid, "%d choices, at most %d", len(q.Choices), MaxChoices)
	}
	for i, c := range q.Choices {
		switch {
		case strings.TrimSpace(c) == "":
			return q, fault.New(fault.Invalid, "choice %d says nothing", i+1)
		case len(c) > MaxChoice:
			return q, fault.New(fault.Invalid, "choice %d has %d bytes, at most %d", i+1, len(c), MaxChoice)
		case slices.Index(q.Choices, c) < i:
			return q, fault.New(fault.Invalid, "choice %d is there twice", i+1)
		}
	}
	return q, nil
}

// permitQuestion says whether the question may be brought to a person. To ask
// is not a step that a person has to allow; what a guard holds back is refused,
// because to ask whether one may ask helps nobody. An answer that is there
// counts whatever the guard says by now.
func (r *run) permitQuestion(ctx context.Context, t evidence.ToolCall, args []byte) (verdict, error) {
	no := func(format string, a ...any) (verdict, error) {
		return verdict{refuse: "error: " + fmt.Sprintf(format, a...), status: tool.Refused, useless: true}, nil
	}
	q, err := question(args)
	if err != nil {
		return no("%v", err)
	}
	granted, err := r.grant(ctx, plan.ApproveQuestion, string(t.ID), digest(t.Tool, string(args)))
	if err != nil {
		return verdict{}, err
	}
	if granted != nil {
		return verdict{granted: granted}, nil
	}
	if r.p.NoInput || r.p.Profile.Name == unattended {
		return no("nobody can be asked. %s", decideAlone)
	}
	calls := slices.DeleteFunc(r.phaseToolCalls(), func(old evidence.ToolCall) bool { return old.ID == t.ID })
	if g := r.p.Profile.Guard.Check(policy.GuardInput{Tool: t.Tool, Cost: r.cost(), Calls: len(calls)}); !g.Allowed {
		return no("not allowed: %s. %s", g.Reason, decideAlone)
	}
	return verdict{ask: q.Question}, nil
}

// unattended is the profile of runs that nobody watches, with input or without.
const unattended = "ci"

// askQuestion makes the plan wait for a person's answer.
func (r *run) askQuestion(ctx context.Context, t evidence.ToolCall, args []byte, stored bool) error {
	q, err := question(args)
	if err != nil {
		return err
	}
	t.Status = tool.Waiting
	err = r.ask(ctx, plan.Approval{
		Kind: plan.ApproveQuestion, Subject: string(t.ID), Bound: digest(t.Tool, string(args)),
		Summary:  clip(strings.Join(strings.Fields(q.Question), " "), 300),
		Question: q.Question, Choices: q.Choices,
	}, func(tx Tx) error {
		if stored {
			return tx.UpdateToolCall(t)
		}
		return tx.InsertToolCall(t)
	})
	if err == nil {
		r.setToolCall(t)
	}
	return err
}

// hearAnswer gives the actor what the person answered.
func (r *run) hearAnswer(ctx context.Context, t evidence.ToolCall, args []byte, stored bool, a *plan.Approval) (err error) {
	if a == nil {
		return fault.New(fault.Corrupt, "tool call %s asks a person and has no answer", t.ID)
	}
	d, err := r.intervention(ctx, a.Question, a.Answer)
	if err != nil {
		return err
	}
	d.Rationale = "answered by a person"
	d.Call, d.ToolCall = t.Call, t.ID
	for i, c := range a.Choices {
		if i+1 != a.Choice {
			d.Alternatives = append(d.Alternatives, plan.Option{Option: c, Why: "not chosen"})
		}
	}
	if t.Executed, err = r.put(ctx, args); err != nil {
		return err
	}
	if t.Output, err = r.put(ctx, []byte(a.Answer)); err != nil {
		return err
	}
	t.Status, t.Finished = tool.OK, r.finished()
	next := r.p
	next.Repairs = 0
	return r.commitToolCall(ctx, next, t, stored, func(tx Tx) error {
		if err := spend(tx, a); err != nil {
			return err
		}
		return r.insertDecision(tx, &d, nil)
	}, r.toolEvent(t, a.Answer), r.decisionEvent(&d))
}

// Answer records a person's answer to a question of an actor's: one of its
// choices by number, from 1, or with 0 words of their own. The plan goes on with
// its next run. One that was answered already is fault.Conflict.
func (e *Engine) Answer(ctx context.Context, id ident.ApprovalID, choice int, words string) (plan.Approval, error) {
	var a plan.Approval
	switch {
	case choice == 0 && strings.TrimSpace(words) == "":
		return a, fault.New(fault.Invalid, "the answer says nothing")
	case choice != 0 && words != "":
		return a, fault.New(fault.Invalid, "an answer is either a choice or words")
	case !utf8.ValidString(words):
		return a, fault.New(fault.Invalid, "the answer is not UTF-8")
	case len(words) > MaxPrompt:
		return a, fault.New(fault.Invalid, "the answer has %d bytes, at most %d", len(words), MaxPrompt)
	}
	err := e.Store.Update(ctx, func(tx Tx) (err error) {
		if a, err = tx.Approval(id); err != nil {
			return err
		}
		switch {
		case a.Kind != plan.ApproveQuestion:
			return fault.New(fault.Invalid, "approval %s is about a %s and asks for a yes or a no", id, a.Kind).
				WithHint("%s", AnswerCommand(a))
		case a.State != plan.Open:
			return fault.New(fault.Conflict, "question %s is already %s", id, a.State)
		case choice < 0 || choice > len(a.Choices):
			return fault.New(fault.Invalid, "question %s has %d choices, and no choice %d", id, len(a.Choices), choice).
				WithHint("agents approval show %s", id)
		}
		now := e.Now()
		a.State, a.Decided, a.Choice, a.Answer = plan.Answered, &now, choice, words
		if choice > 0 {
			a.Answer = a.Choices[choice-1]
		}
		if err := tx.UpdateApproval(a); err != nil {
			return err
		}
		ev := e.event(a.Plan, "approval.decided", fields{"id": a.ID, "state": a.State, "kind": a.Kind})
		return tx.AppendEvent(&ev)
	})
	return a, err
}

// OnlyAnswered is the fault of a yes or a no to a question, nil for what can be
// said yes or no to.
func OnlyAnswered(a plan.Approval) error {
	if a.Kind != plan.ApproveQuestion {
		return nil
	}
	return fault.New(fault.Invalid, "approval %s is a question and takes neither a yes nor a no", a.ID).
		WithHint("%s", AnswerCommand(a))
}

// AnswerCommand is the command line with which a person answers the approval.
func AnswerCommand(a plan.Approval) string {
	switch {
	case a.Kind != plan.ApproveQuestion:
		return "agents approval approve " + string(a.ID)
	case len(a.Choices) > 0:
		return "agents approval answer " + string(a.ID) + " --choose 1"
	}
	return "agents approval answer " + string(a.ID) + " --text 'your answer'"
}
