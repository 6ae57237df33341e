package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/policy"
)

type planApply struct {
	app *app
	as  string
	req a2a.PlanApplyRequest
}

func newPlanApply(a *app) *cobra.Command {
	o := &planApply{app: a}
	cmd := &cobra.Command{
		Use:   "apply [<plan>]",
		Short: "Bring a plan's changes into the real files",
		Long: `Bring a plan's changes into the real resource: all of them or, when something there
moved in the meantime, none. On a terminal the changes are shown and you are asked,
and exactly what was shown is applied; --yes and --no-input apply without asking.

Files that run by themselves (CI, hooks of git, editors and package managers, new
executable bits) are listed apart and need an approval of their own, which --yes does
not give. --as commit makes a commit as well, with your name, and runs no program of
the repository; --as branch:NAME makes it on a new branch and leaves your files alone;
--as patch:FILE writes a patch and leaves the plan as it is.

When an apply was cut short, the next one goes on with it. When you changed a file in
that very moment, --recover writes the rest and --abort takes back what was written;
your version stays either way.`,
		Example:     "  agents plan apply\n  agents plan apply 7K3M --only docs --dry-run\n  agents plan apply @last --as commit -m 'fix the parser'",
		Annotations: does(a2a.PlanApply().Method, a2a.PlanDiff().Method, a2a.PlanShow().Method),
		Args:        between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.req.Ref = refOr(args)
			return o.run(cmd.Context(), cmd.CommandPath())
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.req.Only, "only", nil, "only this path, or what lies below it; the rest stays in the plan")
	f.StringVar(&o.as, "as", "files", "how: files, commit, branch:NAME or patch:FILE")
	f.StringVarP(&o.req.Message, "message", "m", "", "what the commit says (default: the plan's task)")
	f.BoolVar(&o.req.DryRun, "dry-run", false, "tell what would happen and change nothing")
	f.BoolVar(&o.req.Recover, "recover", false, "write the rest of an apply that was cut short")
	f.BoolVar(&o.req.Abort, "abort", false, "take back what an apply that was cut short has written")
	return cmd
}

// newApply is plan apply under a shorter name.
func newApply(a *app) *cobra.Command {
	cmd := newPlanApply(a)
	cmd.Example = "  agents apply\n  agents apply @last --yes\n  agents apply --as patch:fix.patch"
	return cmd
}

func (o *planApply) run(ctx context.Context, path string) error {
	how, what, named := strings.Cut(o.as, ":")
	switch {
	case how == "patch" && named && what != "":
		return o.patch(ctx, path, what)
	case how == "branch" && named && what != "":
		o.req.As, o.req.Branch = plan.AsBranch, what
	case o.as == "commit":
		o.req.As = plan.AsCommit
	case o.as != "files":
		return usage(path, "--as takes files, commit, branch:NAME or patch:FILE, and not %s", o.as)
	}
	end := o.req.Recover || o.req.Abort
	if o.app.ask && !end && !o.req.DryRun {
		shown, err := o.agree(ctx)
		if err != nil {
			return err
		}
		o.req.Ref, o.req.Expect = string(shown.Plan.ID), shown.Hash
	}
	g := toApplied
	if o.req.Abort {
		g = toRecorded
	}
	return follow(ctx, o.app, a2a.PlanApply(), o.req, g)
}

// agree shows the changes and asks, about those that run by themselves once
// more. It returns what the person said yes to.
func (o *planApply) agree(ctx context.Context) (a2a.DiffView, error) {
	a := o.app
	v, err := call(ctx, a, a2a.PlanDiff(), a2a.PlanDiffQuery{Ref: o.req.Ref, Paths: o.req.Only, ToApply: true})
	if err != nil || v.Plan.State == plan.Applied || len(v.Files) == 0 {
		return v, err
	}
	show, err := call(ctx, a, a2a.PlanShow(), a2a.RefQuery{Ref: string(v.Plan.ID)})
	if err != nil {
		return v, err
	}
	p := &printer{format: Rich, width: a.width(), styles: styles{on: a.color(a.env.StderrTTY)}}
	(&planDiff{}).draw(p, v, &show)
	if err := a.writeBytes(a.env.Stderr, p.Bytes()); err != nil {
		return v, err
	}
	questions := []string{fmt.Sprintf("Apply %s to %s?", plural(len(v.Files), "changed file"), v.Plan.Project)}
	if n := len(byThemselves(v.Files)); n > 0 && v.Plan.Profile != policy.FullAuto {
		questions = append(questions, fmt.Sprintf("%s of these will run by themselves. Apply them, too?", plural(n, "file")))
	}
	for _, q := range questions {
		yes, err := a.confirm(ctx, q)
		if err != nil {
			return v, err
		}
		if !yes {
			a.put(output{next: []string{"agents plan apply " + string(v.Plan.ID)}})
			return v, fault.New(fault.Cancelled, "not applied")
		}
	}
	if len(questions) > 1 {
		o.req.Executable = v.Executable
	}
	return v, nil
}

// patch writes the changes to a file and leaves the plan as it is.
func (o *planApply) patch(ctx context.Context, path, file string) error {
	if o.req.Recover || o.req.Abort || o.req.DryRun || o.req.Message != "" {
		return usage(path, "--as patch:FILE goes with --only, and with no other flag of apply")
	}
	v, err := call(ctx, o.app, a2a.PlanDiff(), a2a.PlanDiffQuery{Ref: o.req.Ref, Paths: o.req.Only, ToApply: true, Patch: true})
	if err != nil {
		return err
	}
	if o.app.env.Create == nil {
		return fault.New(fault.Unavailable, "no file can be written here")
	}
	f, err := o.app.env.Create(o.app.abs(file))
	if err != nil {
		return err
	}
	if _, err := f.Write(v.Patch); err != nil {
		f.Discard()
		return fault.New(fault.Internal, "write %s: %w", file, err)
	}
	if err := f.Close(); err != nil {
		return fault.New(fault.Internal, "write %s: %w", file, err)
	}
	done := patched{v.Plan, file, len(v.Files)}
	o.app.put(output{schema: "agents.plan-patch.v1", data: done, next: []string{"git apply " + file}, human: func(p *printer) {
		p.printf("%s %s", p.bold(v.Plan.Name), p.dim(p.short(string(v.Plan.ID))))
		p.field("patch", done.File)
		p.field("files", done.Files)
	}})
	return nil
}

// patched is a patch that was written.
type patched struct {
	Plan  a2a.PlanSummary `json:"plan"`
	File  string          `json:"file"`
	Files int             `json:"files"`
}
