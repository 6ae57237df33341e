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
next command is printed. With --no-wait the plan is only made and stored, as by "agents
plan use": nothing goes on in the background.`,
		Example: `  agents run builtin/command --arg command='gofmt -w .'
  agents run fix-tests -p . --automation-profile ci --no-input --format jsonl`,
		Annotations: using(does(a2a.PlanUse().Method), "project", "wait", "no-wait"),
		Args:        between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.fill(cmd.CommandPath(), args[0]); err != nil {
				return err
			}
			goal, err := toApplied, error(nil)
			if o.req.Start, err = a.waits(cmd, true); err != nil {
				return err
			}
			if !o.req.Start {
				goal = toStop
			}
			return follow(cmd.Context(), a, a2a.PlanUse(), o.req, goal)
		},
	}
	o.bind(cmd)
	return cmd
}
