package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
)

type dbRestore struct{ app *app }

func newDBRestore(a *app) *cobra.Command {
	o := &dbRestore{a}
	return &cobra.Command{
		Use:   "restore <file>",
		Short: "Bring the data of a backup back",
		Long: `Put what "agents db backup" wrote in the place of the data. All of the file is checked
before anything changes, and at any moment all of the old data is there or all of the
new, even when the machine stops half-way. The old data is kept in a directory beside the
new; its name is told. While another agents process uses the data, this is refused. A
backup without blobs leaves those that are there.`,
		Example:     "  agents db restore monday.tar --yes",
		Annotations: does(a2a.DBRestore().Method),
		Args:        between(1, 1),
		RunE:        func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0]) },
	}
}

func (o *dbRestore) run(ctx context.Context, file string) error {
	o.app.unopened = true
	req := a2a.DBRestoreRequest{File: o.app.abs(file), Replace: o.app.flags.yes}
	v, err := call(ctx, o.app, a2a.DBRestore(), req)
	if fault.Is(err, fault.Waiting) && o.app.ask {
		yes, aerr := o.app.confirm(ctx, fault.As(err).Msg+". Go on?")
		if aerr != nil {
			return aerr
		}
		if !yes {
			return fault.New(fault.Cancelled, "nothing was changed")
		}
		req.Replace = true
		v, err = call(ctx, o.app, a2a.DBRestore(), req)
	}
	if err != nil {
		return err
	}
	o.app.put(output{schema: "agents.db-restore.v1", data: v, next: []string{"agents db status --check"}, human: func(p *printer) {
		backup(p, v.Backup)
		p.field("old data", v.Aside)
	}})
	return nil
}
