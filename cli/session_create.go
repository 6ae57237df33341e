package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type sessionCreate struct {
	app *app
	req a2a.SessionCreateRequest
}

func newSessionCreate(a *app) *cobra.Command {
	o := &sessionCreate{app: a}
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Begin a conversation with an actor",
		Long: `Begin a conversation with one actor about one project. Without --actor it is that of
builtin/ask, with the model that is used where none is named. Nobody is asked yet.`,
		Example:     "  agents session create\n  agents session create --name parser --actor reviewer -p .",
		Annotations: using(does(a2a.SessionCreate().Method), "project"),
		Args:        between(0, 0),
		RunE:        func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	cmd.Flags().StringVar(&o.req.Actor, "actor", "", "who answers")
	cmd.Flags().StringVar(&o.req.Name, "name", "", "what it is called (default: session- and the end of its id)")
	return cmd
}

func (o *sessionCreate) run(ctx context.Context) error {
	o.req.Project = o.app.project()
	v, err := call(ctx, o.app, a2a.SessionCreate(), o.req)
	if err != nil {
		return err
	}
	o.app.put(sessionOutput(v))
	return nil
}
