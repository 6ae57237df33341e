package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/crash"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/session"
)

// A question of a session is stored in the transaction that makes its plan, so
// neither is there without the other. The answer is the plan's, and becomes a
// message afterwards: whoever looks at the session next does it where the
// process that asked died before. So a session has at most one question that
// is open, and the plan of that one says how far it got.

// newestMessages is how many messages of a session are looked at for the next
// question; more cannot fit into session.Budget and say much.
const newestMessages = 400

// TellInput is the next question of a session.
type TellInput struct {
	Session ident.SessionID
	Text    string
	Use     UseInput // of the plan: its action, profile and settings; the session says the rest
}

// Tell stores the question and makes its plan, which has the conversation before
// its task. A session whose last question is still open is fault.Conflict.
func (e *Engine) Tell(ctx context.Context, in TellInput) (plan.Plan, error) {
	if err := session.CheckSaid(in.Text); err != nil {
		return plan.Plan{}, err
	}
	if err := e.Settle(ctx, in.Session); err != nil {
		return plan.Plan{}, err
	}
	var s session.Session
	var ms []session.Message
	err := e.Store.View(ctx, func(tx Tx) (err error) {
		if s, err = tx.Session(in.Session); err != nil {
			return err
		}
		if ms, err = tx.SessionMessages(s.ID, newestMessages); err != nil {
			return err
		}
		open, err := openQuestion(tx, ms)
		if err != nil || open == nil {
			return err
		}
		return fault.New(fault.Conflict, "session %s still has a question that is not answered: plan %s is %s", s.Name, open.ID, open.Status).
			WithHint("agents session resume %s, or leave it unanswered: agents plan cancel %s", s.ID, open.ID)
	})
	if err != nil {
		return plan.Plan{}, err
	}
	n := 1
	if len(ms) > 0 {
		n = ms[len(ms)-1].N + 1
	}
	use := in.Use
	use.Project, use.ExecutionActor, use.Prompt = s.Project, s.Actor, in.Text
	use.Conversation = session.Window(ms, session.Budget)
	use.Within = func(tx Tx, p plan.Plan) error {
		m := session.Message{Session: s.ID, N: n, Role: actor.User, Text: strings.TrimSpace(in.Text), Plan: p.ID, At: p.Created}
		if err := tx.InsertSessionMessage(m); err != nil {
			return err
		}
		return touch(tx, m)
	}
	p, err := e.Use(ctx, use)
	crash.Point("session.tell")
	return p, err
}

// touch says when something was said last in the session of m.
func touch(tx Tx, m session.Message) error {
	s, err := tx.Session(m.Session) // its name may be another one by now
	if err != nil {
		return err
	}
	s.Updated = m.At
	return tx.UpdateSession(s)
}

// openQuestion is the plan that has to answer the last of the messages and has
// not come to its end; nil for none. What was imported is nobody's question here.
func openQuestion(tx Tx, ms []session.Message) (*plan.Plan, error) {
	p, err := lastQuestion(tx, ms)
	if err != nil || p == nil || p.Terminal() {
		return nil, err
	}
	return p, nil
}

func lastQuestion(tx Tx, ms []session.Message) (*plan.Plan, error) {
	if len(ms) == 0 {
		return nil, nil
	}
	m := ms[len(ms)-1]
	if m.Role != actor.User || m.Imported {
		return nil, nil
	}
	p, err := tx.Plan(m.Plan)
	if err != nil {
		return nil, err
	}
	return &p, nil
}

// LastQuestion is the plan of the session's last message when that is a question
// which has no answer among the messages; nil for none.
func (e *Engine) LastQuestion(ctx context.Context, id ident.SessionID) (p *plan.Plan, err error) {
	err = e.Store.View(ctx, func(tx Tx) error {
		ms, err := tx.SessionMessages(id, 1)
		if err != nil {
			return err
		}
		p, err = lastQuestion(tx, ms)
		return err
	})
	return p, err
}

// Pending is the answer to the session's last question when its plan has given
// it and it is not among the messages yet; nil for none.
func (e *Engine) Pending(ctx context.Context, id ident.SessionID) (*session.Message, error) {
	var n int
	var p *plan.Plan
	err := e.Store.View(ctx, func(tx Tx) error {
		ms, err := tx.SessionMessages(id, 1)
		if err != nil || len(ms) == 0 {
			return err
		}
		n = ms[0].N + 1
		p, err = lastQuestion(tx, ms)
		return err
	})
	if err != nil || p == nil || p.State != plan.Applied {
		return nil, err
	}
	said, err := e.AnswerOf(ctx, *p)
	if err != nil {
		return nil, err
	}
	return &session.Message{Session: id, N: n, Role: actor.Assistant, Text: session.Answer(said, p.ID), Plan: p.ID, At: p.Updated}, nil
}

// Settle makes the answer that is pending a message. Doing it again, or in two
// processes at once, changes nothing.
func (e *Engine) Settle(ctx context.Context, id ident.SessionID) error {
	m, err := e.Pending(ctx, id)
	if err != nil || m == nil {
		return err
	}
	crash.Point("session.answer")
	return e.Store.Update(ctx, func(tx Tx) error {
		last, err := tx.SessionMessages(id, 1)
		if err != nil {
			return err
		}
		if len(last) == 0 || last[0].N >= m.N { // the session is gone, or another process was quicker
			return nil
		}
		if err := tx.InsertSessionMessage(*m); err != nil {
			return err
		}
		return touch(tx, *m)
	})
}

// saidBefore is what was said before the plan's task.
func (r *run) saidBefore(ctx context.Context) (ms []actor.Message, err error) {
	if r.p.Conversation == "" {
		return nil, nil
	}
	b, err := r.blob(ctx, r.p.Conversation)
	if err != nil {
		return nil, fmt.Errorf("the conversation before the task: %w", err)
	}
	if err := json.Unmarshal(b, &ms); err != nil {
		return nil, fault.New(fault.Corrupt, "the conversation before the task: %w", err)
	}
	return ms, nil
}

// putConversation stores what was said before the task of a new plan; "" for
// nothing.
func (e *Engine) putConversation(ctx context.Context, ms []actor.Message) (string, error) {
	if len(ms) == 0 {
		return "", nil
	}
	b, err := json.Marshal(ms)
	if err != nil {
		return "", fault.New(fault.Internal, "encode the conversation: %w", err)
	}
	return e.Blobs.Put(ctx, b)
}
