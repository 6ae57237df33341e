package local_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/a2a/local"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

// told does an operation and returns the events that it told.
func told[Q, R any](t *testing.T, f *local.Facade, o a2a.Op[Q, R], q Q) (R, []plan.Event) {
	t.Helper()
	var events []plan.Event
	r, err := a2a.Call(t.Context(), f, o, q, func(e plan.Event) { events = append(events, e) })
	must(t, err)
	return r, events
}

func types(events []plan.Event) (out []string) {
	for _, e := range events {
		out = append(out, e.Type)
	}
	return out
}

func TestLogsAreTheStoredEvents(t *testing.T) {
	f, _ := newFacade(t)
	out, _ := waiting(t, f, "echo x > a.txt")
	id := string(out.Plan.ID)
	v, events := told(t, f, a2a.PlanLogs(), a2a.PlanLogsQuery{Ref: id})
	if !slices.Equal(types(v.Events), types(events)) || len(events) < 8 || events[0].Type != "plan.created" {
		t.Errorf("answered %v, told %v", types(v.Events), types(events))
	}
	followed, again := told(t, f, a2a.PlanLogs(), a2a.PlanLogsQuery{Ref: id, Follow: true})
	if !slices.Equal(types(again), types(events)) || len(followed.Events) > 0 || len(followed.Next) == 0 {
		t.Errorf("followed: %+v, told %v", followed, types(again))
	}
	for _, name := range []string{"shell", "builtin/shell"} {
		_, some := told(t, f, a2a.PlanLogs(), a2a.PlanLogsQuery{Ref: id, Tool: name})
		if want := []string{"tool.started", "tool.finished"}; !slices.Equal(types(some), want) {
			t.Errorf("of %s: %v", name, types(some))
		}
	}
	if _, none := told(t, f, a2a.PlanLogs(), a2a.PlanLogsQuery{Ref: id, Tool: "read"}); len(none) > 0 {
		t.Errorf("of another tool: %v", types(none))
	}
	if _, none := told(t, f, a2a.PlanLogs(), a2a.PlanLogsQuery{Ref: id, Since: time.Nanosecond}); len(none) > 0 {
		t.Errorf("since now: %v", types(none))
	}
	if _, all := told(t, f, a2a.PlanLogs(), a2a.PlanLogsQuery{Ref: id, Since: time.Hour}); len(all) != len(events) {
		t.Errorf("since an hour: %v", types(all))
	}
}

// gated is a plan whose command hangs until its gate, a FIFO, is opened.
func gated(t *testing.T, f *local.Facade, profile string) (ref string, open func()) {
	t.Helper()
	dir := t.TempDir()
	begun, gate := filepath.Join(t.TempDir(), "begun"), filepath.Join(t.TempDir(), "gate")
	must(t, syscall.Mkfifo(begun, 0o600))
	must(t, syscall.Mkfifo(gate, 0o600))
	done := make(chan error, 1)
	go func() {
		_, err := a2a.Call(context.Background(), f, a2a.PlanUse(), a2a.PlanUseRequest{
			Action: "builtin/command", Project: dir, Name: "gated", Profile: profile, Start: true,
			Args: map[string]string{"command": "echo > " + begun + "; cat " + gate + "; echo x > x.txt"},
		}, nil)
		done <- err
	}()
	_, err := os.ReadFile(begun)
	must(t, err)
	return "gated", func() {
		must(t, os.WriteFile(gate, nil, 0o600))
		must(t, <-done)
	}
}

