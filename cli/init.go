package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type initCmd struct {
	app *app
	req a2a.ProjectInitRequest
}

func newInit(a *app) *cobra.Command {
	o := &initCmd{app: a}
	cmd := &cobra.Command{
		Use:   "init [<dir>]",
		Short: "Make a directory a project",
		Long: `Make a directory a project: register it as a resource, make a project that links
it, and make that project the current one. Nothing in the directory is changed.`,
		Example:     "  agents init\n  agents init ../site --name site --type fs-directory",
		Annotations: does(a2a.ProjectInit().Method),
		Args:        between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.req.Dir = a.dir
			if len(args) > 0 {
				o.req.Dir = a.abs(args[0])
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.req.Name, "name", "", "name of the project (default: of the directory)")
	cmd.Flags().StringVar(&o.req.Type, "type", "", "git-checkout or fs-directory (default: what it is)")
	cmd.Flags().BoolVar(&o.req.Force, "force", false, "accept a home directory or /")
	return cmd
}

func (o *initCmd) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.ProjectInit(), o.req)
	if err != nil {
		return err
	}
	o.app.put(projectOutput(v))
	return nil
}
