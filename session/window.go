package session

import (
	"fmt"
	"slices"

	"github.com/cleveragents/agents/actor"
)

// Budget is how many bytes of what was said before the next question sees.
const Budget = 32 << 10

// leastCut is how little of a message is worth showing.
const leastCut = 1 << 10

// slot is what the pieces of a conversation are for.
const slot = "message"

// Window is the conversation as the next plan sees it: the newest messages that
// fit into budget bytes, oldest first. Of one that does not fit whole the
// beginning is taken when that is worth it. What is left out is said in a line
// of its own. Every message is a piece with the number that it has in the
// session. Ms are the newest messages, in order; what was before them is known
// by the first number and counts as left out.
func Window(ms []Message, budget int) []actor.Message {
	var out []actor.Message
	left := budget
	first := 0 // the oldest that is shown; 0 is none
	for _, m := range slices.Backward(ms) {
		text, origin := m.Text, originOf(m)
		pieces := []actor.Piece{{Slot: slot, Origin: origin, Reason: reasonOf(m), Text: text}}
		if len(text) > left {
			if left < leastCut {
				break
			}
			pieces[0].Text = cut(text, left)
			pieces = append(pieces, actor.Piece{
				Slot: slot, Origin: origin, Reason: "told what is left out",
				Text: fmt.Sprintf("\n[the other %d bytes of this message are left out]", len(text)-len(pieces[0].Text)),
			})
		}
		out = append(out, actor.Message{Role: m.Role, Pieces: pieces})
		first = m.N
		if left -= len(text); left <= 0 {
			break
		}
	}
	slices.Reverse(out)
	if len(ms) == 0 {
		return nil
	}
	lost := ms[len(ms)-1].N
	if first > 0 {
		lost = first - 1
	}
	if lost == 0 {
		return out
	}
	marker := actor.Piece{
		Slot: slot, Origin: fmt.Sprintf("session:%s#1-%d", ms[0].Session, lost), Reason: "told what is left out",
		Text: fmt.Sprintf("[%s of this conversation left out]\n", earlier(lost)),
	}
	if len(out) > 0 && out[0].Role == actor.User {
		out[0].Pieces = slices.Insert(out[0].Pieces, 0, marker)
		return out
	}
	// A conversation begins with the person, whatever is left of it.
	return slices.Insert(out, 0, actor.Message{Role: actor.User, Pieces: []actor.Piece{marker}})
}

func originOf(m Message) string { return fmt.Sprintf("session:%s#%d", m.Session, m.N) }

func reasonOf(m Message) string {
	switch {
	case m.Imported:
		return "said elsewhere, imported"
	case m.Role == actor.Assistant:
		return "answered by plan " + string(m.Plan)
	}
	return "said by the person to plan " + string(m.Plan)
}

func earlier(n int) string {
	if n == 1 {
		return "1 earlier message"
	}
	return fmt.Sprintf("%d earlier messages", n)
}
