package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/plan"
)

type approvalShow struct{ app *app }

func newApprovalShow(a *app) *cobra.Command {
	o := &approvalShow{a}
	return &cobra.Command{
		Use: "show <approval>", Aliases: []string{"get"},
		Short:       "Show what an approval is about",
		Long:        "Show what an approval is about, with the changes that it is bound to where there are some.",
		Example:     "  agents approval show @last",
		Annotations: does(a2a.ApprovalShow().Method),
		Args:        between(1, 1),
		RunE:        func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0]) },
	}
}

func (o *approvalShow) run(ctx context.Context, ref string) error {
	v, err := call(ctx, o.app, a2a.ApprovalShow(), a2a.RefQuery{Ref: ref})
	if err != nil {
		return err
	}
	o.app.put(approvalOutput(v))
	return nil
}

func approvalOutput(v a2a.ApprovalView) output {
	out := output{schema: "agents.approval.v1", data: v, human: func(p *printer) { drawApproval(p, v) }}
	if v.Next != "" {
		out.next = []string{v.Next}
	}
	return out
}

func drawApproval(p *printer, v a2a.ApprovalView) {
	x := v.Approval
	p.printf("approval %s %s", p.bold(x.ID), approvalState(p, x.State))
	p.field("plan", x.Plan)
	p.field("about", string(x.Kind)+" "+x.Subject)
	if x.Kind == plan.ApproveQuestion {
		p.block("question", x.Question)
		for i, c := range x.Choices {
			p.field(fmt.Sprintf("choice %d", i+1), c)
		}
		p.block("answer", x.Answer)
	} else {
		p.block("summary", x.Summary)
	}
	p.field("bound to", x.Bound)
	p.field("guidance", x.Guidance)
	p.field("note", x.Note)
	if v.Diff != nil {
		p.printf("")
		drawDiff(p, *v.Diff)
	}
}
