package cli

import (
	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

func newPlanRetry(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "retry [<plan>]",
		Short: "Do the step again that a plan failed at",
		Long: `Do the step once more that a plan failed at: a tool runs again, or a validation, which
no model gets a chance to fix for first. "agents plan resume" goes on from the record
instead: a tool that failed has failed, and a model may try to fix what a validation
found. Both leave everything else as it is. Exit 0 means that the changes are applied;
4 that a person has to act first.`,
		Example:     "  agents plan retry @last",
		Annotations: does(a2a.PlanRetry().Method),
		Args:        between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return follow(cmd.Context(), a, a2a.PlanRetry(), a2a.RefQuery{Ref: refOr(args)}, toApplied)
		},
	}
}
