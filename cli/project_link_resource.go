package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type projectLinkResource struct {
	app *app
	req a2a.LinkRequest
}

func newProjectLinkResource(a *app) *cobra.Command {
	o := &projectLinkResource{app: a}
	cmd := &cobra.Command{
		Use:         "link-resource <project> <resource>...",
		Short:       "Link resources to a project",
		Long:        "Link resources to a project: its plans may then read them and, unless --read-only is\ngiven, change them.",
		Example:     "  agents project link-resource shop shop-code\n  agents project link-resource shop docs --read-only",
		Annotations: does(a2a.ProjectLinkResource().Method),
		Args:        between(2, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.req.Project, o.req.Resources = args[0], args[1:]
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&o.req.ReadOnly, "read-only", false, "plans may not change them")
	return cmd
}

func (o *projectLinkResource) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.ProjectLinkResource(), o.req)
	if err != nil {
		return err
	}
	o.app.put(projectOutput(v))
	return nil
}
