package cli

import "github.com/spf13/cobra"

type versionCmd struct{ app *app }

func newVersion(a *app) *cobra.Command {
	o := &versionCmd{a}
	return &cobra.Command{
		Use:         "version",
		Annotations: map[string]string{noteSays: "yes"},
		Short:       "Show the version of the program",
		Long:        "Show the version of the program and what it was built from.",
		Example:     "  agents version\n  agents version --format json",
		Args:        between(0, 0),
		RunE:        func(*cobra.Command, []string) error { return o.run() },
	}
}

func (o *versionCmd) run() error {
	v := o.app.env.Version
	o.app.put(output{schema: "agents.version.v1", data: v, human: func(p *printer) {
		p.printf("agents %s", v.Version)
		p.field("commit", v.Commit)
		p.field("built", v.Date)
		p.field("go", v.Go)
	}})
	return nil
}
