package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type planPrompt struct {
	app *app
	req a2a.PlanPromptRequest
}

func newPlanPrompt(a *app) *cobra.Command {
	o := &planPrompt{app: a}
	cmd := &cobra.Command{
		Use:   "prompt <plan> {<text>|-}",
		Short: "Say something to the actor of a plan",
		Long: `Say something to the model that works on a plan. It is delivered before its next turn,
also when another process runs the plan; a plan that nobody runs gets it when it goes
on, and one that seemed done goes back to work. What is said is recorded as a decision
of yours. With - the text comes from standard input; it may have up to 64 KiB.`,
		Example:     "  agents plan prompt @last 'keep the old flag, too'\n  agents plan prompt 7K3M - --now",
		Annotations: does(a2a.PlanPrompt().Method),
		Args:        between(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.req.Ref, o.req.Text = args[0], args[1]
			if o.req.Text == stdin {
				var err error
				if o.req.Text, err = a.read(stdin); err != nil {
					return err
				}
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&o.req.Now, "now", false, "cut an answer short that the model is making, and ask again")
	return cmd
}

func (o *planPrompt) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.PlanPrompt(), o.req)
	if err != nil {
		return err
	}
	o.app.put(output{schema: "agents.plan-prompt.v1", data: v, next: v.Next, human: func(p *printer) {
		p.printf("%s %s %s %s", p.bold(v.Plan.Name), p.dim(p.short(string(v.Plan.ID))), stateWord(p.styles, v.Plan.Status), heldWord(v.Plan.Held))
		p.field("messages", plural(v.Messages, "message")+" to be delivered")
	}})
	return nil
}
