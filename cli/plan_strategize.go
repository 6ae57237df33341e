package cli

import (
	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

func newPlanStrategize(a *app) *cobra.Command {
	return &cobra.Command{
		Use:         "strategize [<plan>]",
		Short:       "Decide how the task is done",
		Long:        "Begin Strategize: the actor looks, decides and writes nothing. The plan goes on after\nthat as far as its profile allows.",
		Example:     "  agents plan strategize @last",
		Annotations: does(a2a.PlanStrategize().Method),
		Args:        between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return follow(cmd.Context(), a, a2a.PlanStrategize(), a2a.RefQuery{Ref: refOr(args)}, toStrategize)
		},
	}
}
