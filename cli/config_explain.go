package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

func newConfigExplain(a *app) *cobra.Command {
	return &cobra.Command{
		Use:         "explain <key>",
		Short:       "Say what a key is for and all that sets it",
		Long:        "Say what a key is for, what it takes, who may set it, and all that is said about it\nnow, the strongest first.",
		Example:     "  agents config explain plan.max-cost",
		Annotations: using(does(a2a.ConfigExplain().Method), "project", "wide"),
		Args:        between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			v, err := call(cmd.Context(), a, a2a.ConfigExplain(), a2a.ConfigQuery{Key: args[0], Project: a.project(), Said: a.said(cmd)})
			if err != nil {
				return err
			}
			a.put(output{schema: "agents.config-key.v1", data: v, human: func(p *printer) {
				p.printf("%s", p.bold(v.Key))
				p.block("about", v.Doc)
				p.field("takes", v.Takes)
				p.field("default", orNothing(v.Default))
				p.field("set by", strings.Join(v.Layers, ", "))
				p.field("command", v.Instead)
				p.field("variables", strings.Join(v.Vars, ", "))
				p.field("flag", v.Flag)
				for i, x := range v.Said {
					name := "now"
					if i > 0 {
						name = "instead of"
					}
					p.field(name, orNothing(x.Value)+" ("+x.Origin.Text+")")
				}
			}})
			return nil
		},
	}
}
