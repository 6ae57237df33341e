package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type actorValidate struct {
	app    *app
	config string
}

func newActorValidate(a *app) *cobra.Command {
	o := &actorValidate{app: a}
	cmd := &cobra.Command{
		Use:   "validate {<actor> | --config <file>}",
		Short: "Check an actor and store nothing",
		Long: `Check a stored actor, or the YAML file of one: its nodes and where they lead, its
conditions and what they look at, its tools, and the actors it names. An error names
the file and the line.`,
		Example:     "  agents actor validate --config fixer.yaml\n  agents actor validate fixer",
		Annotations: does(a2a.ActorValidate().Method),
		Args:        between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (o.config == "") == (len(args) == 0) {
				return usage(cmd.CommandPath(), "give either a stored actor or --config <file>")
			}
			src := a2a.ActorSource{File: o.config}
			if len(args) > 0 {
				src.Name = args[0]
				return o.run(cmd.Context(), src)
			}
			var err error
			if src.Text, err = a.read(o.config); err != nil {
				return err
			}
			return o.run(cmd.Context(), src)
		},
	}
	cmd.Flags().StringVarP(&o.config, "config", "f", "", "YAML file of the actor; - is standard input")
	return cmd
}

func (o *actorValidate) run(ctx context.Context, src a2a.ActorSource) error {
	v, err := call(ctx, o.app, a2a.ActorValidate(), src)
	if err != nil {
		return err
	}
	out := actorOutput(v)
	out.human = func(p *printer) { p.printf("%s %s", p.bold(v.Actor.Name), p.good("is valid")) }
	o.app.put(out)
	return nil
}
