package cli

import (
	"context"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
)

type dbStatus struct {
	app   *app
	query a2a.DBStatusQuery
}

func newDBStatus(a *app) *cobra.Command {
	o := &dbStatus{app: a}
	cmd := &cobra.Command{
		Use:         "status",
		Short:       "Show how the store is",
		Long:        "Show the size of the store and what it holds. --check reads all of it and exits 1 when\nsomething is damaged.",
		Example:     "  agents db status --check",
		Annotations: does(a2a.DBStatus().Method),
		Args:        between(0, 0),
		RunE:        func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	cmd.Flags().BoolVar(&o.query.Check, "check", false, "read everything and check it")
	return cmd
}

func (o *dbStatus) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.DBStatus(), o.query)
	if err != nil {
		return err
	}
	o.app.put(output{schema: "agents.db-status.v1", data: v, human: func(p *printer) {
		p.field("store", v.Path)
		p.field("schema", v.Schema)
		p.field("bytes", v.Bytes)
		for _, k := range slices.Sorted(maps.Keys(v.Rows)) {
			p.field(k, v.Rows[k])
		}
		p.field("check", v.Check)
	}})
	if v.Check != "" && v.Check != "ok" {
		return fault.New(fault.Corrupt, "the store is damaged: %s", v.Check)
	}
	return nil
}
