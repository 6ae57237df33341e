package local

import (
	"context"
	"strings"
	"time"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/session"
)

func (f *Facade) sessionHandlers() []a2a.Handler {
	return []a2a.Handler{
		a2a.Handle(a2a.SessionCreate(), f.sessionCreate),
		a2a.Handle(a2a.SessionList(), f.sessionList),
		a2a.Handle(a2a.SessionShow(), f.sessionShow),
		a2a.Handle(a2a.SessionTell(), f.sessionTell),
		a2a.Handle(a2a.SessionResume(), f.sessionResume),
		a2a.Handle(a2a.SessionRename(), f.sessionRename),
		a2a.Handle(a2a.SessionExport(), f.sessionExport),
		a2a.Handle(a2a.SessionImport(), f.sessionImport),
		a2a.Handle(a2a.SessionDelete(), f.sessionDelete),
	}
}

// session resolves a conversation by id, end of id, name or @last.
func (f *Facade) session(ctx context.Context, ref string) (s session.Session, err error) {
	err = f.view(ctx, func(tx engine.Tx) error {
		s, err = f.sessionIn(tx, ref)
		return err
	})
	return s, err
}

func (f *Facade) sessionIn(tx engine.Tx, ref string) (session.Session, error) {
	if ref == "" || ref == lastRef {
		return f.lastSession(tx)
	}
	id, err := find(tx, "session", ref)
	if err == nil {
		s, err := tx.Session(ident.SessionID(id))
		if fault.Is(err, fault.NotFound) {
			err = noSession(ref)
		}
		return s, err
	}
	name, bad := ident.Canonical(ref)
	if bad != nil {
		return session.Session{}, err
	}
	s, none := tx.SessionByName(name)
	switch {
	case !fault.Is(none, fault.NotFound):
		return s, none
	case fault.As(err).Details["candidates"] != nil:
		return s, err
	}
	return s, noSession(ref)
}

func noSession(ref string) error {
	return fault.New(fault.NotFound, "no session %q", ref).WithHint("agents session list shows those that exist")
}

// lastSession is the one that was touched last in the project that counts here;
// in any project when none does.
func (f *Facade) lastSession(tx engine.Tx) (session.Session, error) {
	project, err := f.projectHere(tx)
	if err != nil {
		return session.Session{}, err
	}
	all, err := tx.Sessions(project, 1)
	switch {
	case err != nil:
		return session.Session{}, err
	case len(all) == 1:
		return all[0], nil
	case project != "":
		return session.Session{}, fault.New(fault.NotFound, "project %s has no session yet", project).
			WithHint("agents session create; those of all projects: agents session list")
	}
	return session.Session{}, fault.New(fault.NotFound, "there is no session yet").WithHint("agents session create -p DIR")
}

// sessionSummary is a conversation in one line. An answer that is there and not
// yet among the messages counts: whoever writes next puts it there.
func (f *Facade) sessionSummary(ctx context.Context, s session.Session) (v a2a.SessionSummary, pending *session.Message, err error) {
	v = a2a.SessionSummary{
		ID: s.ID, Name: s.Name, Project: s.Project, Actor: s.Actor,
		Created: s.Created.UTC().Format(time.RFC3339), Updated: s.Updated.UTC().Format(time.RFC3339),
	}
	if pending, err = f.Engine.Pending(ctx, s.ID); err != nil {
		return v, nil, err
	}
	open, err := f.Engine.LastQuestion(ctx, s.ID)
	if err != nil {
		return v, nil, err
	}
	err = f.view(ctx, func(tx engine.Tx) error {
		last, err := tx.SessionMessages(s.ID, 1)
		if err != nil {
			return err
		}
		if len(last) == 1 {
			v.Messages = last[0].N
		}
		if pending != nil && v.Messages >= pending.N {
			pending = nil // somebody put it there meanwhile
		}
		if open != nil && pending == nil && open.State != plan.Applied {
			p, err := f.summary(ctx, tx, *open)
			if err != nil {
				return err
			}
			v.Open = &p
		}
		return nil
	})
	if pending != nil {
		v.Messages = pending.N
	}
	if v.Open != nil && !v.Open.Terminal() {
		v.Next = []string{"agents session resume " + string(s.ID)}
	}
	return v, pending, err
}

