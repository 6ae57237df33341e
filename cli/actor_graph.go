package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type actorGraph struct {
	app    *app
	export string
}

func newActorGraph(a *app) *cobra.Command {
	o := &actorGraph{app: a}
	cmd := &cobra.Command{
		Use:   "graph <actor>",
		Short: "Draw the graph of an actor",
		Long: `Show the nodes of an actor and the ways between them, with the actors that it names
in their place: what a plan runs. --export writes it for Graphviz (dot) or Mermaid;
json is the same as --format json.`,
		Example:     "  agents actor graph builtin/fix-tests-execution\n  agents actor graph fixer --export mermaid",
		Annotations: does(a2a.ActorGraph().Method),
		Args:        between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.export == "json" {
				if a.flags.format != "" && a.format != JSON {
					return usage(cmd.CommandPath(), "--export json and --format %s do not go together", a.format)
				}
				a.format, o.export = JSON, ""
			}
			return o.run(cmd.Context(), args[0])
		},
	}
	cmd.Flags().StringVar(&o.export, "export", "", "dot, json or mermaid")
	return cmd
}

func (o *actorGraph) run(ctx context.Context, name string) error {
	v, err := call(ctx, o.app, a2a.ActorGraph(), a2a.ActorGraphQuery{Name: name, Export: o.export})
	if err != nil {
		return err
	}
	o.app.put(output{schema: "agents.actor-graph.v1", data: v, human: func(p *printer) {
		if v.Drawn != "" {
			for line := range strings.Lines(v.Drawn) {
				p.printf("%s", strings.TrimSuffix(line, "\n"))
			}
			return
		}
		p.printf("%s %s", p.bold(v.Actor.Name), p.dim(actorKind(v.Actor)))
		for _, n := range v.Actor.Graph {
			p.field("node", n.ID+": "+n.What())
		}
		var rows [][]any
		for _, a := range v.Arrows {
			rows = append(rows, []any{a.From, a.To, a.Why})
		}
		if len(rows) > 0 {
			p.printf("")
			p.rows([]string{"from", "to", "when"}, rows)
		}
	}})
	return nil
}
