package engine

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/prompt"
	"github.com/cleveragents/agents/tool"
)

// talk is the whole conversation of the worker, as recorded.
type talk struct {
	prompt.Conversation
	turns []*turn
	first []prompt.Said // what was said before the first turn
}

// turn is what one answered call added to the conversation, made once: when the
// next request is composed all its tool calls are done, and it stays as it is.
type turn struct {
	*prompt.Turn
	call   evidence.Call
	rows   []evidence.ToolCall
	whole  [sha256.Size]byte // key of its messages
	marked *[sha256.Size]byte
}

// conversation reads what was said and done so far.
func (r *run) conversation(ctx context.Context) (t talk, err error) {
	t.KeepDecisions = r.p.Phase == plan.PhaseStrategize
	inputs := r.inputs()
	// What was said before a turn stands after the one before it.
	upTo := func(n int) (out []prompt.Said) {
		for len(inputs) > 0 && (n < 0 || inputs[0].After < n) {
			out = append(out, prompt.Said{Message: inputMessage(inputs[0]), Loose: inputs[0].Slot == "repair"})
			inputs = inputs[1:]
		}
		return out
	}
	add := func(n int) {
		said := upTo(n)
		if last := len(t.After) - 1; last >= 0 {
			t.After[last] = said
		} else {
			t.first = append(t.first, said...)
		}
	}
	for _, c := range r.calls {
		if !c.Answered() || !r.isWorkers(c.Phase, c.Attempt, c.Node) {
			continue
		}
		one, err := r.turn(ctx, c)
		if err != nil {
			return t, err
		}
		add(c.Turn)
		t.turns = append(t.turns, one)
		t.Turns = append(t.Turns, one.Turn)
		t.After = append(t.After, nil)
	}
	add(-1)
	return t, nil
}

func (r *run) turn(ctx context.Context, c evidence.Call) (*turn, error) {
	if t, ok := r.turns[c.ID]; ok {
		return t, nil
	}
	t, err := r.readTurn(ctx, c)
	if err != nil {
		return nil, err
	}
	if r.turns == nil {
		r.turns = map[ident.CallID]*turn{}
	}
	r.turns[c.ID] = t
	return t, nil
}

// readTurn makes a turn of the model's answer and the results it was given.
func (r *run) readTurn(ctx context.Context, c evidence.Call) (*turn, error) {
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
	out := &turn{call: c}
	all := prompt.Turn{Number: c.Turn, Answer: m}
	k := requestKey{sha256.New()}
	k.message(m)
	note := newNote(c.Turn)
	for i, t := range m.ToolCalls {
		row, ok := r.toolCallAt(c.Turn, i)
		if !ok {
			return nil, fault.New(fault.Internal, "turn %d: tool call %d has no record", c.Turn, i)
		}
		text, err := r.blob(ctx, row.Output)
		if err != nil {
			return nil, err
		}
		what, err := r.blob(ctx, row.Proposed)
		if err != nil {
			return nil, err
		}
		result := actor.Message{
			Role: actor.ToolRole, ToolCallID: t.ID, IsError: row.Status != tool.OK,
			Pieces: []actor.Piece{{Slot: "tool_result", Origin: "tool_call:" + string(row.ID), Reason: "asked for by call " + string(c.ID), Text: string(text)}},
		}
		k.message(result)
		all.Results = append(all.Results, prompt.Result{Message: result, Marker: r.resultMarker(row, what, len(text))})
		out.rows = append(out.rows, row)
		if d, ok := r.decisionOf(row.ID); ok && !d.Implicit {
			all.Decisions = append(all.Decisions, actor.Piece{Slot: "decision", Origin: "decision:" + string(d.ID), Reason: "made in a turn that is left out", Text: decisionText(d)})
			note.add("decided %s: %s → %s", d.Type, oneLine(d.Question, 160), oneLine(d.Chosen, 160))
			continue
		}
		note.add("%s %s: %s, %d bytes", oneLine(row.Tool, 80), oneLine(summary(what), 120), row.Status, len(text))
	}
	all.Note = note.text()
	out.Turn, out.whole = prompt.NewTurn(all), [sha256.Size]byte(k.Sum(nil))
	return out, nil
}

// decisionOf is the decision that a tool call recorded, while it holds.
func (r *run) decisionOf(id ident.ToolCallID) (plan.Decision, bool) {
	for _, d := range r.decisions {
		if d.ToolCall == id && d.Superseded == "" {
			return d, true
		}
	}
	return plan.Decision{}, false
}

// shown are the messages of a turn as the layout has them, and their key.
func (r *run) shown(ctx context.Context, t *talk, l prompt.Layout, i int) (ms []actor.Message, key [sha256.Size]byte, err error) {
	one := t.turns[i]
	out := l.Out(&t.Conversation, i)
	if one.Forgotten() && i >= l.Results {
		// What is pinned has become less since it was left out.
		if one, err = r.readTurn(ctx, one.call); err != nil {
			return nil, key, err
		}
		t.turns[i], t.Turns[i], r.turns[one.call.ID] = one, one.Turn, one
	}
	ms = t.Messages(l, i)
	switch {
	case len(out) == 0:
		return ms, one.whole, nil
	case i < l.Results && one.marked != nil:
		return ms, *one.marked, nil
	}
	k := requestKey{sha256.New()}
	for _, m := range ms {
		k.message(m)
	}
	key = [sha256.Size]byte(k.Sum(nil))
	if i < l.Results {
		one.marked = &key
		one.Forget()
	}
	return ms, key, nil
}

// pageTool shows a stored output again.
const pageTool = "builtin/page"

// resultMarker stands for a result that is left out: what it was, how large, and
// how to see it again.
func (r *run) resultMarker(row evidence.ToolCall, args []byte, size int) string {
	hash := row.Output
	if row.Whole != "" {
		hash = row.Whole
	}
	again := "make the call again to see it"
	if slices.ContainsFunc(r.offered(r.worker().Tools), func(s tool.Spec) bool { return s.Name == pageTool }) {
		again = "see it with page, hash=" + hash
	}
	return fmt.Sprintf("[left out to make room: what %s %s gave, %s, %d bytes; %s]",
		oneLine(row.Tool, 80), oneLine(summary(args), 120), row.Status, size, again)
}

// maxNote bounds the calls of one turn that have a line of their own.
const maxNote = 8

// note is the lines that stand for a turn that is left out.
type note struct {
	turn  int
	lines []string
	more  int
}

func newNote(turn int) *note { return &note{turn: turn} }

func (n *note) add(format string, args ...any) {
	if len(n.lines) == maxNote {
		n.more++
		return
	}
	n.lines = append(n.lines, fmt.Sprintf("turn %d: %s\n", n.turn, fmt.Sprintf(format, args...)))
}

func (n *note) text() string {
	switch {
	case len(n.lines) == 0:
		return fmt.Sprintf("turn %d: an answer without calls\n", n.turn)
	case n.more > 0:
		return strings.Join(n.lines, "") + fmt.Sprintf("turn %d: and %d more calls\n", n.turn, n.more)
	}
	return strings.Join(n.lines, "")
}

// oneLine is s without line breaks, at most n bytes of it.
func oneLine(s string, n int) string {
	return strings.Join(strings.Fields(clip(s, n)), " ")
}
