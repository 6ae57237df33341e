package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type planStatus struct{ app *app }

func newPlanStatus(a *app) *cobra.Command {
	o := &planStatus{a}
	return &cobra.Command{
		Use:         "status [<plan>]",
		Short:       "Show where a plan is and what is next",
		Long:        "Show in short where a plan is, why it stopped, and the commands that go on.",
		Example:     "  agents plan status\n  agents plan status @last --format json",
		Annotations: using(does(a2a.PlanStatus().Method), "wide"),
		Args:        between(0, 1),
		RunE:        func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), refOr(args)) },
	}
}

func (o *planStatus) run(ctx context.Context, ref string) error {
	v, err := call(ctx, o.app, a2a.PlanStatus(), a2a.RefQuery{Ref: ref})
	if err != nil {
		return err
	}
	o.app.put(outcomeOutput(v))
	return nil
}
