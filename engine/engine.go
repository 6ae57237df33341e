package engine

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/cleveragents/agents/action"
	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/tool"
)

// Config is everything an Engine needs; every field is required but BuiltinActor,
// Price, Window, DefaultModel, Confined, Sleep, Actions and Actors, the built-in entities that exist without being stored.
type Config struct {
	Store     Store
	Blobs     Blobs
	Model     Model
	Sandboxes Sandboxes
	Target    Target
	Tools     Toolbox
	Checker   Checker
	Programs  Programs // what a person runs; no plan needs it
	Runner    Runner
	Live      Liveness
	IDs       *ident.Source
	Now       func() time.Time
	Log       *slog.Logger
	Actions   []action.Action
	Actors    []actor.Config
	// Model actors that need no file: BuiltinActor returns the actor of a name
	// provider/model, and false for a name that is something else; nil has none.
	BuiltinActor func(ctx context.Context, name string) (actor.Config, bool, error)
	// Price returns what a call costs in USD, and whether that is known; nil
	// knows no price.
	Price func(provider, model string, u actor.Usage) (usd float64, known bool)
	// Window returns how many tokens a model takes, prompt and answer together,
	// and how many of them an answer may take that nobody bounds; 0 is not known.
	// Nil knows of no model.
	Window func(provider, model string) (tokens, answer int)
	// DefaultModel chooses the model of actors that name none (actor.DefaultModel)
	// when a plan is made; no provider means that none is set up.
	DefaultModel func(ctx context.Context) (provider, model string, err error)
	// Confined is nil when programs can be confined here, or why not; nil asks
	// nobody, and the hands refuse what they must.
	Confined func(ctx context.Context) error
	// Sleep waits for a time or the end of the context; nil waits for real.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Engine is the rules of the plan lifecycle over the hands it was given. Safe
// for concurrent use; different plans run side by side.
type Engine struct {
	Config
	specs   map[string]tool.Spec
	schemas sync.Map // tool name → *jsonschema.Resolved
	held    sync.Map // ident.PlanID → true, while this process carries it on
}

// New returns an engine. It starts nothing.
func New(c Config) *Engine {
	e := &Engine{Config: c, specs: map[string]tool.Spec{}}
	for _, s := range c.Tools.Specs() {
		e.specs[s.Name] = s
	}
	return e
}

// schema returns the compiled input schema of a tool, made on first use.
func (e *Engine) schema(s tool.Spec) (*jsonschema.Resolved, error) {
	if got, ok := e.schemas.Load(s.Name); ok {
		return got.(*jsonschema.Resolved), nil
	}
	var raw jsonschema.Schema
	if err := json.Unmarshal(s.Input, &raw); err != nil {
		return nil, fault.New(fault.Internal, "schema of tool %s: %w", s.Name, err)
	}
	resolved, err := raw.Resolve(nil)
	if err != nil {
		return nil, fault.New(fault.Internal, "schema of tool %s: %w", s.Name, err)
	}
	e.schemas.Store(s.Name, resolved)
	return resolved, nil
}

// Action returns the built-in or stored action of that name.
func (e *Engine) Action(ctx context.Context, name string) (a action.Action, builtin bool, err error) {
	canonical, err := ident.Canonical(name)
	if err != nil {
		return action.Action{}, false, err
	}
	for _, b := range e.Actions {
		if b.Name == canonical {
			return b, true, nil
		}
	}
	err = e.Store.View(ctx, func(tx Tx) error {
		a, err = tx.Action(canonical)
		return err
	})
	if fault.Is(err, fault.NotFound) {
		err = fault.New(fault.NotFound, "no action %s", canonical).WithHint("agents action list shows those that exist")
	}
	return a, false, err
}

// Actor returns the built-in or stored actor of that name.
func (e *Engine) Actor(ctx context.Context, name string) (c actor.Config, builtin bool, err error) {
	canonical, err := ident.Canonical(name)
	if err != nil {
		if c, ok, merr := e.modelActor(ctx, name); ok { // a model's id may hold more than a name may
			return c, true, merr
		}
		return actor.Config{}, false, err
	}
	for _, b := range e.Actors {
		if b.Name == canonical {
			return b, true, nil
		}
	}
	err = e.Store.View(ctx, func(tx Tx) error {
		c, err = tx.Actor(canonical)
		return err
	})
	if !fault.Is(err, fault.NotFound) {
		return c, false, err
	}
	if c, ok, merr := e.modelActor(ctx, name); ok {
		return c, true, merr
	}
	return c, false, e.noActor(ctx, canonical)
}

// modelActor is the actor that is one model, by its name provider/model.
func (e *Engine) modelActor(ctx context.Context, name string) (actor.Config, bool, error) {
	if e.BuiltinActor == nil {
		return actor.Config{}, false, nil
	}
	return e.BuiltinActor(ctx, name)
}

// event makes an event of the plan; the store numbers it when it is appended.
func (e *Engine) event(id ident.PlanID, kind string, data any) plan.Event {
	b, err := json.Marshal(data)
	if err != nil { // data are our own maps of plain values
		b = []byte(`{}`)
		e.Log.Error("event data does not encode", "type", kind, "err", err)
	}
	return plan.Event{Plan: id, At: e.Now(), Type: kind, Data: b}
}

// fields is the data of an event.
type fields map[string]any
