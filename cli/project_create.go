package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type projectCreate struct {
	app *app
	req a2a.ProjectCreateRequest
}

func newProjectCreate(a *app) *cobra.Command {
	o := &projectCreate{app: a}
	cmd := &cobra.Command{
		Use:         "create <project>",
		Short:       "Make a project",
		Long:        "Make a project that links no resource yet. \"agents init\" makes one of a directory at once.",
		Example:     "  agents project create shop --description 'the web shop'\n  agents project link-resource shop shop-code",
		Annotations: does(a2a.ProjectCreate().Method),
		Args:        between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.req.Name = args[0]
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.req.Description, "description", "", "what it is about")
	return cmd
}

func (o *projectCreate) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.ProjectCreate(), o.req)
	if err != nil {
		return err
	}
	o.app.put(projectOutput(v))
	return nil
}
