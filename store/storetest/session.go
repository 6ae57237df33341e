package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/project"
	"github.com/cleveragents/agents/session"
)

// session returns a full session of the world's project that is not stored yet.
func (w *world) session(t *testing.T) session.Session {
	s := filled[session.Session](t, w.f)
	s.ID, s.Project = ident.SessionID(w.ids.New()), w.proj.Name
	return s
}

func testSessions(t *testing.T, w *world) {
	other := filled[project.Project](t, w.f)
	other.Links = nil
	all := []session.Session{w.session(t), w.session(t), w.session(t)}
	all[2].Project = other.Name
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := range all { // made in this order, touched in another
		all[i].Updated = at.Add(time.Duration((i+1)%3) * time.Second)
	}
	w.update(t, func(tx engine.Tx) error {
		if err := tx.InsertProject(other); err != nil {
			return err
		}
		for _, s := range all {
			if err := tx.InsertSession(s); err != nil {
				return err
			}
		}
		return nil
	})
	w.view(t, func(tx engine.Tx) error {
		same(t, "sessions", []session.Session{all[1], all[0], all[2]}, func() ([]session.Session, error) { return tx.Sessions("", 0) })
		same(t, "newest", []session.Session{all[1]}, func() ([]session.Session, error) { return tx.Sessions("", 1) })
		same(t, "of a project", []session.Session{all[2]}, func() ([]session.Session, error) { return tx.Sessions(other.Name, 0) })
		same(t, "by id", all[0], func() (session.Session, error) { return tx.Session(all[0].ID) })
		same(t, "by name", all[2], func() (session.Session, error) { return tx.SessionByName(all[2].Name) })
		absent(t, "session", func() (session.Session, error) { return tx.Session("none") })
		absent(t, "session", func() (session.Session, error) { return tx.SessionByName("local/none") })
		same(t, "by suffix", []string{string(all[1].ID)}, func() ([]string, error) {
			return tx.FindIDs("session", string(all[1].ID[18:]), 5)
		})
		return nil
	})
	twin := w.session(t)
	twin.Name = all[0].Name
	w.fails(t, fault.Exists, func(tx engine.Tx) error { return tx.InsertSession(twin) })
	twin = w.session(t)
	twin.ID = all[0].ID
	w.fails(t, fault.Exists, func(tx engine.Tx) error { return tx.InsertSession(twin) })
	stray := w.session(t)
	stray.Project = "local/none"
	w.fails(t, fault.NotFound, func(tx engine.Tx) error { return tx.InsertSession(stray) })

	all[0].Name, all[0].Updated = "local/better", at.Add(time.Hour)
	w.update(t, func(tx engine.Tx) error { return tx.UpdateSession(all[0]) })
	taken := all[0]
	taken.Name = all[1].Name
	w.fails(t, fault.Exists, func(tx engine.Tx) error { return tx.UpdateSession(taken) })
	w.fails(t, fault.NotFound, func(tx engine.Tx) error { return tx.UpdateSession(w.session(t)) })
	w.view(t, func(tx engine.Tx) error {
		same(t, "renamed", all[0], func() (session.Session, error) { return tx.Session(all[0].ID) })
		return nil
	})
}

func testSessionMessages(t *testing.T, w *world) {
	s, other := w.session(t), w.session(t)
	var ms []session.Message
	for i, role := range []actor.Role{actor.User, actor.Assistant, actor.User} {
		m := filled[session.Message](t, w.f)
		m.Session, m.N, m.Role = s.ID, i+1, role
		ms = append(ms, m)
	}
	ms[1].Text = strings.Repeat("é", 512<<10)
	ms[1].Imported, ms[2].Plan = false, w.plans[0].ID
	only := filled[session.Message](t, w.f)
	only.Session, only.N = other.ID, 1
	w.update(t, func(tx engine.Tx) error {
		if err := tx.InsertSession(s); err != nil {
			return err
		}
		if err := tx.InsertSession(other); err != nil {
			return err
		}
		for _, m := range append(ms, only) {
			if err := tx.InsertSessionMessage(m); err != nil {
				return err
			}
		}
		return nil
	})
	w.view(t, func(tx engine.Tx) error {
		same(t, "messages", ms, func() ([]session.Message, error) { return tx.SessionMessages(s.ID, 0) })
		same(t, "the newest", ms[1:], func() ([]session.Message, error) { return tx.SessionMessages(s.ID, 2) })
		same(t, "of nothing", nil, func() ([]session.Message, error) { return tx.SessionMessages("none", 0) })
		return nil
	})
	for _, n := range []int{0, 1, 3, 5} {
		m := ms[0]
		m.N = n
		w.fails(t, fault.Conflict, func(tx engine.Tx) error { return tx.InsertSessionMessage(m) })
	}
	lost := ms[0]
	lost.Session = "none"
	w.fails(t, fault.NotFound, func(tx engine.Tx) error { return tx.InsertSessionMessage(lost) })

	w.fails(t, fault.NotFound, func(tx engine.Tx) error { return tx.DeleteSession("none") })
	w.update(t, func(tx engine.Tx) error { return tx.DeleteSession(s.ID) })
	w.view(t, func(tx engine.Tx) error {
		absent(t, "deleted session", func() (session.Session, error) { return tx.Session(s.ID) })
		same(t, "its messages", nil, func() ([]session.Message, error) { return tx.SessionMessages(s.ID, 0) })
		same(t, "another's", []session.Message{only}, func() ([]session.Message, error) { return tx.SessionMessages(other.ID, 0) })
		same(t, "the plan", w.plans[0], func() (plan.Plan, error) { return tx.Plan(w.plans[0].ID) })
		return nil
	})
	w.update(t, func(tx engine.Tx) error { return tx.InsertSession(s) }) // id and name are free again
	w.view(t, func(tx engine.Tx) error {
		got, err := tx.SessionMessages(s.ID, 0)
		if d := cmp.Diff([]session.Message(nil), got); d != "" {
			t.Errorf("a new session of the id has messages:\n%s", d)
		}
		return err
	})
}
