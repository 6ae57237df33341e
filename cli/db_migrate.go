package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type dbMigrate struct {
	app *app
	req a2a.DBMigrateRequest
}

func newDBMigrate(a *app) *cobra.Command {
	o := &dbMigrate{app: a}
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the store to the schema of this version",
		Long: `Bring the store to the schema that this version of the program works with. Every other
command does so, too, when it opens the store; this one says what it did, and with
--dry-run what would be done, without opening it. A copy of the store as it was is kept
beside it.`,
		Example:     "  agents db migrate --dry-run",
		Annotations: does(a2a.DBMigrate().Method),
		Args:        between(0, 0),
		RunE:        func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	cmd.Flags().BoolVar(&o.req.DryRun, "dry-run", false, "say what would be done")
	return cmd
}

func (o *dbMigrate) run(ctx context.Context) error {
	o.app.unopened = true
	v, err := call(ctx, o.app, a2a.DBMigrate(), o.req)
	if err != nil {
		return err
	}
	o.app.put(output{schema: "agents.db-migrate.v1", data: v, human: func(p *printer) {
		p.field("store", v.Path)
		p.field("schema", v.Schema)
		p.field("latest", v.Latest)
		name := "done"
		if v.DryRun {
			name = "would run"
		}
		for _, s := range v.Steps {
			p.field(name, s)
		}
		if len(v.Steps) == 0 {
			p.field(name, "nothing: it is up to date")
		}
		p.field("backup", v.Backup)
	}})
	return nil
}
