package prompt_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/prompt"
	"github.com/cleveragents/agents/tool"
)

func text(role actor.Role, slot, s string) actor.Message {
	return actor.Message{Role: role, Pieces: []actor.Piece{{Slot: slot, Text: s}}}
}

// result is one of so many bytes, named by its turn and place.
func result(turn, i, bytes int) prompt.Result {
	name := fmt.Sprintf("%d.%d", turn, i)
	m := text(actor.ToolRole, "tool_result", "whole "+name+" "+strings.Repeat("x", bytes))
	m.ToolCallID, m.Pieces[0].Origin = name, "tool_call:"+name
	return prompt.Result{Message: m, Marker: "marker " + name + " is read again with its hash"}
}

func turn(number, answer int, results ...int) *prompt.Turn {
	t := prompt.Turn{Number: number, Answer: text(actor.Assistant, "message", strings.Repeat("a", answer))}
	for i, n := range results {
		t.Answer.ToolCalls = append(t.Answer.ToolCalls, actor.ToolCall{ID: fmt.Sprintf("%d.%d", number, i), Name: "t", Arguments: "{}"})
		t.Results = append(t.Results, result(number, i, n))
		t.Note += fmt.Sprintf("turn %d: call %d\n", number, i)
	}
	return prompt.NewTurn(t)
}

func conversation(turns ...*prompt.Turn) *prompt.Conversation {
	return &prompt.Conversation{Head: 1000, Turns: turns, After: make([][]prompt.Said, len(turns))}
}

// messages is all that a prompt has after its head.
func messages(c *prompt.Conversation, l prompt.Layout, budget int) (out []actor.Message) {
	if m, ok := c.Marker(l, budget); ok {
		out = append(out, m)
	}
	for i := range c.Turns {
		out = append(out, c.Messages(l, i)...)
		out = append(out, c.Said(l, i)...)
	}
	return out
}

func has(ms []actor.Message, s string) bool {
	for _, m := range ms {
		if strings.Contains(m.Text(), s) {
			return true
		}
	}
	return false
}

func TestTokens(t *testing.T) {
	for bytes, want := range map[int]int{0: 0, 1: 1, 40: 11, 4000: 1100} {
		if got := prompt.Tokens(bytes); got != want {
			t.Errorf("%d bytes are %d tokens, want %d", bytes, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 1<<30).Draw(t, "tokens")
		if b := prompt.Bytes(n); prompt.Tokens(b) > n || prompt.Tokens(b+4) <= n {
			t.Errorf("%d tokens are %d bytes", n, b)
		}
	})
}

func TestWeigh(t *testing.T) {
	base := prompt.Weigh(actor.Message{})
	for name, m := range map[string]actor.Message{
		"text": text(actor.User, "", "1234567890"), "thinking": {Thinking: "1234567890"}, "sealed": {Sealed: []byte("1234567890")},
		"id": {ToolCallID: "1234567890"}, "call": {ToolCalls: []actor.ToolCall{{ID: "12", Name: "345", Arguments: "67890"}}},
	} {
		if n := prompt.Weigh(m); n < base+10 {
			t.Errorf("%s weighs %d, an empty message %d", name, n, base)
		}
	}
	if n := prompt.WeighTools([]tool.Spec{{Name: "1", Description: "23", Input: []byte("456")}}); n < 6 {
		t.Errorf("a tool weighs %d", n)
	}
}

func TestNothingIsLeftOutThatFits(t *testing.T) {
	c := conversation(turn(1, 10, 100), turn(2, 10, 100), turn(3, 10))
	l, over := c.Fit(2000)
	if l.Cut() || over != 0 {
		t.Fatalf("layout %+v, over %d", l, over)
	}
	ms := messages(c, l, 2000)
	if len(ms) != 5 || has(ms, "marker") {
		t.Errorf("%d messages: %+v", len(ms), ms)
	}
}

