package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type actionValidate struct {
	app    *app
	config string
}

func newActionValidate(a *app) *cobra.Command {
	o := &actionValidate{app: a}
	cmd := &cobra.Command{
		Use:         "validate {<action> | --config <file>}",
		Short:       "Check an action and store nothing",
		Long:        "Check a stored action, or the YAML file of one. An error names the file and the line.",
		Example:     "  agents action validate --config fix-tests.yaml\n  agents action validate fix-tests",
		Annotations: does(a2a.ActionValidate().Method),
		Args:        between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (o.config == "") == (len(args) == 0) {
				return usage(cmd.CommandPath(), "give either a stored action or --config <file>")
			}
			src := a2a.ActionSource{File: o.config}
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
	cmd.Flags().StringVarP(&o.config, "config", "f", "", "YAML file of the action; - is standard input")
	return cmd
}

func (o *actionValidate) run(ctx context.Context, src a2a.ActionSource) error {
	v, err := call(ctx, o.app, a2a.ActionValidate(), src)
	if err != nil {
		return err
	}
	out := actionOutput(v)
	out.human = func(p *printer) { p.printf("%s %s", p.bold(v.Action.Name), p.good("is valid")) }
	o.app.put(out)
	return nil
}
