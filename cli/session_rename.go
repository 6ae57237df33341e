package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type sessionRename struct {
	app *app
	req a2a.SessionRenameRequest
}

func newSessionRename(a *app) *cobra.Command {
	o := &sessionRename{app: a}
	return &cobra.Command{
		Use:         "rename <session> <name>",
		Short:       "Give a conversation another name",
		Long:        "Give a conversation another name. Its id stays, and so do the names of its plans.",
		Example:     "  agents session rename @last rounding",
		Annotations: does(a2a.SessionRename().Method),
		Args:        between(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.req.Ref, o.req.Name = args[0], args[1]
			return o.run(cmd.Context())
		},
	}
}

func (o *sessionRename) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.SessionRename(), o.req)
	if err != nil {
		return err
	}
	o.app.put(sessionOutput(v))
	return nil
}
