package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/action"
)

type actionList struct {
	app   *app
	query a2a.ActionListQuery
	state string
	list[a2a.ActionView]
}

func actionColumns() []column[a2a.ActionView] {
	type row = a2a.ActionView
	return []column[row]{
		{name: "name", value: func(x row) any { return x.Action.Name }, draw: func(p *printer, x row) any { return p.bold(x.Action.Name) }},
		{name: "state", value: func(x row) any { return string(x.Action.State) }},
		{name: "builtin", value: func(x row) any { return x.Builtin }, when: onWide},
		{name: "description", value: func(x row) any { return x.Action.Description }},
	}
}

func newActionList(a *app) *cobra.Command {
	o := &actionList{app: a, list: list[a2a.ActionView]{columns: actionColumns()}}
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"},
		Short:       "List actions",
		Long:        "List the actions that exist, built-in ones too, by name.",
		Example:     "  agents action list\n  agents action list --namespace builtin",
		Annotations: using(does(a2a.ActionList().Method), "wide"),
		Args:        between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			o.query.State = action.State(o.state)
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.query.Namespace, "namespace", "", "only of this namespace")
	cmd.Flags().StringVar(&o.state, "state", "", "only draft, available or archived ones")
	o.bind(cmd, "")
	return cmd
}

func (o *actionList) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.ActionList(), o.query)
	if err != nil {
		return err
	}
	out := output{schema: "agents.action-list.v1"}
	v.Actions, out.warnings = o.take(v.Actions)
	out.data, out.human = v, func(p *printer) { o.table(p, v.Actions) }
	o.app.put(out)
	return nil
}
