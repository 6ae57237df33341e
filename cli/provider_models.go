package cli

import (
	"context"
	"math"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type providerModels struct {
	app    *app
	prices bool
	list[a2a.ModelView]
}

// fields are those of models; prices are seldom wanted.
func (o *providerModels) fields() []column[a2a.ModelView] {
	type row = a2a.ModelView
	priced := func(p *printer) bool { return o.prices || p.wide }
	price := func(name string, of func(row) *float64) column[row] {
		return column[row]{
			name: name, when: priced, draw: func(_ *printer, x row) any { return usd(of(x)) },
			value: func(x row) any {
				if of(x) == nil {
					return math.Inf(1) // what is not known comes last
				}
				return *of(x)
			},
		}
	}
	return []column[row]{
		{name: "model", value: func(x row) any { return x.ID }, draw: func(p *printer, x row) any { return p.bold(x.ID) }},
		{name: "name", value: func(x row) any { return x.Name }, when: never},
		{name: "context", value: func(x row) any { return x.Context }, draw: func(_ *printer, x row) any { return tokens(x.Context) }},
		{name: "answer", value: func(x row) any { return x.MaxOutput }, draw: func(_ *printer, x row) any { return tokens(x.MaxOutput) }},
		{name: "reasons", value: func(x row) any { return x.Reasons }, when: never},
		price("in", func(x row) *float64 { return x.Input }),
		price("out", func(x row) *float64 { return x.Output }),
		price("cache-read", func(x row) *float64 { return x.CacheRead }),
		price("cache-write", func(x row) *float64 { return x.CacheWrite }),
	}
}

func newProviderModels(a *app) *cobra.Command {
	o := &providerModels{app: a}
	o.columns = o.fields()
	cmd := &cobra.Command{
		Use:   "models <provider>",
		Short: "List the models of a provider",
		Long: `List the models of a provider: those it was set up with, else those of the built-in
catalogue, else those that a server of this machine tells. Prices are in US dollars
for a million tokens; ? is not known.`,
		Example:     "  agents provider models anthropic --prices\n  agents provider models openai --sort in --limit 5",
		Annotations: using(does(a2a.ProviderModels().Method), "wide"),
		Args:        between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			return o.run(cmd.Context(), args[0])
		},
	}
	cmd.Flags().BoolVar(&o.prices, "prices", false, "what a million tokens cost")
	o.bind(cmd, "")
	return cmd
}

func (o *providerModels) run(ctx context.Context, name string) error {
	v, err := call(ctx, o.app, a2a.ProviderModels(), a2a.NameQuery{Name: name})
	if err != nil {
		return err
	}
	out := output{schema: "agents.provider-models.v1"}
	v.Models, out.warnings = o.take(v.Models)
	out.data, out.human = v, func(p *printer) { o.table(p, v.Models) }
	o.app.put(out)
	return nil
}
