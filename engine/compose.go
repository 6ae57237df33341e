package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/prompt"
	"github.com/cleveragents/agents/tool"
)

const strategizePrompt = `You are the strategist of a plan. You may look, you may not change anything.
Read what you need, then record every choice that the work depends on with the record_decision tool: the question, what you chose, the alternatives you weighed and why. Record at least one strategy_choice. When the strategy is complete, answer without calling a tool and sum it up in a few lines.
`

// lookPrompt is executePrompt of an action that changes nothing.
const lookPrompt = `You work on a project that you may look at and not change. Answer what you are asked from what you read there, and say where it stands. When you are done, answer without calling a tool.
`

const executePrompt = `You carry out a plan inside a sandbox: a private copy of the project. Nothing you do reaches the real files before a person or the profile lets the plan be applied.
Follow the decisions below. Before you change something, record an implementation_choice with the record_decision tool. Work with the tools; when the definition of done is met, answer without calling a tool and say what you did.
`

// composed is a request with what it is made of.
type composed struct {
	req  actor.Request
	key  string // hash of all that it is composed of
	left *evidence.LeftOut
	over int      // tokens that are too many and cannot be left out
	why  string   // what takes them
	cut  cutSizes // for the event
}

// compose builds the request of the next model call from the records alone, so
// that a run that starts again composes the same one. Of a conversation that is
// too large for the model, package prompt says what is left out.
func (r *run) compose(ctx context.Context) (out composed, err error) {
	w := r.worker()
	req := &out.req
	*req = actor.Request{
		Provider: w.Provider, Model: w.Name, Temperature: w.Temperature, MaxTokens: w.MaxTokens,
		Messages: []actor.Message{{Role: actor.System, Pieces: r.systemPieces(w)}},
		Tools:    r.offered(w.Tools),
	}
	user, err := r.userPieces(ctx)
	if err != nil {
		return out, err
	}
	before, err := r.saidBefore(ctx)
	if err != nil {
		return out, err
	}
	req.Messages = append(req.Messages, before...)
	req.Messages = append(req.Messages, actor.Message{Role: actor.User, Pieces: user})
	talk, err := r.conversation(ctx)
	if err != nil {
		return out, err
	}
	for _, s := range talk.first {
		req.Messages = append(req.Messages, s.Message)
	}
	talk.Head = prompt.Weigh(req.Messages...) + prompt.WeighTools(req.Tools)
	tokens := r.budget(w)
	budget := prompt.Bytes(tokens)
	l, over := talk.Fit(budget)
	if over > 0 {
		out.over = prompt.Tokens(over)
		out.why = talk.heaviest(*req)
		return out, nil
	}
	if m, ok := talk.Marker(l, budget); ok {
		req.Messages = append(req.Messages, m)
	}
	k := newRequestKey(*req)
	for _, m := range req.Messages {
		k.message(m)
	}
	for i := range talk.turns {
		ms, sum, err := r.shown(ctx, &talk, l, i)
		if err != nil {
			return out, err
		}
		if len(ms) > 0 {
			req.Messages = append(req.Messages, ms...)
			k.sum(sum)
		}
		for _, m := range talk.Said(l, i) {
			req.Messages = append(req.Messages, m)
			k.message(m)
		}
	}
	out.key = k.String()
	out.left = talk.leftOut(l, tokens)
	out.cut = cutSizes{budget: tokens, all: prompt.Tokens(talk.size()), sent: prompt.Tokens(prompt.Weigh(req.Messages...) + prompt.WeighTools(req.Tools))}
	return out, nil
}

func (r *run) systemPieces(w actor.Model) []actor.Piece {
	base := executePrompt
	if r.p.Action.ReadOnly {
		base = lookPrompt
	}
	if r.p.Phase == plan.PhaseStrategize {
		base = strategizePrompt
	}
	ps := []actor.Piece{{Slot: "system", Origin: "engine:" + string(r.p.Phase), Reason: "instructions of the phase", Text: base}}
	if w.Prompt != "" {
		origin := "actor:" + r.actorNow().Name
		if r.p.Node != "" {
			origin += "#" + r.p.Node
		}
		ps = append(ps, actor.Piece{Slot: "system", Origin: origin, Reason: "the actor's own instructions", Text: "\n" + w.Prompt + "\n"})
	}
	for _, d := range r.decisions {
		if d.Type == plan.InvariantEnforced && d.Superseded == "" {
			ps = append(ps, actor.Piece{Slot: "invariant", Origin: "decision:" + string(d.ID), Reason: "holds throughout the plan", Text: "\nThis must hold throughout: " + d.Chosen + "\n"})
		}
	}
	return ps
}

