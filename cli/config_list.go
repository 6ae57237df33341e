package cli

import (
	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

func newConfigList(a *app) *cobra.Command {
	var origin, defaults bool
	o := &list[a2a.ConfigValue]{columns: configColumns(&origin)}
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"},
		Short:       "List what is set",
		Long:        "List what is set as it counts in the project of -p, or the one here.",
		Example:     "  agents config list --origin\n  agents config list --defaults",
		Annotations: using(does(a2a.ConfigList().Method), "project", "wide"),
		Args:        between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			v, err := call(cmd.Context(), a, a2a.ConfigList(), a2a.ConfigListQuery{Project: a.project(), Said: a.said(cmd), All: defaults})
			if err != nil {
				return err
			}
			out := output{schema: "agents.config-list.v1"}
			v.Values, out.warnings = o.take(v.Values)
			out.data, out.human = v, func(p *printer) { o.table(p, v.Values) }
			a.put(out)
			return nil
		},
	}
	cmd.Flags().BoolVar(&origin, "origin", false, "also show where each value is from")
	o.bind(cmd, "")
	cmd.Flags().BoolVar(&defaults, "defaults", false, "also list keys that have their default")
	return cmd
}

// configColumns are the fields of a setting; where it is from is shown with
// --origin.
func configColumns(origin *bool) []column[a2a.ConfigValue] {
	type row = a2a.ConfigValue
	return []column[row]{
		{name: "key", value: func(x row) any { return x.Key }, draw: func(p *printer, x row) any { return p.bold(x.Key) }},
		{name: "value", value: func(x row) any { return x.Value }, draw: func(_ *printer, x row) any { return orNothing(x.Value) }},
		{name: "from", value: func(x row) any { return x.Origin.Text }, when: func(p *printer) bool { return *origin || p.wide }},
		{name: "layer", value: func(x row) any { return x.Origin.Layer }, when: never},
	}
}
