package cli

import (
	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

func newConfigPath(a *app) *cobra.Command {
	return &cobra.Command{
		Use:         "path",
		Short:       "Show where your configuration file is",
		Long:        "Show where your configuration file is, whether or not it exists yet. --config-file and\nAGENTS_CONFIG_FILE name another one.",
		Example:     "  agents config path",
		Annotations: does(a2a.ConfigPath().Method),
		Args:        between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			v, err := call(cmd.Context(), a, a2a.ConfigPath(), a2a.Nothing{})
			if err != nil {
				return err
			}
			a.put(output{schema: "agents.config-path.v1", data: v, human: func(p *printer) { p.printf("%s", v.Path) }})
			return nil
		},
	}
}
