package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/actor"
)

type actorList struct {
	app *app
	list[a2a.ActorView]
}

func actorColumns() []column[a2a.ActorView] {
	type row = a2a.ActorView
	return []column[row]{
		{name: "name", value: func(x row) any { return x.Actor.Name }, draw: func(p *printer, x row) any { return p.bold(x.Actor.Name) }},
		{name: "works_with", value: func(x row) any { return actorKind(x.Actor) }},
		{name: "builtin", value: func(x row) any { return x.Builtin }, when: onWide},
		{name: "description", value: func(x row) any { return x.Actor.Description }},
	}
}

func newActorList(a *app) *cobra.Command {
	o := &actorList{app: a, list: list[a2a.ActorView]{columns: actorColumns()}}
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"},
		Short:       "List actors",
		Long:        "List the actors that exist, built-in ones too, by name.",
		Example:     "  agents actor list",
		Annotations: using(does(a2a.ActorList().Method), "wide"),
		Args:        between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	o.bind(cmd, "")
	return cmd
}

func (o *actorList) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.ActorList(), a2a.Nothing{})
	if err != nil {
		return err
	}
	out := output{schema: "agents.actor-list.v1"}
	v.Actors, out.warnings = o.take(v.Actors)
	out.data, out.human = v, func(p *printer) { o.table(p, v.Actors) }
	o.app.put(out)
	return nil
}

// actorKind says who works: a model or a graph.
func actorKind(c actor.Config) string {
	if c.IsGraph() {
		return fmt.Sprintf("graph of %s", plural(len(c.Graph), "node"))
	}
	if c.Single().IsDefault() {
		return "the default model"
	}
	return c.Provider + "/" + c.Model
}
