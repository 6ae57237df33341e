package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

func newSessionTell(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "tell <session> {<text> | -}",
		Short: "Say the next thing in a conversation",
		Long: `Say the next thing in a conversation and wait for the answer. It is a plan of
builtin/ask: the actor reads the project and changes nothing, and sees what was said
before, the newest of it where that is long. A conversation has one question at a time:
while the last one has no answer, the next is refused.`,
		Example:     "  agents session tell parser 'Where are prices rounded?'\n  git diff | agents session tell @last -",
		Annotations: does(a2a.SessionTell().Method),
		Args:        between(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			req := a2a.SessionTellRequest{Ref: args[0], Text: args[1], NoInput: a.flags.noInput}
			if req.Text == stdin {
				var err error
				if req.Text, err = a.read(stdin); err != nil {
					return err
				}
			}
			if strings.TrimSpace(req.Text) == "" {
				return usage(cmd.CommandPath(), "there is nothing to tell")
			}
			return follow(cmd.Context(), a, a2a.SessionTell(), req, toApplied)
		},
	}
}
