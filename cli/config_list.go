package cli

import (
	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

func newConfigList(a *app) *cobra.Command {
	var origin, all bool
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"},
		Short:       "List what is set",
		Long:        "List what is set as it counts in the project of -p, or the one here.",
		Example:     "  agents config list --origin\n  agents config list --defaults",
		Annotations: using(does(a2a.ConfigList().Method), "project", "wide"),
		Args:        between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			v, err := call(cmd.Context(), a, a2a.ConfigList(), a2a.ConfigListQuery{Project: a.project(), Said: a.said(cmd), All: all})
			if err != nil {
				return err
			}
			a.put(output{schema: "agents.config-list.v1", data: v, human: func(p *printer) {
				header := []string{"key", "value"}
				if origin {
					header = append(header, "from")
				}
				var rows [][]any
				for _, x := range v.Values {
					row := []any{p.bold(x.Key), orNothing(x.Value), x.Origin.Text}
					rows = append(rows, row[:len(header)])
				}
				p.rows(header, rows)
			}})
			return nil
		},
	}
	cmd.Flags().BoolVar(&origin, "origin", false, "also show where each value is from")
	cmd.Flags().BoolVar(&all, "defaults", false, "also list keys that have their default")
	return cmd
}
