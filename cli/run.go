package cli

import (
	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

func newRun(a *app) *cobra.Command {
	o := &planUse{app: a}
	cmd := &cobra.Command{
		Use:   "run <action>",
		Short: "Make a plan and carry it as far as its profile allows",
		Long: `Make a plan from an action and go through its phases as far as the profile allows.
Exit 0 means that the changes are applied; 4 that a person has to act first: the
next command is printed.`,
		Example: `  agents run builtin/command --arg command='gofmt -w .'
  agents run fix-tests -p . --automation-profile ci --no-input --format jsonl`,
		Annotations: using(does(a2a.PlanUse().Method), "project"),
		Args:        between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.fill(cmd.CommandPath(), args[0]); err != nil {
				return err
			}
			o.req.Start = true
			return follow(cmd.Context(), a, a2a.PlanUse(), o.req, toApplied)
		},
	}
	o.bind(cmd)
	return cmd
}
