package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
)

type planRollback struct {
	app *app
	q   a2a.RollbackRequest
}

func newPlanRollback(a *app) *cobra.Command {
	o := &planRollback{app: a}
	cmd := &cobra.Command{
		Use:   "rollback [<plan>] --checkpoint <id>",
		Short: "Put the sandbox of a plan back to a checkpoint",
		Long: `Put the sandbox of a plan back to how it was at a checkpoint. Only files that differ
are touched, after everything that will be written was checked; ignored files stay.
Decisions made since are superseded, and what the sandbox held becomes a checkpoint,
so that the rollback can be undone. The plan is paused: when it goes on, its work is
validated anew. Nothing outside of the sandbox changes. It asks first; --yes answers.`,
		Example:     "  agents plan rollback 7K3M --checkpoint 9Y2W --dry-run\n  agents plan rollback 7K3M --checkpoint 9Y2W --yes",
		Annotations: does(a2a.PlanRollback().Method),
		Args:        between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.q.Checkpoint == "" {
				return usage(cmd.CommandPath(), "--checkpoint is needed: agents plan checkpoints lists them")
			}
			o.q.Plan = refOr(args)
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.q.Checkpoint, "checkpoint", "", "the checkpoint to go back to")
	cmd.Flags().BoolVar(&o.q.DryRun, "dry-run", false, "only show what would change")
	return cmd
}

func (o *planRollback) run(ctx context.Context) error {
	a := o.app
	if !o.q.DryRun && !a.flags.yes {
		look := o.q
		look.DryRun = true
		v, err := call(ctx, a, a2a.PlanRollback(), look)
		if err != nil {
			return err
		}
		o.q.Plan, o.q.Checkpoint = string(v.Plan.ID), string(v.Checkpoint) // exactly those that are shown
		if err := o.agree(ctx, v); err != nil {
			return err
		}
	}
	v, err := call(ctx, a, a2a.PlanRollback(), o.q)
	if err != nil {
		return err
	}
	out := output{schema: "agents.plan-rollback.v1", next: v.Next}
	v.Next = nil
	out.data, out.human = v, func(p *printer) {
		p.field("plan", v.Plan.Name)
		p.field("checkpoint", v.Checkpoint)
		p.field("rollback", "this plan can be taken back "+v.Tier.Means())
		p.field("before", v.Before)
		for _, d := range v.Decisions {
			p.field("superseded", string(d.ID)+" "+d.Question+" → "+d.Chosen)
		}
		fileStats(p, v.Files)
		if v.DryRun {
			p.printf("nothing was changed")
		}
	}
	a.put(out)
	return nil
}

// agree asks a person for a yes.
func (o *planRollback) agree(ctx context.Context, v a2a.RollbackView) error {
	a := o.app
	what := plural(len(v.Files), "file") + " in the sandbox of " + v.Plan.Name
	if !a.ask {
		a.put(output{next: []string{"agents plan rollback " + o.q.Plan + " --checkpoint " + o.q.Checkpoint + " --yes"}})
		return fault.New(fault.Waiting, "%s would be put back, and %s superseded, only when a person says so", what, plural(len(v.Decisions), "decision")).
			WithHint("add --yes, or see what with --dry-run")
	}
	yes, err := a.confirm(ctx, fmt.Sprintf("Put %s back, and supersede %s?", what, plural(len(v.Decisions), "decision")))
	if err == nil && !yes {
		err = fault.New(fault.Cancelled, "not put back")
	}
	return err
}
