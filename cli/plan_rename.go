package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type planRename struct {
	app *app
	req a2a.PlanRenameRequest
}

func newPlanRename(a *app) *cobra.Command {
	o := &planRename{app: a}
	return &cobra.Command{
		Use:         "rename <plan> <name>",
		Short:       "Give a plan another name",
		Long:        "Give a plan another name, also while it is being run. Its id stays.",
		Example:     "  agents plan rename @last parser-fix",
		Annotations: does(a2a.PlanRename().Method),
		Args:        between(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.req.Ref, o.req.Name = args[0], args[1]
			return o.run(cmd.Context())
		},
	}
}

func (o *planRename) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.PlanRename(), o.req)
	if err != nil {
		return err
	}
	o.app.put(summaryOutput(v))
	return nil
}

// summaryOutput is a plan in a few lines.
func summaryOutput(v a2a.PlanSummary) output {
	return output{schema: "agents.plan-summary.v1", data: v, human: func(p *printer) {
		p.printf("%s %s %s %s", p.bold(v.Name), p.dim(p.short(string(v.ID))), stateWord(p.styles, v.Status), heldWord(v.Held))
		p.field("labels", labelWords(v.Labels))
		if v.Archived {
			p.field("archived", "yes")
		}
		if v.Imported {
			p.field("imported", "yes")
		}
	}}
}
