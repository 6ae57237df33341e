package engine

import (
	"context"
	"encoding/json"

	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/prompt"
)

// cutSizes are estimates in tokens: of the prompt, and of the one that would
// have had everything.
type cutSizes struct{ budget, sent, all int }

// size is everything that a prompt could have, in bytes.
func (t *talk) size() int {
	n := t.Head
	for i, one := range t.Turns {
		n += one.Size()
		for _, s := range t.After[i] {
			n += prompt.Weigh(s.Message)
		}
	}
	return n
}

// leftOut lists what the layout leaves out; nil when that is nothing. It says
// nothing that changes while the cut stays where it is, so that the calls in
// between share one record.
func (t *talk) leftOut(l prompt.Layout, tokens int) *evidence.LeftOut {
	if !l.Cut() {
		return nil
	}
	out := &evidence.LeftOut{Budget: tokens, Turns: l.Turns, Drops: []evidence.Drop{}}
	add := func(d evidence.Drop) { out.Drops = append(out.Drops, d) }
	for i, one := range t.turns {
		gone := i < l.Turns
		if !gone && i >= l.Results && len(l.Short[i]) == 0 {
			continue
		}
		if gone {
			add(evidence.Drop{
				Class: evidence.Degraded, Slot: "message", Origin: "call:" + string(one.call.ID), Turn: one.Number, Blob: one.call.Message,
				Size: one.AnswerSize(), Reason: "one of the oldest turns: its calls and decisions are a line each",
			})
		}
		reason := "one of the oldest results"
		if i >= l.Results {
			reason = "too large for the rest of the prompt"
		}
		for _, j := range t.out(l, i) {
			size, _ := one.ResultSize(j)
			out.Results++
			add(evidence.Drop{
				Class: evidence.Dropped, Slot: "tool_result", Origin: "tool_call:" + string(one.rows[j].ID), Turn: one.Number,
				Blob: one.rows[j].Output, Size: size, Reason: reason,
			})
		}
	}
	if n := len(out.Drops) - evidence.MaxDrops; n > 0 {
		out.Drops, out.More = out.Drops[n:], n
	}
	return out
}

// out are the results of a turn that are not in the prompt: all of a turn that
// is gone.
func (t *talk) out(l prompt.Layout, i int) []int {
	if i >= l.Turns {
		return l.Out(&t.Conversation, i)
	}
	all := make([]int, len(t.turns[i].rows))
	for j := range all {
		all[j] = j
	}
	return all
}

// putLeftOut takes the record to be stored; "" for none.
func (r *run) putLeftOut(ctx context.Context, l *evidence.LeftOut) (string, error) {
	if l == nil {
		return "", nil
	}
	b, err := json.Marshal(l)
	if err != nil {
		return "", fault.New(fault.Internal, "encode what is left out: %w", err)
	}
	return r.put(ctx, b)
}
