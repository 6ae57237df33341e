package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/plan"
)

type approvalList struct {
	app   *app
	query a2a.ApprovalListQuery
	list[plan.Approval]
}

func approvalColumns() []column[plan.Approval] {
	type row = plan.Approval
	return []column[row]{
		{name: "id", value: func(x row) any { return id(x.ID) }},
		{name: "plan", value: func(x row) any { return id(x.Plan) }},
		{name: "kind", value: func(x row) any { return string(x.Kind) }},
		{name: "state", value: func(x row) any { return string(x.State) }, draw: func(p *printer, x row) any { return approvalState(p, x.State) }},
		{name: "created", value: func(x row) any { return x.Created.UTC().Format(time.RFC3339) }, when: onTerminal, spare: true, draw: func(p *printer, x row) any { return p.when(x.Created) }},
		{name: "summary", value: func(x row) any { return x.Summary + choices(x.Choices) }},
	}
}

func newApprovalList(a *app) *cobra.Command {
	o := &approvalList{app: a, list: list[plan.Approval]{columns: approvalColumns()}}
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"},
		Short:       "List what waits for a person",
		Long:        "List the open approvals of all plans, oldest first.",
		Example:     "  agents approval list\n  agents approval list --plan @last --all",
		Annotations: using(does(a2a.ApprovalList().Method), "wide"),
		Args:        between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			o.query.All = o.all
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.query.Plan, "plan", "", "only of this plan")
	o.bind(cmd, "the decided ones too")
	return cmd
}

func (o *approvalList) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.ApprovalList(), o.query)
	if err != nil {
		return err
	}
	var warnings []string
	v.Approvals, warnings = o.take(v.Approvals)
	out := approvalsOutput(v)
	out.warnings = warnings
	o.app.put(out)
	return nil
}

func approvalsOutput(v a2a.ApprovalsView) output {
	out := output{schema: "agents.approval-list.v1", data: v, human: func(p *printer) {
		(&list[plan.Approval]{columns: approvalColumns()}).table(p, v.Approvals)
	}}
	if v.Next != "" {
		out.next = []string{v.Next}
	}
	return out
}

// choices are the answers that a question offers, in one line.
func choices(all []string) string {
	out := ""
	for i, c := range all {
		out += fmt.Sprintf(" [%d: %s]", i+1, c)
	}
	return out
}

func approvalState(p *printer, s plan.ApprovalState) safe {
	switch s {
	case plan.Open:
		return p.warn(s)
	case plan.Rejected:
		return p.bad(s)
	case plan.Approved, plan.Answered:
		return p.good(s)
	}
	return p.dim(s)
}
