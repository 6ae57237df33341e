package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

// providerTest is in this file because Go takes provider_test.go for a test.
type providerTest struct {
	app   *app
	model string
}

func newProviderTest(a *app) *cobra.Command {
	o := &providerTest{app: a}
	cmd := &cobra.Command{
		Use:   "test <provider>",
		Short: "Ask a provider for one word",
		Long: `Ask a model of the provider to say one word: whether the address, the key and the
model are right, how long it takes and what it costs (a few tokens).`,
		Example:     "  agents provider test anthropic\n  agents provider test llama --model qwen3",
		Annotations: does(a2a.ProviderTest().Method),
		Args:        between(1, 1),
		RunE:        func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0]) },
	}
	cmd.Flags().StringVar(&o.model, "model", "", "the model to ask (default: the provider's smallest)")
	return cmd
}

func (o *providerTest) run(ctx context.Context, name string) error {
	v, err := call(ctx, o.app, a2a.ProviderTest(), a2a.ProviderTestRequest{Name: name, Model: o.model})
	if err != nil {
		return err
	}
	o.app.put(output{schema: "agents.provider-test.v1", data: v, human: func(p *printer) {
		cost := "price not known"
		if v.Cost != nil {
			cost = fmt.Sprintf("$%.6f", *v.Cost)
		}
		p.printf("%s/%s answers %q in %d ms", p.bold(v.Provider), p.bold(v.Model), v.Said, v.Millis)
		p.field("called itself", v.Resolved)
		p.field("tokens", fmt.Sprintf("%d in, %d out", max(v.Usage.Input, 0), max(v.Usage.Output, 0)))
		p.field("cost", cost)
	}})
	return nil
}
