package local

import (
	"context"
	"slices"
	"strings"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

func (f *Facade) actorHandlers() []a2a.Handler {
	return []a2a.Handler{
		a2a.Handle(a2a.ActorAdd(), f.actorAdd),
		a2a.Handle(a2a.ActorList(), f.actorList),
		a2a.Handle(a2a.ActorShow(), f.actorShow),
		a2a.Handle(a2a.ActorValidate(), f.actorValidate),
		a2a.Handle(a2a.ActorRemove(), f.actorRemove),
		a2a.Handle(a2a.ActorGraph(), f.actorGraph),
		a2a.Handle(a2a.ActorRun(), f.actorRun),
	}
}

// actorSource reads the actor of a request and checks it whole: its graph, the
// actors it names, and its tools.
func (f *Facade) actorSource(ctx context.Context, q a2a.ActorSource) (actor.Config, error) {
	if q.Name != "" && q.Text == "" {
		c, _, err := f.Engine.Actor(ctx, q.Name)
		if err != nil {
			return c, err
		}
		if err := c.Validate(); err != nil {
			return c, err
		}
		if _, err := f.Engine.Flat(ctx, c); err != nil {
			return c, fault.New(fault.As(err).Kind, "actor %s: %w", c.Name, err).WithHint("%s", fault.As(err).Hint)
		}
		return c, f.toolsExist("actor "+c.Name, c)
	}
	c, err := actor.Parse(q.File, []byte(q.Text))
	if err != nil {
		return c, err
	}
	find := f.Engine.FindActor(ctx)
	err = c.Check(q.File, []byte(q.Text), func(name string) (actor.Config, error) {
		if full, err := ident.Canonical(name); err == nil && full == c.Name {
			return c, nil // what is checked is not stored yet
		}
		return find(name)
	})
	if err != nil {
		return c, err
	}
	return c, f.toolsExist(q.File, c)
}

func (f *Facade) actorAdd(ctx context.Context, q a2a.ActorSource, _ func(plan.Event)) (a2a.ActorView, error) {
	q.Name = ""
	c, err := f.actorSource(ctx, q)
	if err != nil {
		return a2a.ActorView{}, err
	}
	if err := f.notBuiltin(c.Name); err != nil {
		return a2a.ActorView{}, err
	}
	err = f.update(ctx, func(tx engine.Tx) error { return tx.PutActor(c, q.Update) })
	if fault.Is(err, fault.Exists) {
		err = fault.New(fault.Exists, "actor %s exists", c.Name).WithHint("add --update to replace it")
	}
	return a2a.ActorView{Actor: c}, err
}

func (f *Facade) notBuiltin(name string) error {
	for _, b := range f.Engine.Actors {
		if b.Name == name {
			return fault.New(fault.Exists, "actor %s is built in", name).WithHint("choose another name")
		}
	}
	return nil
}

// toolsExist refuses an actor that names a tool there is not.
func (f *Facade) toolsExist(where string, c actor.Config) error {
	var have []string
	for _, s := range f.Engine.Tools.Specs() {
		have = append(have, s.Name)
	}
	for _, name := range c.ToolNames() {
		if slices.Contains(have, name) {
			continue
		}
		hint := "there are: " + strings.Join(have, ", ")
		if near := ident.Nearest(name, have); len(near) > 0 {
			hint = "did you mean " + strings.Join(near, " or ") + "? " + hint
		}
		return fault.New(fault.Invalid, "%s: actor %s names tool %s, which does not exist", where, c.Name, name).WithHint("%s", hint)
	}
	return nil
}

func (f *Facade) actorValidate(ctx context.Context, q a2a.ActorSource, _ func(plan.Event)) (a2a.ActorView, error) {
	c, err := f.actorSource(ctx, q)
	return a2a.ActorView{Actor: c}, err
}

func (f *Facade) actorList(ctx context.Context, _ a2a.Nothing, _ func(plan.Event)) (a2a.ActorsView, error) {
	out := a2a.ActorsView{Actors: []a2a.ActorView{}}
	for _, c := range f.Engine.Actors {
		out.Actors = append(out.Actors, a2a.ActorView{Actor: c, Builtin: true})
	}
	err := f.view(ctx, func(tx engine.Tx) error {
		all, err := tx.Actors()
		for _, c := range all {
			out.Actors = append(out.Actors, a2a.ActorView{Actor: c})
		}
		return err
	})
	return out, err
}

func (f *Facade) actorShow(ctx context.Context, q a2a.NameQuery, _ func(plan.Event)) (a2a.ActorView, error) {
	c, builtin, err := f.Engine.Actor(ctx, q.Name)
	return a2a.ActorView{Actor: c, Builtin: builtin}, err
}

// actorRemove forgets an actor that no stored action and no other actor names.
func (f *Facade) actorRemove(ctx context.Context, q a2a.NameQuery, _ func(plan.Event)) (a2a.ActorView, error) {
	c, builtin, err := f.Engine.Actor(ctx, q.Name)
	if err != nil {
		return a2a.ActorView{}, err
	}
	if builtin {
		return a2a.ActorView{}, fault.New(fault.Invalid, "actor %s is built in and cannot be removed", c.Name)
	}
	is := func(name string) bool {
		full, err := ident.Canonical(name)
		return err == nil && full == c.Name
	}
	err = f.update(ctx, func(tx engine.Tx) error {
		var users []string
		actions, err := tx.Actions()
		if err != nil {
			return err
		}
		for _, a := range actions {
			if slices.ContainsFunc(a.Actors(), is) {
				users = append(users, "action "+a.Name)
			}
		}
		actors, err := tx.Actors()
		if err != nil {
			return err
		}
		for _, a := range actors {
			if a.Name != c.Name && slices.ContainsFunc(a.Graph, func(n actor.Node) bool { return is(n.Actor) }) {
				users = append(users, "actor "+a.Name)
			}
		}
		if len(users) > 0 {
			return fault.New(fault.Conflict, "actor %s is named by %s", c.Name, strings.Join(users, ", ")).
				WithHint("give them another actor first: agents actor add --update, agents action create --update")
		}
		return tx.RemoveActor(c.Name)
	})
	return a2a.ActorView{Actor: c}, err
}

func (f *Facade) actorGraph(ctx context.Context, q a2a.ActorGraphQuery, _ func(plan.Event)) (a2a.ActorGraphView, error) {
	c, _, err := f.Engine.Actor(ctx, q.Name)
	if err != nil {
		return a2a.ActorGraphView{}, err
	}
	if c, err = f.Engine.Flat(ctx, c); err != nil {
		return a2a.ActorGraphView{}, err
	}
	v := a2a.ActorGraphView{Actor: c, Arrows: []a2a.ActorArrow{}}
	for _, a := range c.Arrows() {
		v.Arrows = append(v.Arrows, a2a.ActorArrow{From: a.From, To: a.To, Why: a.Why})
	}
	switch q.Export {
	case "":
	case "dot":
		v.Drawn = c.Dot()
	case "mermaid":
		v.Drawn = c.Mermaid()
	default:
		return v, fault.New(fault.Invalid, "an actor cannot be drawn as %q", q.Export).WithHint("one of: dot, mermaid")
	}
	return v, nil
}

// askAction is the action of a conversation outside any other plan.
const askAction = "builtin/ask"

func (f *Facade) actorRun(ctx context.Context, q a2a.ActorRunRequest, emit func(plan.Event)) (a2a.PlanOutcome, error) {
	if strings.TrimSpace(q.Prompt) == "" {
		return a2a.PlanOutcome{}, fault.New(fault.Invalid, "the prompt is empty: there is nothing to ask")
	}
	if q.MaxTurns < 0 {
		return a2a.PlanOutcome{}, fault.New(fault.Invalid, "max-turns is negative")
	}
	c, _, err := f.Engine.Actor(ctx, q.Actor)
	if err != nil {
		return a2a.PlanOutcome{}, err
	}
	if q.Tools != nil {
		if c.IsGraph() {
			return a2a.PlanOutcome{}, fault.New(fault.Invalid, "actor %s is a graph, whose nodes have their own tools: --tool is for one model", c.Name)
		}
		if err := f.toolsExist("--tool", actor.Config{Name: q.Actor, Model: actor.DefaultModel, Tools: q.Tools}); err != nil {
			return a2a.PlanOutcome{}, err
		}
	}
	project, err := f.projectToUse(ctx, q.Project, false)
	if err != nil {
		return a2a.PlanOutcome{}, err
	}
	return f.usePlan(ctx, engine.UseInput{
		Action: askAction, Project: project, Prompt: q.Prompt, Profile: "ci", ExecutionActor: q.Actor, NoInput: q.NoInput,
		Adjust: func(c *actor.Config) {
			if q.Tools != nil {
				c.Tools = q.Tools
			}
			if q.MaxTurns > 0 {
				c.MaxTurns = q.MaxTurns
			}
		},
	}, true, emit)
}
