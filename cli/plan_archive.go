package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type planArchive struct {
	app *app
	req a2a.PlanArchiveRequest
}

func newPlanArchive(a *app) *cobra.Command {
	o := &planArchive{app: a}
	cmd := &cobra.Command{
		Use:   "archive <plan>",
		Short: "Hide a plan that has ended from lists",
		Long: `Hide a plan that has ended, applied or given up, from "agents plan list" and @last.
Nothing is deleted: --all lists it, and its id and its name still find it.`,
		Example:     "  agents plan archive 7K3M\n  agents plan archive 7K3M --undo",
		Annotations: does(a2a.PlanArchive().Method),
		Args:        between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.req.Ref = args[0]
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&o.req.Undo, "undo", false, "show it again")
	return cmd
}

func (o *planArchive) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.PlanArchive(), o.req)
	if err != nil {
		return err
	}
	o.app.put(summaryOutput(v))
	return nil
}
