package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type providerShow struct{ app *app }

func newProviderShow(a *app) *cobra.Command {
	o := &providerShow{a}
	return &cobra.Command{
		Use: "show <provider>", Aliases: []string{"get"},
		Short:       "Show a provider of models",
		Long:        "Show a provider: what it speaks, where it is, and where its key is taken from. The key itself is never shown.",
		Example:     "  agents provider show anthropic",
		Annotations: does(a2a.ProviderShow().Method),
		Args:        between(1, 1),
		RunE:        func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0]) },
	}
}

func (o *providerShow) run(ctx context.Context, name string) error {
	v, err := call(ctx, o.app, a2a.ProviderShow(), a2a.NameQuery{Name: name})
	if err != nil {
		return err
	}
	o.app.put(providerOutput(v))
	return nil
}
