package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
)

type approvalAnswer struct {
	app *app
	req a2a.AnswerRequest
}

func newApprovalAnswer(a *app) *cobra.Command {
	o := &approvalAnswer{app: a}
	cmd := &cobra.Command{
		Use:   "answer <approval> {--choose <n>|--text <text>}",
		Short: "Answer a question of an actor's",
		Long: `Answer what an actor asks: with one of its choices, by number, or in words of your
own; --text - reads them from standard input. The actor gets the answer when the plan
goes on with "agents plan resume", and it is recorded as a decision of yours.`,
		Example:     "  agents approval answer 7K3M --choose 2\n  agents approval answer @last --text 'only the public ones'",
		Annotations: does(a2a.ApprovalAnswer().Method),
		Args:        between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.req.Ref = args[0]
			chosen, said := cmd.Flags().Changed("choose"), cmd.Flags().Changed("text")
			if chosen == said || chosen && o.req.Choose < 1 {
				return fault.New(fault.Invalid, "say either --choose with a number from 1, or --text").
					WithHint("agents approval show %s", args[0])
			}
			if o.req.Text == stdin {
				var err error
				if o.req.Text, err = a.read(stdin); err != nil {
					return err
				}
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().IntVar(&o.req.Choose, "choose", 0, "the number of a choice")
	cmd.Flags().StringVar(&o.req.Text, "text", "", "an answer in words")
	return cmd
}

func (o *approvalAnswer) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.ApprovalAnswer(), o.req)
	if err != nil {
		return err
	}
	o.app.put(approvalOutput(v))
	return nil
}
