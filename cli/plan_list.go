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
	labels       []string
	list[a2a.PlanSummary]
}

func planColumns() []column[a2a.PlanSummary] {
	type row = a2a.PlanSummary
	return []column[row]{
		{name: "id", value: func(x row) any { return id(x.ID) }},
		{name: "name", value: func(x row) any { return x.Name }},
		{name: "project", value: func(x row) any { return x.Project }, spare: true, apart: true},
		{name: "action", value: func(x row) any { return x.Action }},
		{name: "phase", value: func(x row) any { return string(x.Phase) }, when: never},
		{
			name: "state", value: func(x row) any { return string(x.State) },
			draw: func(p *printer, x row) any { return stateWord(p.styles, x.Status) },
		},
		{name: "profile", value: func(x row) any { return x.Profile }, when: onWide},
		{name: "attempt", value: func(x row) any { return x.Attempt }, when: onWide},
		{name: "held", value: func(x row) any { return x.Held }, when: onWide},
		{name: "archived", value: func(x row) any { return x.Archived }, when: never},
		{
			name: "created", value: func(x row) any { return x.Created }, when: onTerminal, spare: true,
			draw: func(p *printer, x row) any { return p.when(moment(x.Created)) },
		},
		{name: "reason", value: func(x row) any { return x.Reason }, note: true},
	}
}

func newPlanList(a *app) *cobra.Command {
	o := &planList{app: a, list: list[a2a.PlanSummary]{columns: planColumns()}}
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"},
		Short:       "List plans",
		Long:        "List plans, newest first: of all projects, or of the one that -p names. Those that\nare archived are left out unless --all is given.",
		Example:     "  agents plan list --state waiting\n  agents plan list -p . --sort -created --limit 5\n  agents plan list --all --label team=red",
		Annotations: using(does(a2a.PlanList().Method), "project", "wide"),
		Args:        between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			return o.run(cmd.Context(), cmd.CommandPath())
		},
	}
	cmd.Flags().StringVar(&o.phase, "phase", "", "only in action, strategize, execute or apply")
	cmd.Flags().StringVar(&o.state, "state", "", "only in this state, such as waiting or applied")
	cmd.Flags().StringArrayVar(&o.labels, "label", nil, "only with this label, as `key=value`; repeatable")
	o.bind(cmd, "the archived ones too")
	return cmd
}

func (o *planList) run(ctx context.Context, command string) error {
	q := a2a.PlanListQuery{
		Project: o.app.project(), Phase: plan.Phase(o.phase), State: plan.State(o.state), Limit: o.ask(),
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
	out := output{schema: "agents.plan-list.v1"}
	v.Plans, out.warnings = o.take(v.Plans)
	out.data, out.human = v, func(p *printer) { o.table(p, v.Plans) }
	o.app.put(out)
	return nil
}
