package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type checkpointList struct {
	app   *app
	query a2a.CheckpointListQuery
	list[a2a.CheckpointView]
}

func newCheckpointList(a *app) *cobra.Command {
	o := &checkpointList{app: a, list: list[a2a.CheckpointView]{columns: checkpointColumns()}}
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"},
		Short:       "List the checkpoints of a plan",
		Long:        "List the checkpoints of a plan, oldest first: one for each decision of Execute.",
		Example:     "  agents checkpoint list --plan @last",
		Annotations: using(does(a2a.CheckpointList().Method), "wide"),
		Args:        between(0, 0),
		RunE:        func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	cmd.Flags().StringVar(&o.query.Plan, "plan", "", "of this plan instead of the last one")
	o.bind(cmd, "")
	return cmd
}

// newPlanCheckpoints is the same list, from the plan's side.
func newPlanCheckpoints(a *app) *cobra.Command {
	o := &checkpointList{app: a, list: list[a2a.CheckpointView]{columns: checkpointColumns()}}
	cmd := &cobra.Command{
		Use:   "checkpoints [<plan>]",
		Short: "List the states that a plan can be put back to",
		Long: `List the checkpoints of a plan, oldest first: the state of the sandbox when each
decision of Execute was recorded, and before each rollback. It says how far the plan
can be taken back: to any decision, as a whole phase, or not at all.`,
		Example:     "  agents plan checkpoints\n  agents plan checkpoints 7K3M --decision 9Y2W",
		Annotations: using(does(a2a.CheckpointList().Method), "wide"),
		Args:        between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.query.Plan = refOr(args)
			return o.run(cmd)
		},
	}
	cmd.Flags().StringVar(&o.query.Decision, "decision", "", "only of this decision")
	o.bind(cmd, "")
	return cmd
}

func (o *checkpointList) run(cmd *cobra.Command) error {
	if err := o.check(cmd); err != nil {
		return err
	}
	return o.show(cmd.Context())
}

func (o *checkpointList) show(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.CheckpointList(), o.query)
	if err != nil {
		return err
	}
	out := output{schema: "agents.checkpoint-list.v1", next: v.Next}
	v.Checkpoints, out.warnings = o.take(v.Checkpoints)
	v.Next = nil // stands beside the data
	out.data, out.human = v, func(p *printer) {
		o.table(p, v.Checkpoints)
		p.field("rollback", "this plan can be taken back "+v.Tier.Means())
	}
	o.app.put(out)
	return nil
}