func TestWatchingAndWaitingEndWithTheRun(t *testing.T) {
	f, _ := newFacade(t)
	ref, open := gated(t, f, "auto")
	early := do(t, f, a2a.PlanWait(), a2a.PlanWaitQuery{Refs: []string{ref}, Phase: plan.PhaseStrategize})
	if !early.Plans[0].Reached || early.Plans[0].Outcome.Plan.Phase != plan.PhaseExecute {
		t.Errorf("a phase that is past: %+v", early.Plans[0])
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := a2a.Call(ctx, f, a2a.PlanWait(), a2a.PlanWaitQuery{Refs: []string{ref}}, nil); err == nil {
		t.Error("waiting for a plan that hangs ended before its time")
	}
	type seen struct {
		out    a2a.PlanOutcome
		events []string
	}
	watched, waited := make(chan seen, 2), make(chan a2a.WaitView, 3)
	for _, glob := range []string{"", "plan.*"} {
		go func() {
			var s seen
			var err error
			s.out, err = a2a.Call(t.Context(), f, a2a.PlanWatch(), a2a.PlanWatchQuery{Ref: ref, Events: glob}, func(e plan.Event) {
				s.events = append(s.events, e.Type)
			})
			if err != nil {
				t.Error(err)
			}
			watched <- s
		}()
	}
	for _, q := range []a2a.PlanWaitQuery{{}, {State: plan.Waiting}, {Approval: true}} {
		q.Refs = []string{ref}
		go func() {
			v, err := a2a.Call(t.Context(), f, a2a.PlanWait(), q, nil)
			if err != nil {
				t.Error(err)
			}
			if want := q.State != "" || q.Approval; len(v.Plans) != 1 || v.Plans[0].Reached != want {
				t.Errorf("%+v: %+v", q, v)
			}
			waited <- v
		}()
	}
	open()
	for range 2 {
		s := <-watched
		if s.out.Plan.State != plan.Waiting || len(s.out.Next) == 0 || len(s.events) == 0 || s.events[0] != "plan.state" {
			t.Errorf("watched %+v, told %v", s.out.Plan, s.events)
		}
	}
	for range 3 {
		if v := <-waited; len(v.Plans) > 0 && len(v.Plans[0].Outcome.Next) == 0 {
			t.Errorf("no way on: %+v", v)
		}
	}
	out, events := told(t, f, a2a.PlanWatch(), a2a.PlanWatchQuery{Ref: ref, Events: "tool.*"})
	if len(events) > 0 || out.Plan.State != plan.Waiting {
		t.Errorf("watching a plan that nobody runs: %v, %+v", types(events), out.Plan)
	}
}

func TestWaitingForPlansThatNobodyRuns(t *testing.T) {
	f, _ := newFacade(t)
	out, _ := waiting(t, f, "true")
	id := string(out.Plan.ID)
	for _, c := range []struct {
		q    a2a.PlanWaitQuery
		want bool
	}{
		{a2a.PlanWaitQuery{}, false},
		{a2a.PlanWaitQuery{State: plan.Waiting}, true},
		{a2a.PlanWaitQuery{State: plan.Applied}, false},
		{a2a.PlanWaitQuery{Phase: plan.PhaseExecute}, true},
		{a2a.PlanWaitQuery{Phase: plan.PhaseApply}, false},
		{a2a.PlanWaitQuery{Approval: true}, true},
	} {
		c.q.Refs = []string{id, "@last"}
		v := do(t, f, a2a.PlanWait(), c.q)
		if len(v.Plans) != 2 || v.Plans[0].Reached != c.want || v.Plans[1].Reached != c.want {
			t.Errorf("%+v: %+v", c.q, v)
		}
	}
	do(t, f, a2a.PlanApply(), a2a.PlanApplyRequest{Ref: id})
	for q, want := range map[plan.State]bool{"": true, plan.Applied: true, plan.Waiting: false} {
		if v := do(t, f, a2a.PlanWait(), a2a.PlanWaitQuery{Refs: []string{id}, State: q}); v.Plans[0].Reached != want {
			t.Errorf("for %q after apply: %+v", q, v)
		}
	}
	refused(t, f, a2a.PlanWait(), a2a.PlanWaitQuery{Refs: []string{id}, State: "bogus"}, fault.Invalid)
	refused(t, f, a2a.PlanWait(), a2a.PlanWaitQuery{Refs: []string{id}, Phase: "bogus"}, fault.Invalid)
	refused(t, f, a2a.PlanWait(), a2a.PlanWaitQuery{Refs: []string{id, "nosuch"}}, fault.NotFound)
	refused(t, f, a2a.PlanWatch(), a2a.PlanWatchQuery{Ref: id, Events: "["}, fault.Invalid)
	if err := refused(t, f, a2a.PlanLogs(), a2a.PlanLogsQuery{Ref: "nosuch"}, fault.NotFound); !strings.Contains(fault.As(err).Hint, "plan list") {
		t.Errorf("no way on: %v", err)
	}
}
