package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type dbBackup struct {
	app  *app
	file string
	req  a2a.DBBackupRequest
}

func newDBBackup(a *app) *cobra.Command {
	o := &dbBackup{app: a}
	cmd := &cobra.Command{
		Use:   "backup",
		Short: "Write all data as one file",
		Long: `Write the store and the blobs that its records name to one tar file, as of one moment,
while plans may run. The file is read back before it gets its name; one that is there
is not overwritten. Copies of projects are left out: a plan that is open makes its own
again. "agents db restore" brings the data back.`,
		Example:     "  agents db backup -o monday.tar\n  agents db backup --no-blobs -o store.tar",
		Annotations: does(a2a.DBBackup().Method),
		Args:        between(0, 0),
		RunE:        func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	cmd.Flags().StringVarP(&o.file, "output", "o", "agents-backup.tar", "write to this file")
	cmd.Flags().BoolVar(&o.req.NoBlobs, "no-blobs", false, "the store alone")
	return cmd
}

func (o *dbBackup) run(ctx context.Context) error {
	o.req.File = o.app.abs(o.file)
	v, err := call(ctx, o.app, a2a.DBBackup(), o.req)
	if err != nil {
		return err
	}
	o.app.put(output{schema: "agents.db-backup.v1", data: v, next: []string{"agents db restore " + quoted(v.File)}, human: func(p *printer) {
		backup(p, v)
	}})
	return nil
}

func backup(p *printer, v a2a.DBBackupView) {
	p.field("file", v.File)
	p.field("made", v.Made)
	p.field("schema", v.Schema)
	p.field("bytes", v.Bytes)
	if v.Whole {
		p.field("blobs", v.Blobs)
	} else {
		p.field("blobs", "not in it")
	}
}
