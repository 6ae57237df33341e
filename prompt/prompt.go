// Package prompt fits a conversation with a model into a budget.
//
// Some of a conversation is pinned: what stands before it (the head), what a
// person said, the decisions, and the newest turn. The rest gives way from its
// oldest end: first the results of tools, each to a marker that says how to see
// it again, then whole turns, all to one message with a line for each call. A
// call and its result stay or go together.
//
// Where the cut is follows from the sizes alone (Fit): the conversation is gone
// through from its beginning, and whenever it has outgrown the budget the cut
// moves on until a good part of the room is free again. So the same records
// give the same prompt in any process, the cut only ever moves forward, and
// between two moves each prompt begins like the one before, which is what a
// provider's cache lives on.
//
// Sizes are estimates: a token is taken for 3.6 bytes. It does not promise that
// a provider counts the same.
package prompt

import (
	"fmt"
	"strings"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/tool"
)

// frame is what a message or a call takes besides its texts, in bytes.
const frame = 16

// Tokens estimates how many tokens so many bytes are: a quarter, and a tenth more.
func Tokens(bytes int) int { return (bytes*11 + 39) / 40 }

// Bytes is the most bytes that are estimated at so many tokens.
func Bytes(tokens int) int { return tokens * 40 / 11 }

// Weigh is the size of the messages in bytes.
func Weigh(ms ...actor.Message) (n int) {
	for _, m := range ms {
		n += frame + len(m.Thinking) + len(m.Sealed) + len(m.ToolCallID)
		for _, p := range m.Pieces {
			n += len(p.Text)
		}
		for _, c := range m.ToolCalls {
			n += frame + len(c.ID) + len(c.Name) + len(c.Arguments)
		}
	}
	return n
}

// WeighTools is the size of what a request says of its tools, in bytes.
func WeighTools(all []tool.Spec) (n int) {
	for _, s := range all {
		n += frame + len(s.Name) + len(s.Description) + len(s.Input)
	}
	return n
}

// Result is what a tool gave back. Marker stands in its place when it is left
// out; a result that is no larger than its marker never is.
type Result struct {
	Message actor.Message
	Marker  string
}

// Said is something that was said to the model after a turn. What is loose goes
// with its turn; anything else is pinned.
type Said struct {
	Message actor.Message
	Loose   bool
}

// Turn is one answer of the model with the results of its calls. Use NewTurn.
type Turn struct {
	Number    int
	Answer    actor.Message
	Results   []Result
	Decisions []actor.Piece // recorded in this turn, in full
	Note      string        // lines that stand for the turn when it is gone

	answer    int
	results   []int // whole
	markers   []int // the smaller of marker and whole
	decisions []int
	forgotten bool
}

// NewTurn weighs a turn.
func NewTurn(t Turn) *Turn {
	t.answer = Weigh(t.Answer)
	for _, r := range t.Results {
		whole := Weigh(r.Message)
		t.results = append(t.results, whole)
		t.markers = append(t.markers, min(whole, Weigh(marked(r))))
	}
	for _, d := range t.Decisions {
		t.decisions = append(t.decisions, len(d.Text))
	}
	return &t
}

// Size is the whole turn in bytes.
func (t *Turn) Size() int { return t.answer + sum(t.results) }

// AnswerSize is the answer with its calls in bytes.
func (t *Turn) AnswerSize() int { return t.answer }

// ResultSize is one result in bytes, and whether it can be left out.
func (t *Turn) ResultSize(i int) (n int, replaceable bool) {
	return t.results[i], t.markers[i] < t.results[i]
}

// Forget lets go of the texts of results, whose sizes stay known: a turn of
// which only markers are shown needs them no more.
func (t *Turn) Forget() {
	for i := range t.Results {
		if _, ok := t.ResultSize(i); ok {
			m := &t.Results[i].Message
			p := actor.Piece{}
			if len(m.Pieces) > 0 {
				p = m.Pieces[0]
			}
			p.Text = ""
			m.Pieces = []actor.Piece{p} // a new list: prompts share the old one
		}
	}
	t.forgotten = true
}

// Forgotten reports whether Forget was called.
func (t *Turn) Forgotten() bool { return t.forgotten }

