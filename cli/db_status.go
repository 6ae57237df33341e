package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
)

// What --check can be.
const (
	checkSample = "sample"
	checkFull   = "full"
)

type dbStatus struct {
	app   *app
	check string
}

func newDBStatus(a *app) *cobra.Command {
	o := &dbStatus{app: a}
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show how the store is",
		Long: `Show the size of the store and what it holds. --check reads all of the database and a
sample of the blobs (texts, outputs and versions of files) that plans name; --check=full
reads every blob. Plans that have lost some are listed. Exit 1 when something is damaged.`,
		Example:     "  agents db status --check\n  agents db status --check=full",
		Annotations: does(a2a.DBStatus().Method),
		Args:        between(0, 0),
		RunE:        func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	f := cmd.Flags()
	f.StringVar(&o.check, "check", "", "check the database and a sample of the blobs, or with =full all of them")
	f.Lookup("check").NoOptDefVal = checkSample
	return cmd
}

func (o *dbStatus) run(ctx context.Context) error {
	if o.check != "" && o.check != checkSample && o.check != checkFull {
		return usage("agents db status", "--check %q is not %s or %s", o.check, checkSample, checkFull)
	}
	v, err := call(ctx, o.app, a2a.DBStatus(), a2a.DBStatusQuery{Check: o.check != "", Full: o.check == checkFull})
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
		if b := v.Blobs; b != nil {
			read := plural(b.Read, "blob") + " of " + plural(b.Plans, "plan")
			if b.Sampled {
				read += ", a sample (all of them: --check=" + checkFull + ")"
			}
			p.field("read", read)
			for _, h := range b.Hurt {
				p.field("hurt", fmt.Sprintf("%s %s %s/%s: %d missing, %d damaged", h.Name, shortID(h.ID), h.Phase, h.State, h.Missing, h.Damaged))
			}
		}
	}})
	if v.Check != "" && v.Check != "ok" {
		return fault.New(fault.Corrupt, "the store is damaged: %s", v.Check)
	}
	return nil
}
