package engine

import (
	"context"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

// A message to the actor is left beside the plan, as a wish is, because only
// the process that holds the plan changes its row. The runner takes messages
// between two turns of the actor: each becomes a decision of the person's and
// an input of the conversation, in the order in which they were left, in one
// transaction that takes them out of the queue. A message that comes when the
// phase's work seemed done sends the actor back to it.

// MaxPrompt is the longest message, in bytes.
const MaxPrompt = 64 << 10

// maxMessages bounds how many wait for one plan.
const maxMessages = 32

// message is something that a person says to the actor of a plan.
type message struct {
	ID   string    `json:"id"`
	At   time.Time `json:"at"`
	Text string    `json:"text"`
	Now  bool      `json:"now,omitempty"` // the answer that is being made is not waited for
}

func messageKey(id ident.PlanID) string { return "message/" + string(id) }

// messages are those that wait for the plan, oldest first.
func messages(tx Tx, id ident.PlanID) (out []message, err error) {
	text, err := tx.Setting(messageKey(id))
	if fault.Is(err, fault.NotFound) || err == nil && text == "" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		return nil, fault.New(fault.Corrupt, "messages for plan %s: %w", id, err)
	}
	return out, nil
}

func putMessages(tx Tx, id ident.PlanID, all []message) error {
	if len(all) == 0 {
		return tx.PutSetting(messageKey(id), "")
	}
	b, err := json.Marshal(all)
	if err != nil {
		return fault.New(fault.Internal, "encode messages: %w", err)
	}
	return tx.PutSetting(messageKey(id), string(b))
}

// Messages tells how many messages wait for the plan's actor.
func Messages(tx Tx, id ident.PlanID) (int, error) {
	all, err := messages(tx, id)
	return len(all), err
}

// Prompt leaves a message for the plan's actor, which gets it before its next
// turn; with now, the answer that a model is making is cut short and asked for
// again. A plan that nobody runs gets it when it goes on. One on which no model
// will work any more is fault.Conflict.
func (e *Engine) Prompt(ctx context.Context, id ident.PlanID, text string, now bool) error {
	switch {
	case !utf8.ValidString(text):
		return fault.New(fault.Invalid, "the message is not UTF-8")
	case strings.TrimSpace(text) == "":
		return fault.New(fault.Invalid, "the message says nothing")
	case len(text) > MaxPrompt:
		return fault.New(fault.Invalid, "the message has %d bytes, at most %d", len(text), MaxPrompt).
			WithHint("put it into a file of the project and name the file")
	}
	m := message{ID: e.IDs.New(), At: e.Now(), Text: text, Now: now}
	ev := e.event(id, "prompt.left", fields{"id": m.ID, "text": clip(text, 160), "now": now})
	return e.Store.Update(ctx, func(tx Tx) error {
		p, err := tx.Plan(id)
		if err != nil {
			return err
		}
		if err := imported(tx, id); err != nil {
			return err
		}
		if !modelAhead(p) {
			return fault.New(fault.Conflict, "plan %s is %s: no model will work on it that could be told", id, p.Status)
		}
		all, err := messages(tx, id)
		if err != nil {
			return err
		}
		if len(all) >= maxMessages {
			return fault.New(fault.Conflict, "%d messages wait for plan %s already", len(all), id).
				WithHint("agents plan resume %s delivers them", id)
		}
		if err := putMessages(tx, id, append(all, m)); err != nil {
			return err
		}
		return tx.AppendEvent(&ev)
	})
}

// modelAhead reports whether a model is at work in this phase or will be in a
// later one.
func modelAhead(p plan.Plan) bool {
	switch {
	case p.Terminal() || p.Phase == plan.PhaseApply:
		return false
	case p.Phase == plan.PhaseExecute:
		return len(p.Execution.Models()) > 0
	}
	return len(p.Strategy.Models())+len(p.Execution.Models()) > 0
}

// called reports whether a message waits that can be given to somebody now: to
// the model that is at work, or, when the work is done, to the one that worked
// last. While a graph is at a node without a model, a message waits.
func (r *run) called() bool {
	if len(r.messages) == 0 || r.p.Phase != plan.PhaseStrategize && r.p.Phase != plan.PhaseExecute {
		return false
	}
	if r.p.ActorEnd {
		_, ok := r.lastWorker()
		return ok
	}
	return !r.actorNow().IsGraph() || r.p.NodeOpen && !r.p.NodeDone && r.worker().Name != ""
}

// hear gives the actor what was said to it. No tool call is open: what is said
// stands between the results of one turn and the next turn. A call that was cut
// short is made again with it, so it stands before that one.
func (r *run) hear(ctx context.Context) (bool, error) {
	if !r.called() || r.p.Checking {
		return false, nil
	}
	next := r.p
	after := next.Turn
	if next.ActorEnd {
		node, _ := r.lastWorker()
		r.goBack(&next, node)
	} else if r.callOpen() {
		after--
	}
	next.ActorEnd, next.Repairs = false, 0
	next.Inputs = append([]plan.Input{}, next.Inputs...)
	var said []*plan.Decision
	var events []plan.Event
	for _, m := range r.messages {
		d, err := r.intervention(ctx, "What does a person add?", m.Text)
		if err != nil {
			return false, err
		}
		said = append(said, &d)
		events = append(events, r.decisionEvent(&d))
		next.Inputs = append(next.Inputs, plan.Input{
			Phase: next.Phase, Attempt: next.Attempt, Node: next.Node, After: after, Slot: "prompt",
			Origin: "decision:" + string(d.ID), Text: "A person says: " + m.Text,
		})
	}
	heard := r.messages
	err := r.commit(ctx, next, func(tx Tx) error {
		all, err := messages(tx, next.ID)
		if err != nil {
			return err
		}
		if len(all) < len(heard) || all[0].ID != heard[0].ID {
			return fault.New(fault.Corrupt, "the messages for plan %s are not those that were read", next.ID)
		}
		if err := putMessages(tx, next.ID, all[len(heard):]); err != nil {
			return err
		}
		for _, d := range said {
			if err := r.insertDecision(tx, d, nil); err != nil {
				return err
			}
		}
		return nil
	}, events...)
	if err == nil {
		r.messages = nil
	}
	return true, err
}

// withdraw takes back the open question that the plan waits for, because a
// person said something instead of answering: the actor goes on with that.
func (r *run) withdraw(ctx context.Context, q plan.Approval) (err error) {
	next := r.p
	if next.Status, err = plan.Next(next.Status, plan.Resume); err != nil {
		return err
	}
	next.Reason = ""
	q.State, q.Decided = plan.Lapsed, r.finished()
	return r.move(ctx, next, func(tx Tx) error { return tx.UpdateApproval(q) })
}

// listen returns a context that ends when a message comes that does not want to
// wait for the answer that is being made, and a function that ends the
// listening and tells whether one came.
func (r *run) listen(ctx context.Context) (context.Context, func() bool) {
	ctx, cancel := context.WithCancel(ctx)
	came, id := make(chan bool, 1), r.p.ID
	go func() {
		defer cancel()
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				came <- false
				return
			case <-tick.C:
			}
			urgent := false
			err := r.Store.View(ctx, func(tx Tx) error {
				all, err := messages(tx, id)
				for _, m := range all {
					urgent = urgent || m.Now
				}
				return err
			})
			if err == nil && urgent { // what cannot be read is for the next step to say
				came <- true
				return
			}
		}
	}()
	return ctx, func() bool { cancel(); return <-came }
}
