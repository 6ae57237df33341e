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
}

func newActionList(a *app) *cobra.Command {
	o := &actionList{app: a}
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"},
		Short:       "List actions",
		Long:        "List the actions that exist, built-in ones too, by name.",
		Example:     "  agents action list\n  agents action list --namespace builtin",
		Annotations: does(a2a.ActionList().Method),
		Args:        between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.query.State = action.State(o.state)
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.query.Namespace, "namespace", "", "only of this namespace")
	cmd.Flags().StringVar(&o.state, "state", "", "only draft, available or archived ones")
	return cmd
}

func (o *actionList) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.ActionList(), o.query)
	if err != nil {
		return err
	}
	o.app.put(output{schema: "agents.action-list.v1", data: v, human: func(p *printer) {
		var rows [][]any
		for _, x := range v.Actions {
			rows = append(rows, []any{p.bold(x.Action.Name), string(x.Action.State), x.Action.Description})
		}
		p.rows([]string{"name", "state", "description"}, rows)
	}})
	return nil
}
