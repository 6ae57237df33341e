package cli

import (
	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
)

func newConfigValidate(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "validate",
		Short: "Look for mistakes in all that is set",
		Long: `Look for mistakes in your file, in what is set for the project of -p or the one here,
in the files of that project, and in the environment. Exit 2 when there is one.`,
		Example:     "  agents config validate",
		Annotations: using(does(a2a.ConfigValidate().Method), "project", "wide"),
		Args:        between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			v, err := call(cmd.Context(), a, a2a.ConfigValidate(), a2a.ConfigQuery{Project: a.project()})
			if err != nil {
				return err
			}
			a.put(output{schema: "agents.config-check.v1", data: v, human: func(p *printer) {
				for _, x := range v.Looked {
					p.field("looked at", x)
				}
				for _, x := range v.Problems {
					p.printf("%s %s", p.bad("problem:"), x.Message)
					p.field("  hint", x.Hint)
				}
				if len(v.Problems) == 0 {
					p.printf("%s", p.good("nothing is wrong"))
				}
			}})
			if n := len(v.Problems); n > 0 {
				return fault.New(fault.Invalid, "%s in the configuration", plural(n, "mistake"))
			}
			return nil
		},
	}
}
