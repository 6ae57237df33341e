package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type planPause struct{ app *app }

func newPlanPause(a *app) *cobra.Command {
	o := &planPause{a}
	return &cobra.Command{
		Use:   "pause [<plan>]",
		Short: "Stop a plan at its next safe point",
		Long: `Ask a plan to stop. One that is being run elsewhere stops at its next safe point;
one that nobody runs is paused at once. "agents plan resume" goes on.`,
		Example:     "  agents plan pause @last",
		Annotations: does(a2a.PlanPause().Method),
		Args:        between(0, 1),
		RunE:        func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), refOr(args)) },
	}
}

func (o *planPause) run(ctx context.Context, ref string) error {
	v, err := call(ctx, o.app, a2a.PlanPause(), a2a.RefQuery{Ref: ref})
	if err != nil {
		return err
	}
	o.app.put(outcomeOutput(v))
	return nil
}
