package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type initCmd struct {
	app *app
	req a2a.ProjectInitRequest
}

// initView is a project with the model that its plans use where none is named.
type initView struct {
	a2a.ProjectView
	Model *a2a.DefaultModelView `json:"model,omitempty"`
}

func newInit(a *app) *cobra.Command {
	o := &initCmd{app: a}
	cmd := &cobra.Command{
		Use:   "init [<dir>]",
		Short: "Make a directory a project",
		Long: `Make a directory a project: register it as a resource, make a project that links
it, and make that project the current one. Nothing in the directory is changed. Then
say which model is used where none is named: by a key in the environment or a server
of this machine.`,
		Example:     "  agents init\n  agents init ../site --name site --type fs-directory",
		Annotations: does(a2a.ProjectInit().Method, a2a.ProviderList().Method),
		Args:        between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.req.Dir = a.dir
			if len(args) > 0 {
				o.req.Dir = a.abs(args[0])
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.req.Name, "name", "", "name of the project (default: of the directory)")
	cmd.Flags().StringVar(&o.req.Type, "type", "", "git-checkout or fs-directory (default: what it is)")
	cmd.Flags().BoolVar(&o.req.Force, "force", false, "accept a home directory or /")
	return cmd
}

func (o *initCmd) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.ProjectInit(), o.req)
	if err != nil {
		return err
	}
	found, err := call(ctx, o.app, a2a.ProviderList(), a2a.ProviderListQuery{Detect: true})
	if err != nil {
		return err
	}
	out := projectOutput(v)
	project := out.human
	out.data = initView{v, found.Default}
	out.human = func(p *printer) {
		project(p)
		if m := found.Default; m != nil {
			p.field("model", m.Provider+"/"+m.Model+" ("+m.Why+")")
			return
		}
		p.field("model", "none")
		p.printf("\nTo have a model, set a key such as ANTHROPIC_API_KEY, or start a local server such as\nOllama. These need none: agents demo, agents run builtin/command.")
	}
	o.app.put(out)
	return nil
}
