package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type providerList struct {
	app *app
	q   a2a.ProviderListQuery
}

func newProviderList(a *app) *cobra.Command {
	o := &providerList{app: a}
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"},
		Short: "List providers of models",
		Long: `List the providers that are set up: added, or known by a key in the environment.
--detect also asks the servers of this machine (Ollama, llama.cpp, vLLM, LM Studio at
their usual ports on loopback) and says which model is used where none is named.`,
		Example:     "  agents provider list\n  agents provider list --detect",
		Annotations: does(a2a.ProviderList().Method),
		Args:        between(0, 0),
		RunE:        func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	cmd.Flags().BoolVar(&o.q.Detect, "detect", false, "look for servers on this machine too")
	return cmd
}

func (o *providerList) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.ProviderList(), o.q)
	if err != nil {
		return err
	}
	o.app.put(output{schema: "agents.provider-list.v1", data: v, human: func(p *printer) {
		var rows [][]any
		for _, x := range v.Providers {
			key := x.Key
			if x.Problem != "" {
				key = x.Problem
			}
			rows = append(rows, []any{p.bold(x.Provider.Name), string(x.Provider.Kind), x.How, key})
		}
		p.rows([]string{"name", "kind", "known", "key"}, rows)
		if v.Default != nil {
			p.printf("")
			p.printf("default: %s/%s (%s)", v.Default.Provider, v.Default.Model, v.Default.Why)
		}
	}})
	return nil
}
