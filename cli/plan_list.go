package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/plan"
)

type planList struct {
	app          *app
	phase, state string
	limit        int
	all          bool
	labels       []string
}

func newPlanList(a *app) *cobra.Command {
	o := &planList{app: a}
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"},
		Short:       "List plans",
		Long:        "List plans, newest first: of all projects, or of the one that -p names. Those that\nare archived are left out unless --all is given.",
		Example:     "  agents plan list --state waiting\n  agents plan list -p . --limit 5\n  agents plan list --all --label team=red",
		Annotations: using(does(a2a.PlanList().Method), "project", "wide"),
		Args:        between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.limit < 1 {
				return usage(cmd.CommandPath(), "--limit %d is less than 1", o.limit)
			}
			return o.run(cmd.Context(), cmd.CommandPath())
		},
	}
	cmd.Flags().StringVar(&o.phase, "phase", "", "only in action, strategize, execute or apply")
	cmd.Flags().StringVar(&o.state, "state", "", "only in this state, such as waiting or applied")
	cmd.Flags().BoolVar(&o.all, "all", false, "the archived ones too")
	cmd.Flags().StringArrayVar(&o.labels, "label", nil, "only with this label, as key=value; repeatable")
	cmd.Flags().IntVar(&o.limit, "limit", 30, "at most so many")
	return cmd
}

func (o *planList) run(ctx context.Context, command string) error {
	q := a2a.PlanListQuery{
		Project: o.app.project(), Phase: plan.Phase(o.phase), State: plan.State(o.state), Limit: o.limit,
		All: o.all,
	}
	if len(o.labels) > 0 {
		q.Labels = map[string]string{}
	}
	if err := pairs(command, "--label", o.labels, q.Labels); err != nil {
		return err
	}
	v, err := call(ctx, o.app, a2a.PlanList(), q)
	if err != nil {
		return err
	}
	o.app.put(output{schema: "agents.plan-list.v1", data: v, human: func(p *printer) {
		var rows [][]any
		for _, x := range v.Plans {
			rows = append(rows, []any{p.bold(shortID(x.ID)), x.Name, x.Project, x.Action, stateWord(p.styles, x.Status), x.Reason})
		}
		p.rows([]string{"id", "name", "project", "action", "state", "reason"}, rows)
	}})
	return nil
}
