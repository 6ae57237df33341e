package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type resourceAdd struct {
	app *app
	req a2a.ResourceAddRequest
}

func newResourceAdd(a *app) *cobra.Command {
	o := &resourceAdd{app: a}
	cmd := &cobra.Command{
		Use:         "add <type> [<dir>]",
		Short:       "Register a resource",
		Long:        "Register a tree of files as a resource. Types: git-checkout, fs-directory. Without a\ndirectory it is the working directory.",
		Example:     "  agents resource add git-checkout ~/src/shop --name shop-code",
		Annotations: does(a2a.ResourceAdd().Method),
		Args:        between(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.req.Type, o.req.Location = args[0], a.dir
			if len(args) > 1 {
				o.req.Location = a.abs(args[1])
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.req.Name, "name", "", "its name (default: of the directory)")
	cmd.Flags().BoolVar(&o.req.Force, "force", false, "accept a home directory or /")
	return cmd
}

func (o *resourceAdd) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.ResourceAdd(), o.req)
	if err != nil {
		return err
	}
	o.app.put(resourceOutput(v))
	return nil
}
