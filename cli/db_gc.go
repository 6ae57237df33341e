package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type dbGC struct {
	app *app
	req a2a.DBGCRequest
}

func newDBGC(a *app) *cobra.Command {
	o := &dbGC{app: a}
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Remove what nothing needs any more",
		Long: `Remove blobs that no record names, files that crashes left, sandboxes of plans that were
applied or cancelled, and copies of resources that no open plan uses, when they have been
unused for longer than --older-than. What a decision, call, hunk, checkpoint, result or
open plan names stays. Plans may run meanwhile; blobs are then left for another time.`,
		Example:     "  agents db gc --dry-run\n  agents db gc --older-than 24h",
		Annotations: does(a2a.DBGC().Method),
		Args:        between(0, 0),
		RunE:        func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	cmd.Flags().BoolVar(&o.req.DryRun, "dry-run", false, "say what would be removed")
	cmd.Flags().StringVar(&o.req.OlderThan, "older-than", "168h", "unused for this long; at least 1h")
	return cmd
}

func (o *dbGC) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.DBGC(), o.req)
	if err != nil {
		return err
	}
	var warnings []string
	if v.BlobsLeft {
		warnings = []string{"blobs were left alone, as a plan is being run"}
	}
	o.app.put(output{schema: "agents.db-gc.v1", data: v, warnings: warnings, human: func(p *printer) {
		head := "freed"
		if v.DryRun {
			head = "would be freed"
		}
		p.field("data", v.Path)
		p.printf("%s", p.bold(head))
		for _, r := range []struct {
			name string
			f    a2a.Freed
		}{{"blobs", v.Blobs}, {"small blobs", v.Rows}, {"sandboxes", v.Sandboxes}, {"copies", v.Bases}, {"temp files", v.Temp}} {
			p.field(r.name, fmt.Sprintf("%d, %d bytes", r.f.Count, r.f.Bytes))
		}
	}})
	return nil
}
