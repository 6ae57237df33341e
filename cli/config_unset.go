package cli

import (
	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

func newConfigUnset(a *app) *cobra.Command {
	return &cobra.Command{
		Use:         "unset <key>",
		Short:       "Take back what was set for a key",
		Long:        "Take a key out of your own file, or with -p out of what is set for one project.",
		Example:     "  agents config unset plan.max-cost\n  agents config unset core.automation-profile -p shop",
		Annotations: using(does(a2a.ConfigUnset().Method), "project"),
		Args:        between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			v, err := call(cmd.Context(), a, a2a.ConfigUnset(), a2a.ConfigSetRequest{Key: args[0], Project: a.named(cmd)})
			if err != nil {
				return err
			}
			a.put(changeOutput(v, "taken out; now "+orNothing(v.Now.Value)))
			return nil
		},
	}
}
