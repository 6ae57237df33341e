package cli

import (
	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

func newConfigSet(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "set <key> <value>",
		Short: "Set a key, for you or with -p for one project",
		Long: `Set a key in your own file, or with -p for one project. The value is checked first.
In the file one line is changed or added: comments and order stay.`,
		Example: `  agents config set core.automation-profile review
  agents config set core.automation-profile ci -p shop
  agents config set plan.max-cost 2.50`,
		Annotations: using(does(a2a.ConfigSet().Method), "project"),
		Args:        between(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			v, err := call(cmd.Context(), a, a2a.ConfigSet(), a2a.ConfigSetRequest{Key: args[0], Value: args[1], Project: a.named(cmd)})
			if err != nil {
				return err
			}
			a.put(changeOutput(v, "= "+v.Value))
			return nil
		},
	}
}
