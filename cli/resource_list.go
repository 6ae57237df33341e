package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type resourceList struct {
	app   *app
	query a2a.ResourceListQuery
}

func newResourceList(a *app) *cobra.Command {
	o := &resourceList{app: a}
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"},
		Short:       "List resources",
		Long:        "List the registered resources and the projects that link them.",
		Example:     "  agents resource list --type git-checkout",
		Annotations: does(a2a.ResourceList().Method),
		Args:        between(0, 0),
		RunE:        func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	cmd.Flags().StringVar(&o.query.Type, "type", "", "only of this type")
	return cmd
}

func (o *resourceList) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.ResourceList(), o.query)
	if err != nil {
		return err
	}
	o.app.put(output{schema: "agents.resource-list.v1", data: v, human: func(p *printer) {
		var rows [][]any
		for _, x := range v.Resources {
			r := x.Resource
			rows = append(rows, []any{shortID(r.ID), p.bold(r.Name), r.Type, strings.Join(x.Projects, ","), r.Location})
		}
		p.rows([]string{"id", "name", "type", "projects", "location"}, rows)
	}})
	return nil
}
