package store

import (
	"slices"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/session"
)

func sessionColumns(s *session.Session) []column {
	return []column{
		text("id", &s.ID).fix(),
		text("name", &s.Name),
		text("project", &s.Project).fix(),
		text("actor", &s.Actor).fix(),
		moment("created", &s.Created).fix(),
		moment("updated", &s.Updated),
	}
}

func (t *tx) InsertSession(s session.Session) error {
	_, err := t.insertNext("session "+string(s.ID)+" ("+s.Name+")", "sessions", "n", "", sessionColumns(&s))
	return err
}

func (t *tx) UpdateSession(s session.Session) error {
	what := "session " + string(s.ID) + " (" + s.Name + ")"
	ok, err := t.update(what, "sessions", "id", string(s.ID), sessionColumns(&s), "")
	return changed("session "+string(s.ID), ok, err)
}

func (t *tx) Session(id ident.SessionID) (session.Session, error) {
	return one(t, "session "+string(id), sessionColumns, "FROM sessions WHERE id = $1", string(id))
}

func (t *tx) SessionByName(name string) (session.Session, error) {
	return one(t, "session "+name, sessionColumns, "FROM sessions WHERE name = $1", name)
}

func (t *tx) Sessions(project string, limit int) ([]session.Session, error) {
	tail, args := "FROM sessions", []any{}
	if project != "" {
		args = append(args, project)
		tail += " WHERE project = " + param(len(args))
	}
	tail += " ORDER BY updated DESC, n DESC"
	if limit > 0 {
		args = append(args, limit)
		tail += " LIMIT " + param(len(args))
	}
	return list(t, "sessions", sessionColumns, tail, args...)
}

func messageColumns(m *session.Message) []column {
	return []column{
		text("session_id", &m.Session),
		number("n", &m.N),
		text("role", &m.Role),
		text("text", &m.Text),
		text("plan_id", &m.Plan),
		flag("imported", &m.Imported),
		moment("at", &m.At),
	}
}

func (t *tx) InsertSessionMessage(m session.Message) error {
	what := "message of session " + string(m.Session)
	last, err := t.SessionMessages(m.Session, 1)
	if err != nil {
		return err
	}
	next := 1
	if len(last) > 0 {
		next = last[0].N + 1
	}
	if m.N != next {
		return fault.New(fault.Conflict, "%s: number %d is not the next one, which is %d", what, m.N, next).
			WithHint("somebody said something meanwhile; look and say it again")
	}
	return t.insert(what, "session_messages", messageColumns(&m))
}

func (t *tx) SessionMessages(id ident.SessionID, newest int) ([]session.Message, error) {
	tail, args := "FROM session_messages WHERE session_id = $1 ORDER BY n DESC", []any{string(id)}
	if newest > 0 {
		tail, args = tail+" LIMIT $2", append(args, newest)
	}
	ms, err := list(t, "messages of session "+string(id), messageColumns, tail, args...)
	slices.Reverse(ms)
	return ms, err
}

func (t *tx) DeleteSession(id ident.SessionID) error {
	what := "session " + string(id)
	if _, err := t.exec(what, "DELETE FROM session_messages WHERE session_id = $1", string(id)); err != nil {
		return err
	}
	n, err := t.exec(what, "DELETE FROM sessions WHERE id = $1", string(id))
	return changed(what, n == 1, err)
}
