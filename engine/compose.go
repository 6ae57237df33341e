package engine

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
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

// compose builds the request of the next model call from the records alone, so
// that a run that starts again composes the same one. Key is the hash of all
// that it is composed of.
func (r *run) compose(ctx context.Context) (req actor.Request, key string, err error) {
	w := r.worker()
	req = actor.Request{
		Provider: w.Provider, Model: w.Name, Temperature: w.Temperature, MaxTokens: w.MaxTokens,
		Messages: []actor.Message{{Role: actor.System, Pieces: r.systemPieces(w)}},
		Tools:    r.offered(w.Tools),
	}
	user, err := r.userPieces(ctx)
	if err != nil {
		return actor.Request{}, "", err
	}
	k := newRequestKey(req)
	add := func(ms ...actor.Message) {
		req.Messages = append(req.Messages, ms...)
		for _, m := range ms {
			k.message(m)
		}
	}
	k.message(req.Messages[0])
	add(actor.Message{Role: actor.User, Pieces: user})
	inputs := r.inputs()
	before := func(turn int) {
		for len(inputs) > 0 && inputs[0].After < turn {
			add(inputMessage(inputs[0]))
			inputs = inputs[1:]
		}
	}
	for _, c := range r.calls {
		if !r.isWorkers(c.Phase, c.Attempt, c.Node) {
			continue
		}
		before(c.Turn)
		if c.Answered() {
			t, err := r.turn(ctx, c)
			if err != nil {
				return actor.Request{}, "", err
			}
			req.Messages = append(req.Messages, t.messages...)
			k.sum(t.key)
		}
	}
	before(math.MaxInt)
	return req, k.String(), nil
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
	ps := []actor.Piece{
		{Slot: "action", Origin: "action:" + a.Name + "#description", Reason: "the task", Text: "Task: " + a.Description + "\n"},
		{Slot: "action", Origin: "action:" + a.Name + "#definition_of_done", Reason: "the task", Text: "Done means: " + a.DefinitionOfDone + "\n"},
	}
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

// turn is what one answered call added to the conversation, made once: when the
// next request is composed all its tool calls are done, and it stays as it is.
type turn struct {
	messages []actor.Message
	key      [sha256.Size]byte
}

func (r *run) turn(ctx context.Context, c evidence.Call) (turn, error) {
	if t, ok := r.turns[c.ID]; ok {
		return t, nil
	}
	ms, err := r.turnMessages(ctx, c)
	if err != nil {
		return turn{}, err
	}
	k := requestKey{sha256.New()}
	for _, m := range ms {
		k.message(m)
	}
	t := turn{messages: ms, key: [sha256.Size]byte(k.Sum(nil))}
	if r.turns == nil {
		r.turns = map[ident.CallID]turn{}
	}
	r.turns[c.ID] = t
	return t, nil
}

// turnMessages are the model's answer of one turn and the results it was given.
func (r *run) turnMessages(ctx context.Context, c evidence.Call) ([]actor.Message, error) {
	resp, err := r.response(ctx, c)
	if err != nil {
		return nil, err
	}
	m := resp.Message
	m.ToolCalls = slices.Clone(m.ToolCalls)
	for i, t := range m.ToolCalls {
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(t.Arguments), &object) != nil || object == nil {
			// A provider refuses a history whose arguments are not an object; what
			// the model wrote is in the record and is quoted in the result.
			m.ToolCalls[i].Arguments = "{}"
		}
	}
	out := []actor.Message{m}
	for i, t := range m.ToolCalls {
		row, ok := r.toolCallAt(c.Turn, i)
		if !ok {
			return nil, fault.New(fault.Internal, "turn %d: tool call %d has no record", c.Turn, i)
		}
		text, err := r.blob(ctx, row.Output)
		if err != nil {
			return nil, err
		}
		out = append(out, actor.Message{
			Role: actor.ToolRole, ToolCallID: t.ID, IsError: row.Status != tool.OK,
			Pieces: []actor.Piece{{Slot: "tool_result", Origin: "tool_call:" + string(row.ID), Reason: "asked for by call " + string(c.ID), Text: string(text)}},
		})
	}
	return out, nil
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
