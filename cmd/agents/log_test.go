package main

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

type answer struct{ err error }

func (a answer) Do(_ context.Context, _ string, _ any, emit func(plan.Event)) (any, error) {
	if emit != nil {
		emit(plan.Event{Plan: "P", Seq: 7, Type: "model.text", Data: []byte(`{"text":"secret"}`)})
	}
	return 42, a.err
}

func TestOperationsAreLogged(t *testing.T) {
	at := time.Unix(0, 0)
	now := func() time.Time { at = at.Add(time.Second); return at }
	for _, c := range []struct {
		level slog.Level
		err   error
		want  []string
	}{
		{slog.LevelDebug, nil, []string{"msg=event plan=P seq=7 type=model.text", "msg=operation method=plan/x took=1s result=ok"}},
		{slog.LevelInfo, fault.New(fault.Busy, "secret"), []string{"msg=operation method=plan/x took=1s result=Busy"}},
		{slog.LevelWarn, nil, nil},
	} {
		var text bytes.Buffer
		told := 0
		l := &logged{answer{c.err}, slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: c.level})), now}
		got, err := l.Do(t.Context(), "plan/x", "secret", func(plan.Event) { told++ })
		if got != 42 || err != c.err || told != 1 {
			t.Errorf("%s: got %v, %v, %d events", c.level, got, err, told)
		}
		if lines := strings.Count(text.String(), "\n"); lines != len(c.want) || strings.Contains(text.String(), "secret") {
			t.Errorf("%s: logged\n%s", c.level, &text)
		}
		for _, w := range c.want {
			if !strings.Contains(text.String(), w) {
				t.Errorf("%s: no %q in\n%s", c.level, w, &text)
			}
		}
		if _, err := l.Do(t.Context(), "plan/x", nil, nil); err != c.err {
			t.Error(err)
		}
	}
}
