package engine

import (
	"context"
	"strings"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

// cast finds who plays which part in a plan, and copies them in: with the
// actors that they name in their place, and with a model wherever they name the
// default one.
func (e *Engine) cast(ctx context.Context, p *plan.Plan, in UseInput) (err error) {
	if p.Strategy, err = e.player(ctx, in.StrategyActor, p.Action.StrategyActor, nil); err != nil {
		return err
	}
	if p.Execution, err = e.player(ctx, in.ExecutionActor, p.Action.ExecutionActor, in.Adjust); err != nil {
		return err
	}
	for _, role := range []struct {
		name string
		to   **actor.Config
	}{{p.Action.EstimationActor, &p.Estimation}, {p.Action.InvariantActor, &p.Invariant}} {
		if role.name == "" {
			continue
		}
		c, err := e.player(ctx, "", role.name, nil)
		if err != nil {
			return err
		}
		*role.to = &c
	}
	return nil
}

// player finds the actor for one part: the one that was asked for, else that of
// the action. One that is a model and nothing more is only the model, where the
// action's actor leaves that open: its instructions and its graph stay.
func (e *Engine) player(ctx context.Context, asked, own string, adjust func(*actor.Config)) (actor.Config, error) {
	find := func(name string) (actor.Config, error) {
		c, _, err := e.Actor(ctx, name)
		if err != nil {
			return c, err
		}
		return e.Flat(ctx, c)
	}
	name := own
	if asked != "" {
		name = asked
	}
	c, err := find(name)
	if err != nil {
		return c, err
	}
	if asked != "" && c.IsBare() && !c.UsesDefault() {
		open, err := find(own)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return c, err
		}
		if err == nil && open.UsesDefault() {
			c = open.WithDefault(c.Provider, c.Model)
		}
	}
	if adjust != nil {
		adjust(&c)
	}
	if !c.UsesDefault() {
		return c, nil
	}
	provider, model := "", ""
	if e.DefaultModel != nil {
		if provider, model, err = e.DefaultModel(ctx); err != nil {
			return c, err
		}
	}
	if provider == "" {
		return c, NoProvider(c.Name)
	}
	return c.WithDefault(provider, model), nil
}

// NoProvider is the error of an actor that asks for a model where none is set
// up.
func NoProvider(who string) error {
	return fault.New(fault.Unavailable, "%s asks a model, and no provider of models is set up", who).WithCode("NoProvider").
		WithHint("set a key such as ANTHROPIC_API_KEY, or start a local server such as Ollama, or take what needs no model: agents run builtin/command, agents demo")
}

// Flat returns the actor with the actors that its nodes name in their place.
func (e *Engine) Flat(ctx context.Context, c actor.Config) (actor.Config, error) {
	return c.Flatten(e.FindActor(ctx))
}

// FindActor is Actor as the words of package actor take it.
func (e *Engine) FindActor(ctx context.Context) func(name string) (actor.Config, error) {
	return func(name string) (actor.Config, error) {
		c, _, err := e.Actor(ctx, name)
		return c, err
	}
}

// noActor is the error of a name that no actor has, with those that are like it.
func (e *Engine) noActor(ctx context.Context, name string) error {
	var have []string
	for _, c := range e.Actors {
		have = append(have, c.Name)
	}
	err := e.Store.View(ctx, func(tx Tx) error {
		all, err := tx.Actors()
		for _, c := range all {
			have = append(have, c.Name)
		}
		return err
	})
	if err != nil {
		return err
	}
	hint := "agents actor list shows those that exist"
	if near := ident.Nearest(name, have); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "? " + hint
	}
	return fault.New(fault.NotFound, "no actor %s", name).WithHint("%s", hint)
}
