package local

import (
	"context"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/action"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

func (f *Facade) actionHandlers() []a2a.Handler {
	return []a2a.Handler{
		a2a.Handle(a2a.ActionCreate(), f.actionCreate),
		a2a.Handle(a2a.ActionList(), f.actionList),
		a2a.Handle(a2a.ActionShow(), f.actionShow),
		a2a.Handle(a2a.ActionValidate(), f.actionValidate),
	}
}

// source reads the action that a request carries and checks it whole, with the
// actors it names.
func (f *Facade) source(ctx context.Context, q a2a.ActionSource) (action.Action, error) {
	var a action.Action
	var err error
	switch {
	case q.Action != nil:
		a = *q.Action
		if a.Name, err = ident.Canonical(a.Name); err != nil {
			return a, err
		}
		if a.State == "" {
			a.State = action.Available
		}
		err = a.Validate()
	case q.Name != "" && q.Text == "":
		a, _, err = f.Engine.Action(ctx, q.Name)
	default:
		a, err = action.Parse(q.File, []byte(q.Text))
	}
	if err != nil {
		return a, err
	}
	for _, name := range a.Actors() {
		if _, _, err := f.Engine.Actor(ctx, name); err != nil {
			where := q.File
			if where == "" {
				where = "action " + a.Name
			}
			return a, fault.New(fault.As(err).Kind, "%s: %w", where, err).WithHint("add it first: agents actor add --config FILE")
		}
	}
	return a, nil
}

func (f *Facade) actionCreate(ctx context.Context, q a2a.ActionSource, _ func(plan.Event)) (a2a.ActionView, error) {
	a, err := f.source(ctx, q)
	if err != nil {
		return a2a.ActionView{}, err
	}
	for _, b := range f.Engine.Actions {
		if b.Name == a.Name {
			return a2a.ActionView{}, fault.New(fault.Exists, "action %s is built in", a.Name).WithHint("choose another name")
		}
	}
	err = f.update(ctx, func(tx engine.Tx) error { return tx.PutAction(a, q.Update) })
	if fault.Is(err, fault.Exists) {
		err = fault.New(fault.Exists, "action %s exists", a.Name).WithHint("add --update to replace it")
	}
	return a2a.ActionView{Action: a}, err
}

func (f *Facade) actionValidate(ctx context.Context, q a2a.ActionSource, _ func(plan.Event)) (a2a.ActionView, error) {
	a, err := f.source(ctx, q)
	return a2a.ActionView{Action: a}, err
}

func (f *Facade) actionList(ctx context.Context, q a2a.ActionListQuery, _ func(plan.Event)) (a2a.ActionsView, error) {
	out := a2a.ActionsView{Actions: []a2a.ActionView{}}
	add := func(a action.Action, builtin bool) {
		n, err := ident.ParseName(a.Name)
		if err != nil || (q.Namespace != "" && n.Namespace != q.Namespace) || (q.State != "" && a.State != q.State) {
			return
		}
		out.Actions = append(out.Actions, a2a.ActionView{Action: a, Builtin: builtin})
	}
	for _, a := range f.Engine.Actions {
		add(a, true)
	}
	err := f.view(ctx, func(tx engine.Tx) error {
		all, err := tx.Actions()
		for _, a := range all {
			add(a, false)
		}
		return err
	})
	return out, err
}

func (f *Facade) actionShow(ctx context.Context, q a2a.NameQuery, _ func(plan.Event)) (a2a.ActionView, error) {
	a, builtin, err := f.Engine.Action(ctx, q.Name)
	return a2a.ActionView{Action: a, Builtin: builtin}, err
}
