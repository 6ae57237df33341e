package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

type planApply struct{ app *app }

func newPlanApply(a *app) *cobra.Command {
	o := &planApply{a}
	return &cobra.Command{
		Use:   "apply [<plan>]",
		Short: "Bring a plan's changes into the real files",
		Long: `Bring a plan's changes into the real resource: all of them or, when something there
moved in the meantime, none. On a terminal the changes are shown and you are asked,
and exactly what was shown is applied; --yes and --no-input apply without asking.`,
		Example:     "  agents plan apply\n  agents plan apply 7K3M --yes",
		Annotations: does(a2a.PlanApply().Method, a2a.PlanDiff().Method, a2a.PlanShow().Method),
		Args:        between(0, 1),
		RunE:        func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), refOr(args)) },
	}
}

// newApply is plan apply under a shorter name.
func newApply(a *app) *cobra.Command {
	cmd := newPlanApply(a)
	cmd.Example = "  agents apply\n  agents apply @last --yes"
	return cmd
}

func (o *planApply) run(ctx context.Context, ref string) error {
	req := a2a.PlanApplyRequest{Ref: ref}
	if o.app.ask {
		shown, err := o.agree(ctx, ref)
		if err != nil {
			return err
		}
		req.Ref, req.Expect = string(shown.Plan.ID), shown.Hash
	}
	return follow(ctx, o.app, a2a.PlanApply(), req, toApplied)
}

// agree shows the changes and asks. It returns what the person said yes to.
func (o *planApply) agree(ctx context.Context, ref string) (a2a.DiffView, error) {
	a := o.app
	v, err := call(ctx, a, a2a.PlanDiff(), a2a.PlanDiffQuery{Ref: ref})
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
	yes, err := a.confirm(ctx, fmt.Sprintf("Apply %s to %s?", plural(len(v.Files), "changed file"), v.Plan.Project))
	if err == nil && !yes {
		a.put(output{next: []string{"agents plan apply " + string(v.Plan.ID)}})
		err = fault.New(fault.Cancelled, "not applied")
	}
	return v, err
}
