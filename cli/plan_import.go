package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
)

type planImport struct{ app *app }

func newPlanImport(a *app) *cobra.Command {
	o := &planImport{a}
	return &cobra.Command{
		Use:   "import <file>",
		Short: "Take the history of a plan in from a file",
		Long: `Take in what "agents plan export" wrote. The whole file is checked before anything is
stored. The plan becomes history: it is archived, has no project here and cannot be
run; show, tree, explain and logs work, and diff where the artifacts came with it.
Nothing in the file is executed. A plan that is here already is refused.`,
		Example:     "  agents plan import fix.tar.zst",
		Annotations: does(a2a.PlanImport().Method),
		Args:        between(1, 1),
		RunE:        func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0]) },
	}
}

func (o *planImport) run(ctx context.Context, file string) error {
	if o.app.env.OpenFile == nil {
		return fault.New(fault.Unavailable, "no file can be read here")
	}
	f, err := o.app.env.OpenFile(o.app.abs(file))
	if err != nil {
		return err
	}
	defer f.Close()
	v, err := call(ctx, o.app, a2a.PlanImport(), a2a.PlanImportRequest{File: file, From: f})
	if err != nil {
		return err
	}
	next := []string{"agents plan show " + string(v.Plan.ID), "agents plan tree " + string(v.Plan.ID)}
	o.app.put(output{schema: "agents.plan-import.v1", data: v, next: next, human: func(p *printer) {
		p.printf("%s %s %s", p.bold(v.Plan.Name), p.dim(p.short(string(v.Plan.ID))), stateWord(p.styles, v.Plan.Status))
		p.field("made in", v.Project)
		p.field("rows", v.Rows)
		p.field("artifacts", v.Blobs)
	}})
	return nil
}
