package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type providerRemove struct{ app *app }

func newProviderRemove(a *app) *cobra.Command {
	o := &providerRemove{a}
	return &cobra.Command{
		Use: "remove <provider>", Aliases: []string{"rm"},
		Short:       "Forget a provider of models",
		Long:        "Forget a provider that was added. Its key stays where it is; what plans have recorded stays, too.",
		Example:     "  agents provider remove llama",
		Annotations: does(a2a.ProviderRemove().Method),
		Args:        between(1, 1),
		RunE:        func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0]) },
	}
}

func (o *providerRemove) run(ctx context.Context, name string) error {
	v, err := call(ctx, o.app, a2a.ProviderRemove(), a2a.NameQuery{Name: name})
	if err != nil {
		return err
	}
	out := providerOutput(v)
	out.human = func(p *printer) { p.printf("%s is removed", p.bold(v.Provider.Name)) }
	o.app.put(out)
	return nil
}
