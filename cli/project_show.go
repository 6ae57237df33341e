package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type projectShow struct{ app *app }

func newProjectShow(a *app) *cobra.Command {
	o := &projectShow{a}
	return &cobra.Command{
		Use: "show [<project>]", Aliases: []string{"get"},
		Short:       "Show one project",
		Long:        "Show one project and the resources that it links; without a name the one of -p, or\nthe current one.",
		Example:     "  agents project show\n  agents project show shop",
		Annotations: using(does(a2a.ProjectShow().Method), "project"),
		Args:        between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return o.run(cmd.Context(), a.projectRef(args[0]))
			}
			return o.run(cmd.Context(), a.project())
		},
	}
}

func (o *projectShow) run(ctx context.Context, name string) error {
	v, err := call(ctx, o.app, a2a.ProjectShow(), a2a.NameQuery{Name: name})
	if err != nil {
		return err
	}
	o.app.put(projectOutput(v))
	return nil
}

func projectOutput(v a2a.ProjectView) output {
	return output{schema: "agents.project.v1", data: v, human: func(p *printer) {
		current := ""
		if v.Current {
			current = "current"
		}
		p.printf("%s %s", p.bold(v.Project.Name), p.good(current))
		p.field("about", v.Project.Description)
		p.field("profile", v.Project.AutomationProfile)
		readOnly := map[string]bool{}
		for _, l := range v.Project.Links {
			readOnly[string(l.Resource)] = l.ReadOnly
		}
		for _, r := range v.Resources {
			line := r.Name + " " + r.Type + " " + r.Location
			if readOnly[string(r.ID)] {
				line += " (read-only)"
			}
			p.field("resource", line)
		}
	}}
}
