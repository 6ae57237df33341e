package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type sessionShow struct {
	app *app
	q   a2a.SessionShowQuery
}

func newSessionShow(a *app) *cobra.Command {
	o := &sessionShow{app: a}
	cmd := &cobra.Command{
		Use: "show [<session>]", Aliases: []string{"get"},
		Short:       "Show what was said in a conversation",
		Long:        "Show a conversation: who said what, and in which plan. Without a session it is the one\nthat was touched last here.",
		Example:     "  agents session show\n  agents session show parser --messages 2",
		Annotations: does(a2a.SessionShow().Method),
		Args:        between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("messages") && o.q.Messages < 1 {
				return usage(cmd.CommandPath(), "--messages is at least 1")
			}
			o.q.Ref = refOr(args)
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().IntVar(&o.q.Messages, "messages", 0, "only so many, the newest (default: all)")
	return cmd
}

func (o *sessionShow) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.SessionShow(), o.q)
	if err != nil {
		return err
	}
	o.app.put(output{schema: "agents.session-show.v1", data: v, next: v.Session.Next, human: func(p *printer) {
		sessionLines(p, v.Session)
		if v.Earlier > 0 {
			p.printf("%s", p.dim("… "+plural(v.Earlier, "earlier message")))
		}
		for _, m := range v.Messages {
			p.printf("")
			p.block(fmt.Sprintf("%d %s, %s, plan %s", m.N, speaker(m), m.At, shortID(m.Plan)), m.Text)
		}
	}})
	return nil
}
