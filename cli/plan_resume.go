package cli

import (
	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

func newPlanResume(a *app) *cobra.Command {
	return &cobra.Command{
		Use:         "resume [<plan>]",
		Short:       "Go on with a plan that stopped",
		Long:        "Go on with a plan that was paused, waited for an answer, failed or was cut off by a\ncrash. Nothing that was paid for is done again. Exit 0 means that the changes are\napplied; 4 that a person has to act first.",
		Example:     "  agents plan resume @last",
		Annotations: does(a2a.PlanResume().Method),
		Args:        between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return follow(cmd.Context(), a, a2a.PlanResume(), a2a.RefQuery{Ref: refOr(args)}, toApplied)
		},
	}
}
