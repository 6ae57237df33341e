package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/plan"
)

type approvalList struct {
	app   *app
	query a2a.ApprovalListQuery
}

func newApprovalList(a *app) *cobra.Command {
	o := &approvalList{app: a}
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"},
		Short:       "List what waits for a person",
		Long:        "List the open approvals of all plans, oldest first.",
		Example:     "  agents approval list\n  agents approval list --plan @last --all",
		Annotations: does(a2a.ApprovalList().Method),
		Args:        between(0, 0),
		RunE:        func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	cmd.Flags().StringVar(&o.query.Plan, "plan", "", "only of this plan")
	cmd.Flags().BoolVar(&o.query.All, "all", false, "the decided ones too")
	return cmd
}

func (o *approvalList) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.ApprovalList(), o.query)
	if err != nil {
		return err
	}
	o.app.put(approvalsOutput(v))
	return nil
}

func approvalsOutput(v a2a.ApprovalsView) output {
	out := output{schema: "agents.approval-list.v1", data: v, human: func(p *printer) {
		var rows [][]any
		for _, x := range v.Approvals {
			rows = append(rows, []any{p.bold(shortID(x.ID)), shortID(x.Plan), string(x.Kind), approvalState(p, x.State), x.Summary})
		}
		p.rows([]string{"id", "plan", "kind", "state", "summary"}, rows)
	}}
	if v.Next != "" {
		out.next = []string{v.Next}
	}
	return out
}

func approvalState(p *printer, s plan.ApprovalState) safe {
	switch s {
	case plan.Open:
		return p.warn(s)
	case plan.Rejected:
		return p.bad(s)
	case plan.Approved:
		return p.good(s)
	}
	return p.dim(s)
}
