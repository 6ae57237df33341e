package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type providerModels struct {
	app    *app
	prices bool
}

func newProviderModels(a *app) *cobra.Command {
	o := &providerModels{app: a}
	cmd := &cobra.Command{
		Use:   "models <provider>",
		Short: "List the models of a provider",
		Long: `List the models of a provider: those it was set up with, else those of the built-in
catalogue, else those that a server of this machine tells. Prices are in US dollars
for a million tokens; ? is not known.`,
		Example:     "  agents provider models anthropic --prices",
		Annotations: does(a2a.ProviderModels().Method),
		Args:        between(1, 1),
		RunE:        func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0]) },
	}
	cmd.Flags().BoolVar(&o.prices, "prices", false, "what a million tokens cost")
	return cmd
}

func (o *providerModels) run(ctx context.Context, name string) error {
	v, err := call(ctx, o.app, a2a.ProviderModels(), a2a.NameQuery{Name: name})
	if err != nil {
		return err
	}
	o.app.put(output{schema: "agents.provider-models.v1", data: v, human: func(p *printer) {
		head := []string{"model", "context", "answer"}
		if o.prices {
			head = append(head, "in", "out", "cache read", "cache write")
		}
		var rows [][]any
		for _, m := range v.Models {
			row := []any{p.bold(m.ID), tokens(m.Context), tokens(m.MaxOutput)}
			if o.prices {
				row = append(row, usd(m.Input), usd(m.Output), usd(m.CacheRead), usd(m.CacheWrite))
			}
			rows = append(rows, row)
		}
		p.rows(head, rows)
	}})
	return nil
}
