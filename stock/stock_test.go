package stock_test

import (
	"testing"

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
	have := map[string]bool{}
	for _, a := range actors {
		have[a.Name] = true
	}
	for _, a := range actions {
		if !have[a.StrategyActor] || !have[a.ExecutionActor] {
			t.Errorf("%s names an actor that is not built in", a.Name)
		}
	}
}
