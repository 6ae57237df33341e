package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
)

type planWatch struct {
	app *app
	q   a2a.PlanWatchQuery
}

func newPlanWatch(a *app) *cobra.Command {
	o := &planWatch{app: a}
	cmd := &cobra.Command{
		Use:   "watch [<plan>]",
		Short: "Show a running plan as it goes on",
		Long: `Show what a plan does, from its last change of status on, whichever process runs it.
It ends when nobody runs the plan any more and then says where the plan is, as
"agents plan resume" would: exit 0 means that the changes are applied, 4 that a
person has to act first. Ctrl-C and --timeout end the view; the plan goes on.`,
		Example:     "  agents plan watch\n  agents plan watch 7K3M --events 'tool.*' --format jsonl",
		Annotations: does(a2a.PlanWatch().Method),
		Args:        between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.q.Ref = refOr(args)
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.q.Events, "events", "", "only events of these types, such as tool.* or plan.state")
	return cmd
}

func (o *planWatch) run(ctx context.Context) error {
	show := o.app.progress()
	v, err := look(ctx, o.app, a2a.PlanWatch(), o.q, show.event)
	if werr := show.close(); werr != nil && err == nil {
		err = fault.New(fault.Internal, "write an event: %w", werr)
	}
	if err != nil {
		return err
	}
	o.app.put(outcomeOutput(v))
	return verdict(v, toApplied)
}
