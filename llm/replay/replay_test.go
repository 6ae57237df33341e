package replay_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/llm"
	"github.com/cleveragents/agents/llm/replay"
	"github.com/cleveragents/agents/llm/scripted"
)

func ask(provider, text string) actor.Request {
	return actor.Request{Provider: provider, Model: "m", Messages: []actor.Message{{Role: actor.User, Pieces: []actor.Piece{{Text: text}}}}}
}

// What a model answered is answered again, to the same request and to no other.
func TestReplay(t *testing.T) {
	s, err := scripted.Parse("m.yaml", []byte(`rules: [{reply: {thinking: hm, text: It is so., tool_calls: [{name: look, args: {path: a}}], usage: {input: 3, output: 4}}}]`))
	if err != nil {
		t.Fatal(err)
	}
	recorded := map[string][]byte{}
	broken := false
	m := llm.New(llm.Config{Providers: map[string]llm.Provider{
		scripted.Name: scripted.Provider(scripted.Config{Scripts: map[string]scripted.Script{"m": s}}),
		replay.Name: replay.Provider(llm.Chat, func(_ context.Context, hash string) ([]byte, error) {
			if broken {
				return nil, errors.New("the disk is gone")
			}
			b, ok := recorded[hash]
			if !ok {
				return nil, fault.New(fault.NotFound, "no row")
			}
			return b, nil
		}),
	}})
	first, err := m.Generate(t.Context(), ask(scripted.Name, "Is it so?"), nil)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(first.Wire.Request)
	recorded[hex.EncodeToString(sum[:])] = first.Wire.Response
	for range 2 {
		again, err := m.Generate(t.Context(), ask(replay.Name, "Is it so?"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(first, again); d != "" {
			t.Error(d)
		}
	}
	_, err = m.Generate(t.Context(), ask(replay.Name, "Is it not?"), nil)
	if !fault.Is(err, fault.NotFound) || fault.As(err).Details["request"] == nil {
		t.Errorf("another request: %v", err)
	}
	// Half an answer is not one, also when it was recorded.
	for hash, b := range recorded {
		recorded[hash] = b[:len(b)/2]
	}
	if _, err := m.Generate(t.Context(), ask(replay.Name, "Is it so?"), nil); !fault.Is(err, fault.Unavailable) {
		t.Errorf("half of it: %v", err)
	}
	broken = true
	if _, err := m.Generate(t.Context(), ask(replay.Name, "Is it so?"), nil); err == nil {
		t.Error("a source that fails is no error")
	}
}
