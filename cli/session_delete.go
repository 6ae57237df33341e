package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
)

type sessionDelete struct{ app *app }

func newSessionDelete(a *app) *cobra.Command {
	o := &sessionDelete{a}
	return &cobra.Command{
		Use: "delete <session>", Aliases: []string{"rm"},
		Short: "Delete a conversation",
		Long: `Delete a conversation and what was said in it. Its plans stay, with their questions and
answers. It asks first; where nobody can be asked, --yes is needed.`,
		Example:     "  agents session delete parser --yes",
		Annotations: does(a2a.SessionDelete().Method, a2a.SessionShow().Method),
		Args:        between(1, 1),
		RunE:        func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0]) },
	}
}

func (o *sessionDelete) run(ctx context.Context, ref string) error {
	a := o.app
	if !a.flags.yes {
		shown, err := call(ctx, a, a2a.SessionShow(), a2a.SessionShowQuery{Ref: ref, Messages: 1})
		if err != nil {
			return err
		}
		if err := o.agree(ctx, shown.Session); err != nil {
			return err
		}
		ref = string(shown.Session.ID) // exactly the one that was shown
	}
	v, err := call(ctx, a, a2a.SessionDelete(), a2a.RefQuery{Ref: ref})
	if err != nil {
		return err
	}
	out := sessionOutput(v)
	out.human = func(p *printer) {
		p.printf("%s is deleted, with %s; its plans stay", p.bold(v.Name), plural(v.Messages, "message"))
	}
	a.put(out)
	return nil
}

// agree asks a person for a yes.
func (o *sessionDelete) agree(ctx context.Context, s a2a.SessionSummary) error {
	a := o.app
	again := "agents session delete " + string(s.ID) + " --yes"
	if !a.ask {
		a.put(output{next: []string{again}})
		return fault.New(fault.Waiting, "session %s with %s is deleted only when a person says so", s.Name, plural(s.Messages, "message")).
			WithHint("add --yes")
	}
	yes, err := a.confirm(ctx, fmt.Sprintf("Delete session %s with %s?", s.Name, plural(s.Messages, "message")))
	if err == nil && !yes {
		err = fault.New(fault.Cancelled, "not deleted")
	}
	return err
}
