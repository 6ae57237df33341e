package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type approvalApprove struct {
	app *app
	req a2a.ApproveRequest
}

func newApprovalApprove(a *app) *cobra.Command {
	o := &approvalApprove{app: a}
	cmd := &cobra.Command{
		Use:   "approve <approval>...",
		Short: "Say yes",
		Long: `Say yes to one or more approvals. A yes counts once and only for what was shown;
the plan goes on with "agents plan resume".`,
		Example:     "  agents approval approve 7K3M\n  agents approval approve @last --note 'looked at the diff'",
		Annotations: does(a2a.ApprovalApprove().Method),
		Args:        between(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.req.Refs = args
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.req.Note, "note", "", "kept with the approval")
	return cmd
}

func (o *approvalApprove) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.ApprovalApprove(), o.req)
	if err != nil {
		return err
	}
	o.app.put(approvalsOutput(v))
	return nil
}
