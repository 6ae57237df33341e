package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/actor"
)

type actorList struct{ app *app }

func newActorList(a *app) *cobra.Command {
	o := &actorList{a}
	return &cobra.Command{
		Use: "list", Aliases: []string{"ls"},
		Short:       "List actors",
		Long:        "List the actors that exist, built-in ones too, by name.",
		Example:     "  agents actor list",
		Annotations: does(a2a.ActorList().Method),
		Args:        between(0, 0),
		RunE:        func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
}

func (o *actorList) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.ActorList(), a2a.Nothing{})
	if err != nil {
		return err
	}
	o.app.put(output{schema: "agents.actor-list.v1", data: v, human: func(p *printer) {
		var rows [][]any
		for _, x := range v.Actors {
			rows = append(rows, []any{p.bold(x.Actor.Name), actorKind(x.Actor), x.Actor.Description})
		}
		p.rows([]string{"name", "works with", "description"}, rows)
	}})
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
