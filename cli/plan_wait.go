package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

type planWait struct {
	app  *app
	what string
	q    a2a.PlanWaitQuery
}

func newPlanWait(a *app) *cobra.Command {
	o := &planWait{app: a}
	cmd := &cobra.Command{
		Use:   "wait <plan>...",
		Short: "Wait until plans are where you want them",
		Long: `Wait for plans that other processes run. Exit 0 means that each is or was where it
is waited for; without --for, that the changes of each are applied. A plan that nobody
runs any more is not waited for: the exit status is that of where it is, such as 4
when a person has to act. --timeout ends the waiting with 124. No plan is touched.`,
		Example:     "  agents plan wait @last --timeout 10m\n  agents plan wait 7K3M 9Q2A --for phase=execute\n  agents plan wait 7K3M --for approval",
		Annotations: does(a2a.PlanWait().Method),
		Args:        between(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.q.Refs = args
			if err := o.condition(cmd.CommandPath()); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.what, "for", "", "state=<state>, phase=<phase> or approval (default: until nobody runs them)")
	return cmd
}

// condition reads --for.
func (o *planWait) condition(command string) error {
	key, value, _ := strings.Cut(o.what, "=")
	switch {
	case o.what == "":
	case o.what == "approval":
		o.q.Approval = true
	case key == "state" && value != "":
		o.q.State = plan.State(value)
	case key == "phase" && value != "":
		o.q.Phase = plan.Phase(value)
	default:
		return usage(command, "--for %q is not state=<state>, phase=<phase> or approval", o.what)
	}
	return nil
}

func (o *planWait) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.PlanWait(), o.q)
	if err != nil {
		return err
	}
	var next []string
	for _, w := range v.Plans {
		next = append(next, w.Outcome.Next...)
		if !w.Reached && err == nil {
			err = o.missed(w.Outcome)
		}
	}
	o.app.put(output{schema: "agents.plan-wait.v1", data: v, next: next, human: func(p *printer) {
		var rows [][]any
		for _, w := range v.Plans {
			x := w.Outcome.Plan
			rows = append(rows, []any{p.bold(p.short(string(x.ID))), x.Name, stateWord(p.styles, x.Status), x.Reason})
		}
		p.rows([]string{"id", "name", "state", "reason"}, rows)
	}})
	return err
}

// missed is the error of a plan that has stopped where it was not waited for.
func (o *planWait) missed(out a2a.PlanOutcome) error {
	if err := verdict(out, toApplied); err != nil {
		return err
	}
	return fault.New(fault.Conflict, "plan %s is %s; %s is over", out.Plan.Name, out.Plan.Status, o.what)
}
