package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type projectUse struct{ app *app }

func newProjectUse(a *app) *cobra.Command {
	o := &projectUse{a}
	return &cobra.Command{
		Use:         "use <project>",
		Short:       "Make a project the current one",
		Long:        "Make a project the one that commands work in when none is named.",
		Example:     "  agents project use shop",
		Annotations: does(a2a.ProjectUse().Method),
		Args:        between(1, 1),
		RunE:        func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a.projectRef(args[0])) },
	}
}

func (o *projectUse) run(ctx context.Context, name string) error {
	v, err := call(ctx, o.app, a2a.ProjectUse(), a2a.NameQuery{Name: name})
	if err != nil {
		return err
	}
	o.app.put(projectOutput(v))
	return nil
}