func (f *Facade) sessionCreate(ctx context.Context, q a2a.SessionCreateRequest, _ func(plan.Event)) (v a2a.SessionSummary, err error) {
	name := q.Actor
	if name == "" {
		a, _, err := f.Engine.Action(ctx, askAction)
		if err != nil {
			return v, err
		}
		name = a.ExecutionActor
	}
	c, _, err := f.Engine.Actor(ctx, name)
	if err != nil {
		return v, err
	}
	s := session.Session{ID: ident.SessionID(f.Engine.IDs.New()), Actor: c.Name, Created: f.Engine.Now(), Updated: f.Engine.Now()}
	if q.Name == "" {
		id := strings.ToLower(string(s.ID))
		q.Name = "session-" + id[len(id)-6:]
	}
	if s.Name, err = ident.Canonical(q.Name); err != nil {
		return v, err
	}
	if s.Project, err = f.projectToUse(ctx, q.Project, false); err != nil {
		return v, err
	}
	err = f.update(ctx, func(tx engine.Tx) error { return tx.InsertSession(s) })
	if fault.Is(err, fault.Exists) {
		err = sessionExists(s.Name)
	}
	if err != nil {
		return v, err
	}
	v, _, err = f.sessionSummary(ctx, s)
	v.Next = []string{"agents session tell " + string(s.ID) + " TEXT"}
	return v, err
}

func sessionExists(name string) error {
	return fault.New(fault.Exists, "there is a session called %s", name).WithHint("choose another name")
}

func (f *Facade) sessionList(ctx context.Context, q a2a.SessionListQuery, _ func(plan.Event)) (a2a.SessionsView, error) {
	out := a2a.SessionsView{Sessions: []a2a.SessionSummary{}}
	project := ""
	if q.Project != "" {
		var err error
		if project, err = f.projectName(ctx, q.Project); err != nil {
			return out, err
		}
	}
	var all []session.Session
	err := f.view(ctx, func(tx engine.Tx) (err error) {
		all, err = tx.Sessions(project, max(q.Limit, 0))
		return err
	})
	for _, s := range all {
		if err != nil {
			break
		}
		var v a2a.SessionSummary
		v, _, err = f.sessionSummary(ctx, s)
		out.Sessions = append(out.Sessions, v)
	}
	return out, err
}

func (f *Facade) sessionShow(ctx context.Context, q a2a.SessionShowQuery, _ func(plan.Event)) (v a2a.SessionView, err error) {
	v.Messages = []a2a.SessionMessage{}
	if q.Messages < 0 {
		return v, fault.New(fault.Invalid, "the number of messages is negative")
	}
	s, err := f.session(ctx, q.Ref)
	if err != nil {
		return v, err
	}
	var ms []session.Message
	if v.Session, ms, err = f.conversation(ctx, s); err != nil {
		return v, err
	}
	if q.Messages > 0 && len(ms) > q.Messages {
		v.Earlier = len(ms) - q.Messages
		ms = ms[v.Earlier:]
	}
	for _, m := range ms {
		v.Messages = append(v.Messages, a2a.MessageOf(m))
	}
	return v, nil
}

// conversation is all that was said, with an answer that is pending.
func (f *Facade) conversation(ctx context.Context, s session.Session) (a2a.SessionSummary, []session.Message, error) {
	v, pending, err := f.sessionSummary(ctx, s)
	if err != nil {
		return v, nil, err
	}
	var ms []session.Message
	err = f.view(ctx, func(tx engine.Tx) (err error) {
		ms, err = tx.SessionMessages(s.ID, 0)
		return err
	})
	if pending != nil && len(ms) == pending.N-1 {
		ms = append(ms, *pending)
	}
	v.Messages = len(ms)
	return v, ms, err
}

func (f *Facade) sessionTell(ctx context.Context, q a2a.SessionTellRequest, emit func(plan.Event)) (a2a.PlanOutcome, error) {
	s, err := f.session(ctx, q.Ref)
	if err != nil {
		return a2a.PlanOutcome{}, err
	}
	set, err := f.forPlans(ctx, s.Project)
	if err != nil {
		return a2a.PlanOutcome{}, err
	}
	p, err := f.Engine.Tell(ctx, engine.TellInput{Session: s.ID, Text: q.Text, Use: engine.UseInput{
		Action: askAction, Profile: "ci", NoInput: q.NoInput, Settings: set,
	}})
	if err != nil {
		return a2a.PlanOutcome{}, err
	}
	if err := f.tellMade(ctx, p.ID, emit); err != nil {
		return a2a.PlanOutcome{}, err
	}
	return f.answerSession(ctx, s, p, emit)
}

// answerSession carries the plan of a question on, and makes its answer a
// message.
func (f *Facade) answerSession(ctx context.Context, s session.Session, p plan.Plan, emit func(plan.Event)) (a2a.PlanOutcome, error) {
	if !p.Terminal() {
		if err := f.Engine.Run(ctx, p.ID, "", emit); err != nil {
			return a2a.PlanOutcome{}, err
		}
	}
	if err := f.Engine.Settle(ctx, s.ID); err != nil {
		return a2a.PlanOutcome{}, err
	}
	out, err := f.outcome(ctx, p.ID)
	if err != nil {
		return out, err
	}
	now, _, err := f.sessionSummary(ctx, s)
	out.Session = &now
	if len(now.Next) > 0 {
		out.Next = append(now.Next, out.Next...)
		if out.Fault != nil {
			out.Fault.Hint = now.Next[0]
		}
	}
	return out, err
}

