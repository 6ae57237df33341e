package cli

import (
	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

func newPlanExecute(a *app) *cobra.Command {
	return &cobra.Command{
		Use:         "execute [<plan>]",
		Short:       "Do the task in a copy and check the outcome",
		Long:        "Begin Execute: the actor works in a copy of the resources, and the validations run\nthere. The plan goes on after that as far as its profile allows.",
		Example:     "  agents plan execute @last\n  agents plan diff",
		Annotations: does(a2a.PlanExecute().Method),
		Args:        between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return follow(cmd.Context(), a, a2a.PlanExecute(), a2a.RefQuery{Ref: refOr(args)}, toExecute)
		},
	}
}
