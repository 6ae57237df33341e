package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type approvalReject struct {
	app *app
	req a2a.RejectRequest
}

func newApprovalReject(a *app) *cobra.Command {
	o := &approvalReject{app: a}
	cmd := &cobra.Command{
		Use:   "reject <approval>",
		Short: "Say no, with guidance or without",
		Long: `Say no to an approval. Guidance becomes a decision of yours, which the plan then
follows; without it the plan stays where it is.`,
		Example:     "  agents approval reject 7K3M --guidance 'keep the public names'",
		Annotations: does(a2a.ApprovalReject().Method),
		Args:        between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.req.Ref = args[0]
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.req.Guidance, "guidance", "", "what to do instead")
	return cmd
}

func (o *approvalReject) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.ApprovalReject(), o.req)
	if err != nil {
		return err
	}
	o.app.put(approvalOutput(v))
	return nil
}
