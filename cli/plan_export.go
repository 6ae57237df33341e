package cli

import (
	"context"
	"io"
	"path"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
)

type planExport struct {
	app  *app
	file string
	req  a2a.PlanExportRequest
	made NewFile
}

func newPlanExport(a *app) *cobra.Command {
	o := &planExport{app: a}
	cmd := &cobra.Command{
		Use:   "export [<plan>]",
		Short: "Write a plan with its records as one file",
		Long: `Write a plan and everything that is recorded of it as one file, a tar archive
compressed with zstd. With --with-artifacts the files, requests, answers and outputs
that the records name go in, too. --redact leaves out what was said and printed and
keeps its hashes; the decisions stay. A file that is there is not overwritten.`,
		Example:     "  agents plan export\n  agents plan export 7K3M -o fix.tar.zst --with-artifacts\n  agents plan export 7K3M --redact",
		Annotations: does(a2a.PlanExport().Method),
		Args:        between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.req.Ref = refOr(args)
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.file, "output", "o", "", "write to this file (default: the plan's name with .tar.zst)")
	f.BoolVar(&o.req.Artifacts, "with-artifacts", false, "what the records name, too")
	f.BoolVar(&o.req.Redact, "redact", false, "without prompts and outputs")
	return cmd
}

func (o *planExport) run(ctx context.Context) error {
	o.req.To = o.open
	v, err := call(ctx, o.app, a2a.PlanExport(), o.req)
	if o.made != nil {
		if err != nil {
			o.made.Discard()
		} else if cerr := o.made.Close(); cerr != nil {
			return fault.New(fault.Internal, "write %s: %w", o.file, cerr)
		}
	}
	if err != nil {
		return err
	}
	v.File = o.file
	out := output{schema: "agents.plan-export.v1", data: v, human: func(p *printer) {
		p.printf("%s %s", p.bold(v.Plan.Name), p.dim(p.short(string(v.Plan.ID))))
		p.field("file", v.File)
		p.field("rows", v.Rows)
		if v.Artifacts {
			p.field("artifacts", v.Blobs)
		}
		if v.Redacted {
			p.field("redacted", "yes")
		}
	}}
	if n := len(v.Missing); n > 0 {
		out.warnings = []string{plural(n, "artifact") + " that the records name were not there any more"}
	}
	o.app.put(out)
	return nil
}

// open makes the file once the plan is known.
func (o *planExport) open(s a2a.PlanSummary) (io.Writer, error) {
	if o.file == "" {
		o.file = path.Base(s.Name) + ".tar.zst"
	}
	if o.app.env.Create == nil {
		return nil, fault.New(fault.Unavailable, "no file can be written here")
	}
	f, err := o.app.env.Create(o.app.abs(o.file))
	if err != nil {
		return nil, err
	}
	o.made = f
	return f, nil
}
