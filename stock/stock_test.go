package stock_test

import (
	"os"
	"strings"
	"testing"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/stock"
)

// A built-in action that is refused would break every command.
func TestEverythingIsReadAndFitsTogether(t *testing.T) {
	actions, err := stock.Actions()
	if err != nil || len(actions) == 0 {
		t.Fatalf("%d actions, %v", len(actions), err)
	}
	actors, err := stock.Actors()
	if err != nil || len(actors) == 0 {
		t.Fatalf("%d actors, %v", len(actors), err)
	}
	have := map[string]actor.Config{}
	for _, a := range actors {
		have[a.Name] = a
	}
	used := map[string]bool{}
	for _, a := range actions {
		for _, name := range a.Actors() {
			used[name] = true
			c, ok := have[name]
			if !ok {
				t.Errorf("%s names the actor %s, which is not built in", a.Name, name)
				continue
			}
			_, err := c.Flatten(func(name string) (actor.Config, error) {
				if c, ok := have[name]; ok {
					return c, nil
				}
				return c, fault.New(fault.NotFound, "no actor %s", name)
			})
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for name := range have {
		if !used[name] {
			t.Errorf("no built-in action uses %s", name)
		}
	}
}

// maxWords keeps the instructions short: each is sent with every call.
const maxWords = 220

// Each prompt is that of an actor, whole, and short.
func TestPrompts(t *testing.T) {
	actors, err := stock.Actors()
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]bool{}
	for _, a := range actors {
		for _, m := range a.Models() {
			said[m.Prompt] = true
			if m.Prompt == "" || strings.HasPrefix(m.Prompt, "@") {
				t.Errorf("%s has the prompt %q", a.Name, m.Prompt)
			}
			if !m.IsDefault() {
				t.Errorf("%s asks for %s/%s and not for the default model", a.Name, m.Provider, m.Name)
			}
		}
	}
	files, err := os.ReadDir("prompt")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile("prompt/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		if !said[strings.TrimSpace(string(b))] {
			t.Errorf("no actor has the prompt %s", f.Name())
		}
		if n := len(strings.Fields(string(b))); n > maxWords {
			t.Errorf("%s has %d words, more than %d", f.Name(), n, maxWords)
		}
	}
}
