package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
)

type sessionImport struct {
	app *app
	req a2a.SessionImportRequest
}

func newSessionImport(a *app) *cobra.Command {
	o := &sessionImport{app: a}
	cmd := &cobra.Command{
		Use:   "import <file>",
		Short: "Take a conversation in from a file",
		Long: `Take in what "agents session export" wrote. The whole file is checked before anything
is stored. The conversation can go on here; what was said elsewhere is marked as
imported, for you and for the actor. One that is here already is refused.`,
		Example:     "  agents session import talk.jsonl\n  agents session import talk.jsonl --name talk-2 -p .",
		Annotations: using(does(a2a.SessionImport().Method), "project"),
		Args:        between(1, 1),
		RunE:        func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0]) },
	}
	cmd.Flags().StringVar(&o.req.Name, "name", "", "what it is called here (default: as it was)")
	return cmd
}

func (o *sessionImport) run(ctx context.Context, file string) error {
	if o.app.env.OpenFile == nil {
		return fault.New(fault.Unavailable, "no file can be read here")
	}
	f, err := o.app.env.OpenFile(o.app.abs(file))
	if err != nil {
		return err
	}
	defer f.Close()
	o.req.File, o.req.From, o.req.Project = file, f, o.app.project()
	v, err := call(ctx, o.app, a2a.SessionImport(), o.req)
	if err != nil {
		return err
	}
	v.File = file
	o.app.put(carriedOutput("agents.session-import.v1", v))
	return nil
}
