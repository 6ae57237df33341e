package models_test

import (
	"path/filepath"
	"testing"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/models"
	"github.com/cleveragents/agents/secret"
	"github.com/cleveragents/agents/store/sqlite"
)

// What a person has set comes before everything that is found, and is taken as
// it is: whether it can be called is asked when it is used.
func TestTheDefaultThatWasSet(t *testing.T) {
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "data.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	env := func(name string) (string, bool) {
		if name == "ANTHROPIC_API_KEY" {
			return key, true
		}
		return "", false
	}
	desk := func(set string) *models.Desk {
		return models.New(models.Config{Store: db, Env: env, Secrets: secret.New(secret.Options{Env: env}), Default: set})
	}
	d, err := desk("openrouter/anthropic/claude-sonnet-4").Default(t.Context())
	if err != nil || d.Provider != "openrouter" || d.Model != "anthropic/claude-sonnet-4" || d.Why != "provider.default says so" {
		t.Errorf("got %+v, %v", d, err)
	}
	if _, err := desk("no model").Default(t.Context()); !fault.Is(err, fault.Invalid) {
		t.Errorf("a name that is none: %v", err)
	}
	if d, err := desk("").Default(t.Context()); err != nil || d.Provider != "anthropic" {
		t.Errorf("got %+v, %v", d, err)
	}
}
