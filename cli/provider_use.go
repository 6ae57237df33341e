package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type providerUse struct{ app *app }

func newProviderUse(a *app) *cobra.Command {
	o := &providerUse{a}
	return &cobra.Command{
		Use:   "use [<provider>/<model>]",
		Short: "Choose the model where none is named",
		Long: `Choose the model that actors use which name none, such as those of builtin/change.
Without a model the program chooses again: the first provider (by name) that was added, then a
key in the environment, then a server of this machine.`,
		Example:     "  agents provider use anthropic/claude-sonnet-4-5",
		Annotations: does(a2a.ProviderUse().Method),
		Args:        between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			model := ""
			if len(args) > 0 {
				model = args[0]
			}
			return o.run(cmd.Context(), model)
		},
	}
}

func (o *providerUse) run(ctx context.Context, model string) error {
	v, err := call(ctx, o.app, a2a.ProviderUse(), a2a.ProviderUseRequest{Model: model})
	if err != nil {
		return err
	}
	o.app.put(output{schema: "agents.default-model.v1", data: v, human: func(p *printer) {
		p.printf("%s/%s is used where no model is named: %s", p.bold(v.Provider), p.bold(v.Model), v.Why)
	}})
	return nil
}
