package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type dbPath struct{ app *app }

func newDBPath(a *app) *cobra.Command {
	o := &dbPath{a}
	return &cobra.Command{
		Use:         "path",
		Short:       "Show where the data is",
		Long:        "Show the files and directories in which the program keeps its data.",
		Example:     "  agents db path",
		Annotations: does(a2a.DBPath().Method),
		Args:        between(0, 0),
		RunE:        func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
}

func (o *dbPath) run(ctx context.Context) error {
	o.app.unopened = true
	v, err := call(ctx, o.app, a2a.DBPath(), a2a.Nothing{})
	if err != nil {
		return err
	}
	o.app.put(output{schema: "agents.db-path.v1", data: v, human: func(p *printer) {
		p.field("store", v.Store)
		p.field("blobs", v.Blobs)
		p.field("engine", v.Engine)
		p.field("trees", v.Trees)
	}})
	return nil
}
