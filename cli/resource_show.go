package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type resourceShow struct{ app *app }

func newResourceShow(a *app) *cobra.Command {
	o := &resourceShow{a}
	return &cobra.Command{
		Use: "show <resource>", Aliases: []string{"get"},
		Short:       "Show one resource",
		Long:        "Show one resource, given by its name, its id or the end of its id.",
		Example:     "  agents resource show shop-code",
		Annotations: does(a2a.ResourceShow().Method),
		Args:        between(1, 1),
		RunE:        func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0]) },
	}
}

func (o *resourceShow) run(ctx context.Context, ref string) error {
	v, err := call(ctx, o.app, a2a.ResourceShow(), a2a.RefQuery{Ref: ref})
	if err != nil {
		return err
	}
	o.app.put(resourceOutput(v))
	return nil
}

func resourceOutput(v a2a.ResourceView) output {
	return output{schema: "agents.resource.v1", data: v, human: func(p *printer) {
		r := v.Resource
		p.printf("%s %s", p.bold(r.Name), p.dim(r.Type))
		p.field("id", r.ID)
		p.field("location", r.Location)
		p.field("projects", strings.Join(v.Projects, ", "))
	}}
}
