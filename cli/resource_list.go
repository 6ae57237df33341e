package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type resourceList struct {
	app   *app
	query a2a.ResourceListQuery
	list[a2a.ResourceView]
}

func resourceColumns() []column[a2a.ResourceView] {
	type row = a2a.ResourceView
	return []column[row]{
		{name: "id", value: func(x row) any { return id(x.Resource.ID) }},
		{name: "name", value: func(x row) any { return x.Resource.Name }, draw: func(p *printer, x row) any { return p.bold(x.Resource.Name) }},
		{name: "type", value: func(x row) any { return x.Resource.Type }},
		{name: "projects", value: func(x row) any { return strings.Join(x.Projects, ",") }},
		{name: "created", value: func(x row) any { return x.Resource.Created.UTC().Format(time.RFC3339) }, when: onWide},
		{name: "location", value: func(x row) any { return x.Resource.Location }},
	}
}

func newResourceList(a *app) *cobra.Command {
	o := &resourceList{app: a, list: list[a2a.ResourceView]{columns: resourceColumns()}}
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"},
		Short:       "List resources",
		Long:        "List the registered resources and the projects that link them.",
		Example:     "  agents resource list --type git-checkout",
		Annotations: using(does(a2a.ResourceList().Method), "wide"),
		Args:        between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.query.Type, "type", "", "only of this type")
	o.bind(cmd, "")
	return cmd
}

func (o *resourceList) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.ResourceList(), o.query)
	if err != nil {
		return err
	}
	out := output{schema: "agents.resource-list.v1"}
	v.Resources, out.warnings = o.take(v.Resources)
	out.data, out.human = v, func(p *printer) { o.table(p, v.Resources) }
	o.app.put(out)
	return nil
}
