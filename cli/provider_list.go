package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type providerList struct {
	app *app
	q   a2a.ProviderListQuery
	list[a2a.ProviderView]
}

func providerColumns() []column[a2a.ProviderView] {
	type row = a2a.ProviderView
	return []column[row]{
		{name: "name", value: func(x row) any { return x.Provider.Name }, draw: func(p *printer, x row) any { return p.bold(x.Provider.Name) }},
		{name: "kind", value: func(x row) any { return string(x.Provider.Kind) }},
		{name: "known", value: func(x row) any { return x.How }},
		{
			name: "key", value: func(x row) any { return x.Key },
			draw: func(_ *printer, x row) any {
				if x.Problem != "" {
					return x.Problem
				}
				return x.Key
			},
		},
		{name: "problem", value: func(x row) any { return x.Problem }, when: never},
	}
}

func newProviderList(a *app) *cobra.Command {
	o := &providerList{app: a, list: list[a2a.ProviderView]{columns: providerColumns()}}
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"},
		Short: "List providers of models",
		Long: `List the providers that are set up: added, or known by a key in the environment.
--detect also asks the servers of this machine (Ollama, llama.cpp, vLLM, LM Studio at
their usual ports on loopback) and says which model is used where none is named.`,
		Example:     "  agents provider list\n  agents provider list --detect",
		Annotations: using(does(a2a.ProviderList().Method), "wide"),
		Args:        between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&o.q.Detect, "detect", false, "look for servers on this machine too")
	o.bind(cmd, "")
	return cmd
}

func (o *providerList) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.ProviderList(), o.q)
	if err != nil {
		return err
	}
	out := output{schema: "agents.provider-list.v1"}
	v.Providers, out.warnings = o.take(v.Providers)
	out.data, out.human = v, func(p *printer) {
		o.table(p, v.Providers)
		if v.Default != nil {
			p.printf("")
			p.printf("default: %s/%s (%s)", v.Default.Provider, v.Default.Model, v.Default.Why)
		}
	}
	o.app.put(out)
	return nil
}
