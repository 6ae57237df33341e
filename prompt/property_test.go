package prompt_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/prompt"
)

// drawn is a conversation of any shape, each text with a name of its own.
func drawn(t *rapid.T) *prompt.Conversation {
	c := &prompt.Conversation{Head: rapid.IntRange(0, 5000).Draw(t, "head"), KeepDecisions: rapid.Bool().Draw(t, "keep")}
	size := rapid.OneOf(rapid.IntRange(0, 200), rapid.IntRange(0, 8000))
	for n := range rapid.IntRange(0, 40).Draw(t, "turns") {
		one := prompt.Turn{Number: n + 1, Answer: text(actor.Assistant, "message", fmt.Sprintf("answer %d. ", n)+strings.Repeat("a", size.Draw(t, "answer")))}
		for i := range rapid.IntRange(0, 4).Draw(t, "calls") {
			one.Answer.ToolCalls = append(one.Answer.ToolCalls, actor.ToolCall{ID: fmt.Sprintf("%d.%d", n, i), Name: "t", Arguments: "{}"})
			one.Results = append(one.Results, result(n, i, size.Draw(t, "result")))
			one.Note += fmt.Sprintf("turn %d: call %d\n", n+1, i)
		}
		if rapid.IntRange(0, 4).Draw(t, "decides") == 0 {
			one.Decisions = []actor.Piece{{Slot: "decision", Text: fmt.Sprintf("decided %d. ", n)}}
		}
		c.Turns = append(c.Turns, prompt.NewTurn(one))
		var after []prompt.Said
		for i := range rapid.IntRange(0, 2).Draw(t, "said") {
			loose := rapid.Bool().Draw(t, "loose")
			after = append(after, prompt.Said{Loose: loose, Message: text(actor.User, "prompt", fmt.Sprintf("said %d.%d %v. ", n, i, loose)+strings.Repeat("s", size.Draw(t, "words")/8))})
		}
		c.After = append(c.After, after)
	}
	return c
}

func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawn(t)
		budget := rapid.IntRange(0, 60000).Draw(t, "budget")
		var before prompt.Layout
		for n := range len(c.Turns) + 1 {
			part := &prompt.Conversation{Head: c.Head, Turns: c.Turns[:n], After: c.After[:n], KeepDecisions: c.KeepDecisions}
			l, over := part.Fit(budget)
			checkPrompt(t, part, l, over, budget)
			if l.Turns < before.Turns || l.Results < before.Results {
				t.Fatalf("after %d turns the cut went back from %+v to %+v", n, before, l)
			}
			for turn, out := range before.Short {
				if !cmp.Equal(l.Short[turn], out) {
					t.Fatalf("after %d turns the results %v of turn %d are %v", n, out, turn, l.Short[turn])
				}
			}
			if again, _ := part.Fit(budget); !cmp.Equal(again, l) {
				t.Fatalf("%+v, and then %+v", l, again)
			}
			before = l
		}
	})
}

func checkPrompt(t *rapid.T, c *prompt.Conversation, l prompt.Layout, over, budget int) {
	ms := messages(c, l, budget)
	size := c.Head + prompt.Weigh(ms...)
	if over == 0 && size > budget {
		t.Fatalf("%d bytes in a budget of %d: %+v", size, budget, l)
	}
	whole := c.Head
	for i, turn := range c.Turns {
		whole += turn.Size()
		for _, s := range c.After[i] {
			whole += prompt.Weigh(s.Message)
		}
	}
	if l.Cut() && whole <= budget {
		t.Fatalf("%d bytes fit into %d and were cut: %+v", whole, budget, l)
	}
	pairs(t, ms)
	last := len(c.Turns) - 1
	for i := range c.Turns {
		for j, s := range c.After[i] {
			if !has(ms, fmt.Sprintf("said %d.%d %v.", i, j, s.Loose)) && (!s.Loose || i == last) {
				t.Fatalf("what was said after turn %d is not there: %+v", i, l)
			}
		}
	}
	if last < 0 {
		return
	}
	if !has(ms, fmt.Sprintf("answer %d.", last)) || l.Turns > last || l.Results > last {
		t.Fatalf("the newest answer is not there: %+v", l)
	}
	open := ""
	for i, turn := range c.Turns[:l.Turns] {
		if len(turn.Decisions) > 0 {
			open = fmt.Sprintf("decided %d.", i)
			if c.KeepDecisions && !has(ms, open) {
				t.Fatalf("decision %d is not there: %+v", i, l)
			}
		}
	}
	if open != "" && !has(ms, open) {
		t.Fatalf("the open decision is not there: %+v", l)
	}
}

// pairs looks that each call has its one result right behind it.
func pairs(t *rapid.T, ms []actor.Message) {
	var due []string
	for _, m := range ms {
		if m.Role == actor.ToolRole {
			if len(due) == 0 || due[0] != m.ToolCallID {
				t.Fatalf("the result %s stands where %v are due", m.ToolCallID, due)
			}
			due = due[1:]
			continue
		}
		if len(due) > 0 {
			t.Fatalf("%v have no result", due)
		}
		for _, call := range m.ToolCalls {
			due = append(due, call.ID)
		}
	}
	if len(due) > 0 {
		t.Fatalf("%v have no result", due)
	}
}

// With equal turns, the prompt stays what it was but for its end in most turns.
func TestStability(t *testing.T) {
	var all []*prompt.Turn
	moves, before := 0, prompt.Layout{}
	for i := range 300 {
		all = append(all, turn(i+1, 100, 2000))
		c := conversation(all...)
		l, over := c.Fit(100_000)
		if over > 0 {
			t.Fatalf("over by %d", over)
		}
		if !cmp.Equal(l, before) {
			moves++
		}
		before = l
	}
	if moves == 0 || moves > 300/8 {
		t.Errorf("the cut moved %d times in 300 turns", moves)
	}
}