// The oldest results go first and leave their markers; turns go only when that
// is not enough, and leave their lines.
func TestOrder(t *testing.T) {
	t.Run("results", func(t *testing.T) {
		c := conversation(turn(1, 10, 3000), turn(2, 10, 3000), turn(3, 10, 3000))
		l, _ := c.Fit(8000)
		if d := cmp.Diff(prompt.Layout{Results: 2}, l); d != "" {
			t.Fatal(d)
		}
		ms := messages(c, l, 8000)
		for s, want := range map[string]bool{"whole 1.0": false, "whole 2.0": false, "whole 3.0": true, "marker 1.0": true, "marker 2.0": true, "marker 3.0": false} {
			if has(ms, s) != want {
				t.Errorf("%q is there: %v", s, !want)
			}
		}
	})
	t.Run("turns", func(t *testing.T) {
		c := conversation(turn(1, 3000, 1), turn(2, 3000, 1), turn(3, 3000, 1))
		l, _ := c.Fit(8000)
		if l.Turns == 0 || l.Turns == 3 {
			t.Fatalf("layout %+v", l)
		}
		m, ok := c.Marker(l, 8000)
		if !ok || !strings.Contains(m.Text(), "turn 1: call 0\n") || strings.Contains(m.Text(), "turn 3") {
			t.Errorf("marker %+v", m)
		}
	})
}

// A result that no prompt can hold beside what is pinned gives way even in the
// newest turn, the largest first, and stays so.
func TestATurnThatIsTooLarge(t *testing.T) {
	c := conversation(turn(1, 10, 500), turn(2, 10, 400, 9000, 300), turn(3, 10))
	for n := 2; n <= 3; n++ {
		short := &prompt.Conversation{Head: c.Head, Turns: c.Turns[:n], After: c.After[:n]}
		l, over := short.Fit(8000)
		if over != 0 || !cmp.Equal(l.Short, map[int][]int{1: {1}}) || l.Results != 0 {
			t.Errorf("after %d turns: layout %+v, over %d", n, l, over)
		}
	}
}

func TestWhatCannotFit(t *testing.T) {
	c := conversation(turn(1, 10, 100))
	c.Head = 9000
	if _, over := c.Fit(8000); over < 1000 || over > 1500 {
		t.Errorf("over by %d", over)
	}
	none := conversation()
	none.Head = 9000
	if _, over := none.Fit(8000); over != 1000 {
		t.Errorf("over by %d", over)
	}
}

// The lines about turns that are gone are bounded: the oldest are counted.
func TestManyTurns(t *testing.T) {
	var all []*prompt.Turn
	for i := range 400 {
		all = append(all, turn(i+1, 200, 10, 10))
	}
	c := conversation(all...)
	const budget = 16000
	l, over := c.Fit(budget)
	m, _ := c.Marker(l, budget)
	if over != 0 || prompt.Weigh(m) > budget/8 || !strings.Contains(m.Text(), "turns 1 to ") ||
		!strings.Contains(m.Text(), fmt.Sprintf("turn %d: call 1\n", l.Turns)) {
		t.Errorf("layout %+v, over %d: %s", l, over, m.Text())
	}
}

func TestDecisionsStay(t *testing.T) {
	decided := func(n int) *prompt.Turn {
		return prompt.NewTurn(prompt.Turn{
			Number: n, Answer: text(actor.Assistant, "message", strings.Repeat("a", 3000)),
			Decisions: []actor.Piece{{Slot: "decision", Text: fmt.Sprintf("decided %d.", n)}},
		})
	}
	for all, want := range map[bool]string{false: "decided 3.", true: "decided 1.decided 2.decided 3."} {
		c := conversation(decided(1), decided(2), decided(3), turn(4, 3000), turn(5, 3000))
		c.KeepDecisions = all
		l, _ := c.Fit(8000)
		m, _ := c.Marker(l, 8000)
		if l.Turns < 3 || !strings.HasSuffix(m.Text(), want) || !all && strings.Contains(m.Text(), "decided 2.") {
			t.Errorf("all %v: layout %+v: %s", all, l, m.Text())
		}
	}
}

func TestForget(t *testing.T) {
	c := conversation(turn(1, 10, 3000, 5), turn(2, 10, 3000), turn(3, 10, 3000))
	l, _ := c.Fit(8000)
	want := messages(c, l, 8000)
	c.Turns[0].Forget()
	if again, _ := c.Fit(8000); !cmp.Equal(again, l) {
		t.Errorf("layout %+v, was %+v", again, l)
	}
	if d := cmp.Diff(want, messages(c, l, 8000)); d != "" {
		t.Error(d)
	}
	if !c.Turns[0].Forgotten() || c.Turns[0].Results[0].Message.Text() != "" {
		t.Error("the text is still there")
	}
}
