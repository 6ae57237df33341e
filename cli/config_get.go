package cli

import (
	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

func newConfigGet(a *app) *cobra.Command {
	var origin bool
	cmd := &cobra.Command{
		Use:         "get <key>",
		Short:       "Show the value of a key that counts",
		Long:        "Show the value of a key as it counts in the project of -p, or the one here.",
		Example:     "  agents config get core.automation-profile --origin",
		Annotations: using(does(a2a.ConfigGet().Method), "project"),
		Args:        between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			v, err := call(cmd.Context(), a, a2a.ConfigGet(), a2a.ConfigQuery{Key: args[0], Project: a.project(), Said: a.said(cmd)})
			if err != nil {
				return err
			}
			a.put(output{schema: "agents.config-value.v1", data: v, human: func(p *printer) {
				if origin {
					p.rows([]string{"value", "from"}, [][]any{{v.Value, v.Origin.Text}})
					return
				}
				p.printf("%s", v.Value)
			}})
			return nil
		},
	}
	cmd.Flags().BoolVar(&origin, "origin", false, "also show where the value is from")
	return cmd
}
