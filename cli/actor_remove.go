package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type actorRemove struct{ app *app }

func newActorRemove(a *app) *cobra.Command {
	o := &actorRemove{a}
	return &cobra.Command{
		Use: "remove <actor>", Aliases: []string{"rm"},
		Short: "Forget an actor",
		Long: `Forget an actor that no action and no other actor names. Plans keep the copy that
they were made with.`,
		Example:     "  agents actor remove coder",
		Annotations: does(a2a.ActorRemove().Method),
		Args:        between(1, 1),
		RunE:        func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0]) },
	}
}

func (o *actorRemove) run(ctx context.Context, name string) error {
	v, err := call(ctx, o.app, a2a.ActorRemove(), a2a.NameQuery{Name: name})
	if err != nil {
		return err
	}
	out := actorOutput(v)
	out.human = func(p *printer) { p.printf("%s is removed", p.bold(v.Actor.Name)) }
	o.app.put(out)
	return nil
}