func marked(r Result) actor.Message {
	m := r.Message
	p := actor.Piece{Slot: "tool_result", Reason: "in place of a result that is left out", Text: r.Marker}
	if len(m.Pieces) > 0 {
		p.Origin = m.Pieces[0].Origin
	}
	m.Pieces = []actor.Piece{p}
	return m
}

// Conversation is all of a conversation, whatever fits.
type Conversation struct {
	Head  int // bytes of what stands before it and beside it
	Turns []*Turn
	After [][]Said // what was said after each turn
	// KeepDecisions pins the decisions of every turn; else that of the last one
	// that is gone.
	KeepDecisions bool
}

// Layout says what of a conversation a prompt has: the first Turns are gone, the
// results of those before Results are markers, and so are the results in Short,
// by turn, which are too large for any prompt.
type Layout struct {
	Turns   int
	Results int
	Short   map[int][]int
}

// Cut reports whether anything is left out.
func (l Layout) Cut() bool { return l.Turns > 0 || l.Results > 0 || len(l.Short) > 0 }

// Out lists the results of the turn that the layout shows as markers.
func (l Layout) Out(c *Conversation, turn int) (out []int) {
	t := c.Turns[turn]
	short := l.Short[turn]
	for i := range t.results {
		if _, ok := t.ResultSize(i); ok && (turn < l.Results || contains(short, i)) {
			out = append(out, i)
		}
	}
	return out
}

// Messages are those of one turn of the conversation as the layout has it,
// without what was said after it. A turn that is gone has none.
func (c *Conversation) Messages(l Layout, turn int) []actor.Message {
	if turn < l.Turns {
		return nil
	}
	t := c.Turns[turn]
	out := l.Out(c, turn)
	ms := []actor.Message{t.Answer}
	for i, r := range t.Results {
		if contains(out, i) {
			ms = append(ms, marked(r))
		} else {
			ms = append(ms, r.Message)
		}
	}
	return ms
}

// Said are the messages after a turn as the layout has them.
func (c *Conversation) Said(l Layout, turn int) (out []actor.Message) {
	for _, s := range c.After[turn] {
		if turn >= l.Turns || !s.Loose {
			out = append(out, s.Message)
		}
	}
	return out
}

const (
	goneHead = "The oldest turns of this conversation are left out to keep it within the size that you can read. What was done in them:\n"
	foldLine = "turns %d to %d: %d calls of tools, not listed\n"
	foldMax  = 96 // bytes that foldLine takes at most
)

// Marker is the message in place of the turns that are gone; false when none is.
func (c *Conversation) Marker(l Layout, budget int) (actor.Message, bool) {
	if l.Turns == 0 {
		return actor.Message{}, false
	}
	from, size := l.Turns, 0
	for from > 0 && size+len(c.Turns[from-1].Note) <= noteMax(budget) {
		from--
		size += len(c.Turns[from].Note)
	}
	var text strings.Builder
	text.WriteString(goneHead)
	if from > 0 {
		calls := 0
		for _, t := range c.Turns[:from] {
			calls += len(t.results)
		}
		fmt.Fprintf(&text, foldLine, c.Turns[0].Number, c.Turns[from-1].Number, calls)
	}
	for _, t := range c.Turns[from:l.Turns] {
		text.WriteString(t.Note)
	}
	m := actor.Message{Role: actor.User, Pieces: []actor.Piece{{
		Slot: "history", Origin: "engine:history", Reason: fmt.Sprintf("in place of %d turns that are left out", l.Turns), Text: text.String(),
	}}}
	if c.KeepDecisions {
		for _, t := range c.Turns[:l.Turns] {
			m.Pieces = append(m.Pieces, t.Decisions...)
		}
		return m, true
	}
	for i := l.Turns - 1; i >= 0; i-- {
		if ds := c.Turns[i].Decisions; len(ds) > 0 {
			m.Pieces = append(m.Pieces, ds[len(ds)-1])
			break
		}
	}
	return m, true
}

// noteMax bounds the lines about turns that are gone.
func noteMax(budget int) int { return budget / 16 }

func contains(all []int, n int) bool {
	for _, m := range all {
		if m == n {
			return true
		}
	}
	return false
}

func sum(all []int) (n int) {
	for _, m := range all {
		n += m
	}
	return n
}
