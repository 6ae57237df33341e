package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type projectList struct {
	app *app
	list[a2a.ProjectView]
}

func projectColumns() []column[a2a.ProjectView] {
	type row = a2a.ProjectView
	return []column[row]{
		{
			name: "current", value: func(x row) any { return x.Current },
			draw: func(p *printer, x row) any { return p.good(strings.Repeat("*", map[bool]int{true: 1}[x.Current])) },
		},
		{name: "name", value: func(x row) any { return x.Project.Name }, draw: func(p *printer, x row) any { return p.bold(x.Project.Name) }},
		{
			name: "links", value: func(x row) any { return len(x.Project.Links) },
			draw: func(_ *printer, x row) any { return plural(len(x.Project.Links), "resource") },
		},
		{name: "created", value: func(x row) any { return x.Project.Created.UTC().Format(time.RFC3339) }, when: onWide},
		{name: "description", value: func(x row) any { return x.Project.Description }},
	}
}

func newProjectList(a *app) *cobra.Command {
	o := &projectList{app: a, list: list[a2a.ProjectView]{columns: projectColumns()}}
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"},
		Short:       "List projects",
		Long:        "List the projects by name. The current one is marked with *.",
		Example:     "  agents project list",
		Annotations: using(does(a2a.ProjectList().Method), "wide"),
		Args:        between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	o.bind(cmd, "")
	return cmd
}

func (o *projectList) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.ProjectList(), a2a.Nothing{})
	if err != nil {
		return err
	}
	out := output{schema: "agents.project-list.v1"}
	v.Projects, out.warnings = o.take(v.Projects)
	out.data, out.human = v, func(p *printer) { o.table(p, v.Projects) }
	o.app.put(out)
	return nil
}
