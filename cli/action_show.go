package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type actionShow struct{ app *app }

func newActionShow(a *app) *cobra.Command {
	o := &actionShow{a}
	return &cobra.Command{
		Use: "show <action>", Aliases: []string{"get"},
		Short:       "Show one action",
		Long:        "Show one action whole: what is to be done, when it is done, its arguments and checks.",
		Example:     "  agents action show builtin/command",
		Annotations: does(a2a.ActionShow().Method),
		Args:        between(1, 1),
		RunE:        func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0]) },
	}
}

func (o *actionShow) run(ctx context.Context, name string) error {
	v, err := call(ctx, o.app, a2a.ActionShow(), a2a.NameQuery{Name: name})
	if err != nil {
		return err
	}
	o.app.put(actionOutput(v))
	return nil
}

func actionOutput(v a2a.ActionView) output {
	return output{schema: "agents.action.v1", data: v, human: func(p *printer) { drawAction(p, v) }}
}

func drawAction(p *printer, v a2a.ActionView) {
	x := v.Action
	origin := ""
	if v.Builtin {
		origin = "built-in"
	}
	p.printf("%s %s", p.bold(x.Name), p.dim(strings.TrimSpace(string(x.State)+" "+origin)))
	p.field("strategy", x.StrategyActor)
	p.field("execution", x.ExecutionActor)
	p.field("estimation", x.EstimationActor)
	p.field("invariants", x.InvariantActor)
	p.field("profile", x.AutomationProfile)
	if x.ReadOnly {
		p.field("changes", "nothing (read-only)")
	}
	p.block("description", x.Description)
	p.block("definition of done", x.DefinitionOfDone)
	for _, g := range x.Args {
		word := "optional"
		switch {
		case g.Required:
			word = "required"
		case g.Default != nil:
			word = "default " + *g.Default
		}
		p.field("argument", strings.TrimSpace(g.Name+" ("+string(g.Type)+", "+word+") "+g.Description))
	}
	for _, i := range x.Invariants {
		p.field("invariant", i)
	}
	for _, c := range x.Validations {
		run := c.Command
		if run == "" {
			run = strings.Join(c.Argv, " ")
		}
		p.field("validation", c.Name+" ("+string(c.Mode)+"): "+run)
	}
}
