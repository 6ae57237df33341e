package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type projectList struct{ app *app }

func newProjectList(a *app) *cobra.Command {
	o := &projectList{a}
	return &cobra.Command{
		Use: "list", Aliases: []string{"ls"},
		Short:       "List projects",
		Long:        "List the projects by name. The current one is marked with *.",
		Example:     "  agents project list",
		Annotations: does(a2a.ProjectList().Method),
		Args:        between(0, 0),
		RunE:        func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
}

func (o *projectList) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.ProjectList(), a2a.Nothing{})
	if err != nil {
		return err
	}
	o.app.put(output{schema: "agents.project-list.v1", data: v, human: func(p *printer) {
		var rows [][]any
		for _, x := range v.Projects {
			current := ""
			if x.Current {
				current = "*"
			}
			rows = append(rows, []any{p.good(current), p.bold(x.Project.Name), plural(len(x.Project.Links), "resource"), x.Project.Description})
		}
		p.rows([]string{"", "name", "links", "description"}, rows)
	}})
	return nil
}
