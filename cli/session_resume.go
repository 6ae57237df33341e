package cli

import (
	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

func newSessionResume(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "resume [<session>]",
		Short: "Go on with a question that was cut off",
		Long: `Go on with the last question of a conversation when its plan was paused, failed or was
cut off by a crash. Nothing that was paid for is done again. To leave the question
unanswered, cancel its plan.`,
		Example:     "  agents session resume @last",
		Annotations: does(a2a.SessionResume().Method),
		Args:        between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return follow(cmd.Context(), a, a2a.SessionResume(), a2a.RefQuery{Ref: refOr(args)}, toApplied)
		},
	}
}