func (r *run) userPieces(ctx context.Context) ([]actor.Piece, error) {
	a := r.p.Action
	ps := r.advicePieces()
	ps = append(ps, []actor.Piece{
		{Slot: "action", Origin: "action:" + a.Name + "#description", Reason: "the task", Text: "Task: " + a.Description + "\n"},
		{Slot: "action", Origin: "action:" + a.Name + "#definition_of_done", Reason: "the task", Text: "Done means: " + a.DefinitionOfDone + "\n"},
	}...)
	if r.p.Prompt != "" {
		ps = append(ps, actor.Piece{Slot: "action", Origin: "plan:" + string(r.p.ID) + "#prompt", Reason: "said by the person at plan use", Text: "In detail: " + r.p.Prompt + "\n"})
	}
	for _, g := range a.Args {
		if v := r.p.Args[g.Name]; v != "" {
			ps = append(ps, actor.Piece{Slot: "action", Origin: "plan:" + string(r.p.ID) + "#args." + g.Name, Reason: "an argument", Text: g.Name + ": " + v + "\n"})
		}
	}
	if r.p.Phase == plan.PhaseExecute {
		for _, d := range r.decisions {
			if d.Phase == plan.PhaseStrategize && d.Superseded == "" && d.Type != plan.PromptDefinition && d.Type != plan.InvariantEnforced {
				ps = append(ps, actor.Piece{Slot: "decision", Origin: "decision:" + string(d.ID), Reason: "made in Strategize", Text: decisionText(d)})
			}
		}
	}
	return ps, nil
}

func decisionText(d plan.Decision) string {
	return fmt.Sprintf("Decision %s (%s): %s → %s. %s\n", short(string(d.ID)), d.Type, d.Question, d.Chosen, d.Rationale)
}

// short is the end of an id, which stands for it within one plan.
func short(id string) string { return id[max(0, len(id)-8):] }

// offered is the tools of the running phase, of those that are listed (nil:
// all); Strategize gets only what reads.
func (r *run) offered(listed *[]string) []tool.Spec {
	var out []tool.Spec
	for _, s := range r.Tools.Specs() {
		if listed != nil && !slices.Contains(*listed, s.Name) && s.Name != RecordDecision {
			continue
		}
		if r.readOnly() && !s.Capability.ReadOnly && s.Name != RecordDecision {
			continue
		}
		if s.Capability.Unsafe && !r.p.Profile.Safety.AllowUnsafeTools {
			continue
		}
		out = append(out, s)
	}
	return out
}

// readOnly reports whether nothing may be written in the running phase.
func (r *run) readOnly() bool {
	return r.p.Phase == plan.PhaseStrategize || r.p.Action.ReadOnly
}

func (r *run) toolCallAt(turn, index int) (evidence.ToolCall, bool) {
	for i := range r.toolCalls {
		t := &r.toolCalls[i]
		if t.Turn == turn && t.Index == index && t.Phase == r.p.Phase && t.Attempt == r.p.Attempt {
			return *t, true
		}
	}
	return evidence.ToolCall{}, false
}

// inputs are what was said to the worker, in order.
func (r *run) inputs() (out []plan.Input) {
	for _, in := range r.p.Inputs {
		if r.isWorkers(in.Phase, in.Attempt, in.Node) {
			out = append(out, in)
		}
	}
	return out
}

func inputMessage(in plan.Input) actor.Message {
	return actor.Message{Role: actor.User, Pieces: []actor.Piece{{
		Slot: in.Slot, Origin: in.Origin, Reason: "said after turn " + fmt.Sprint(in.After), Text: in.Text,
	}}}
}

// response reads the stored answer of a call. What it returns is shared: every
// turn composes the whole conversation, so each answer is decoded once.
func (r *run) response(ctx context.Context, c evidence.Call) (actor.Response, error) {
	if resp, ok := r.answers[c.Message]; ok {
		return resp, nil
	}
	b, err := r.blob(ctx, c.Message)
	if err != nil {
		return actor.Response{}, err
	}
	var resp actor.Response
	if err := json.Unmarshal(b, &resp); err != nil {
		return actor.Response{}, fault.New(fault.Corrupt, "answer of call %s: %w", c.ID, err)
	}
	if r.answers == nil {
		r.answers = map[string]actor.Response{}
	}
	r.answers[c.Message] = resp
	return resp, nil
}

// lastLine is the last line of s that says something.
func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
