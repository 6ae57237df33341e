package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type actorShow struct{ app *app }

func newActorShow(a *app) *cobra.Command {
	o := &actorShow{a}
	return &cobra.Command{
		Use: "show <actor>", Aliases: []string{"get"},
		Short:       "Show one actor",
		Long:        "Show one actor whole: its model and instructions, or the nodes of its graph.",
		Example:     "  agents actor show builtin/command",
		Annotations: does(a2a.ActorShow().Method),
		Args:        between(1, 1),
		RunE:        func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0]) },
	}
}

func (o *actorShow) run(ctx context.Context, name string) error {
	v, err := call(ctx, o.app, a2a.ActorShow(), a2a.NameQuery{Name: name})
	if err != nil {
		return err
	}
	o.app.put(actorOutput(v))
	return nil
}

func actorOutput(v a2a.ActorView) output {
	return output{schema: "agents.actor.v1", data: v, human: func(p *printer) {
		x := v.Actor
		p.printf("%s %s", p.bold(x.Name), p.dim(actorKind(x)))
		p.field("about", x.Description)
		switch {
		case x.Tools == nil:
			p.field("tools", "any")
		case len(*x.Tools) == 0:
			p.field("tools", "none")
		default:
			p.field("tools", strings.Join(*x.Tools, ", "))
		}
		for _, n := range x.Graph {
			line := n.ID + ": " + n.Tool
			if n.Next != "" {
				line += ", then " + n.Next
			}
			if n.OnError != "" {
				line += ", on error " + n.OnError
			}
			p.field("node", line)
		}
		p.block("prompt", x.Prompt)
	}}
}
