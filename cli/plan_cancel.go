package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type planCancel struct {
	app *app
	req a2a.PlanCancelRequest
}

func newPlanCancel(a *app) *cobra.Command {
	o := &planCancel{app: a}
	cmd := &cobra.Command{
		Use:   "cancel <plan>",
		Short: "Give a plan up",
		Long: `Give a plan up for good. Its copy of the files is deleted unless --keep-sandbox is
given; what it recorded stays, and your files are not touched.`,
		Example:     "  agents plan cancel 7K3M --reason 'done by hand'",
		Annotations: does(a2a.PlanCancel().Method),
		Args:        between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.req.Ref = args[0]
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.req.Reason, "reason", "", "kept with the plan")
	cmd.Flags().BoolVar(&o.req.KeepSandbox, "keep-sandbox", false, "leave its copy of the files")
	return cmd
}

func (o *planCancel) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.PlanCancel(), o.req)
	if err != nil {
		return err
	}
	o.app.put(outcomeOutput(v))
	return nil
}
