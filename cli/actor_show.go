package cli

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/actor"
)

type actorShow struct{ app *app }

func newActorShow(a *app) *cobra.Command {
	o := &actorShow{a}
	return &cobra.Command{
		Use: "show <actor>", Aliases: []string{"get"},
		Short:       "Show one actor",
		Long:        "Show one actor whole: its model and instructions, or the nodes of its graph.",
		Example:     "  agents actor show builtin/fix-tests-execution",
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
		if !x.IsGraph() {
			p.field("tools", toolList(x.Tools))
		}
		for _, key := range slices.Sorted(maps.Keys(x.State)) {
			p.field("state", strings.TrimSpace(key+" "+string(x.State[key].Reducer)))
		}
		for _, n := range x.Graph {
			drawNode(p, n)
		}
		for _, n := range x.Graph {
			p.block("input of "+n.ID, n.Input)
			if n.Model != nil {
				p.block("prompt of "+n.ID, n.Model.Prompt)
			}
		}
		p.block("prompt", x.Prompt)
	}}
}

func toolList(tools *[]string) string {
	switch {
	case tools == nil:
		return "any"
	case len(*tools) == 0:
		return "none"
	}
	return strings.Join(*tools, ", ")
}

// drawNode shows a node of a graph and where it leads.
func drawNode(p *printer, n actor.Node) {
	line := n.ID + ": " + n.What()
	if n.Save != "" {
		line += ", saved as " + n.Save
	}
	for _, a := range (actor.Config{Graph: []actor.Node{n}}).Arrows() {
		if a.To == actor.End && n.Next == "" && a.Why != "error" && len(n.Edges) == 0 {
			continue // the one below, or the end
		}
		switch a.Why {
		case "", "else":
			line += ", then " + a.To
		case "error", "rejected":
			line += ", when " + a.Why + " " + a.To
		default:
			line += ", to " + a.To + " if " + a.Why
		}
	}
	p.field("node", line)
}