func (f *Facade) sessionResume(ctx context.Context, q a2a.RefQuery, emit func(plan.Event)) (a2a.PlanOutcome, error) {
	s, err := f.session(ctx, q.Ref)
	if err != nil {
		return a2a.PlanOutcome{}, err
	}
	p, err := f.Engine.LastQuestion(ctx, s.ID)
	if err != nil {
		return a2a.PlanOutcome{}, err
	}
	if p == nil || p.Terminal() && p.State != plan.Applied {
		return a2a.PlanOutcome{}, fault.New(fault.Conflict, "session %s has no question that waits for an answer", s.Name).
			WithHint("agents session tell %s TEXT", s.ID)
	}
	return f.answerSession(ctx, s, *p, emit)
}

func (f *Facade) sessionRename(ctx context.Context, q a2a.SessionRenameRequest, _ func(plan.Event)) (v a2a.SessionSummary, err error) {
	name, err := ident.Canonical(q.Name)
	if err != nil {
		return v, err
	}
	var s session.Session
	err = f.update(ctx, func(tx engine.Tx) error {
		if s, err = f.sessionIn(tx, q.Ref); err != nil {
			return err
		}
		s.Name, s.Updated = name, f.Engine.Now()
		return tx.UpdateSession(s)
	})
	if fault.Is(err, fault.Exists) {
		err = sessionExists(name)
	}
	if err != nil {
		return v, err
	}
	v, _, err = f.sessionSummary(ctx, s)
	return v, err
}

func (f *Facade) sessionDelete(ctx context.Context, q a2a.RefQuery, _ func(plan.Event)) (v a2a.SessionSummary, err error) {
	s, err := f.session(ctx, q.Ref)
	if err != nil {
		return v, err
	}
	if v, _, err = f.sessionSummary(ctx, s); err != nil {
		return v, err
	}
	v.Next = nil
	return v, f.update(ctx, func(tx engine.Tx) error { return tx.DeleteSession(s.ID) })
}

func (f *Facade) sessionExport(ctx context.Context, q a2a.SessionExportRequest, _ func(plan.Event)) (v a2a.SessionCarryView, err error) {
	if q.To == nil {
		return v, fault.New(fault.Internal, "an export goes nowhere")
	}
	s, err := f.session(ctx, q.Ref)
	if err != nil {
		return v, err
	}
	var ms []session.Message
	if v.Session, ms, err = f.conversation(ctx, s); err != nil {
		return v, err
	}
	w, err := q.To(v.Session)
	if err != nil {
		return v, err
	}
	return v, session.Encode(w, s, ms, f.Engine.Now())
}

func (f *Facade) sessionImport(ctx context.Context, q a2a.SessionImportRequest, _ func(plan.Event)) (v a2a.SessionCarryView, err error) {
	if q.From == nil {
		return v, fault.New(fault.Internal, "an import comes from nowhere")
	}
	s, ms, err := session.Decode(q.From)
	if err != nil {
		return v, fault.New(fault.KindOf(err), "%s: %w", q.File, err)
	}
	if q.Name != "" {
		if s.Name, err = ident.Canonical(q.Name); err != nil {
			return v, err
		}
	}
	if s.Project, err = f.projectToUse(ctx, q.Project, false); err != nil {
		return v, err
	}
	s.Updated = f.Engine.Now()
	err = f.update(ctx, func(tx engine.Tx) error {
		if _, err := tx.Session(s.ID); err == nil {
			return fault.New(fault.Exists, "session %s is here already", s.ID).WithHint("agents session show %s", s.ID)
		}
		if err := tx.InsertSession(s); err != nil {
			return err
		}
		for _, m := range ms {
			if err := tx.InsertSessionMessage(m); err != nil {
				return err
			}
		}
		return nil
	})
	if fault.Is(err, fault.Exists) && fault.As(err).Hint == "" {
		err = fault.New(fault.Exists, "there is a session called %s", s.Name).WithHint("choose another --name")
	}
	if err != nil {
		return v, err
	}
	v.Session, _, err = f.sessionSummary(ctx, s)
	v.Session.Next = []string{"agents session show " + string(s.ID)}
	if _, _, aerr := f.Engine.Actor(ctx, s.Actor); fault.Is(aerr, fault.NotFound) {
		v.Session.Next = append(v.Session.Next, "agents actor add "+strings.TrimPrefix(s.Actor, "local/"))
	}
	return v, err
}
