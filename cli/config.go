package cli

import (
	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

func newConfigGroup(a *app) *cobra.Command {
	return group(a, "config", "See and change what is set",
		`See and change what is set. A value counts from the strongest of: a flag, the
environment, what is set for the project, a file of the project (which can only lower
a limit), your own file, the default. "agents config list --defaults" shows every key.`,
		newConfigGet(a), newConfigSet(a), newConfigUnset(a), newConfigList(a), newConfigExplain(a), newConfigEdit(a), newConfigPath(a), newConfigValidate(a))
}

// orNothing is a value as people read it.
func orNothing(value string) string {
	if value == "" {
		return "(nothing)"
	}
	return value
}

// changeOutput tells what was changed, and warns where it does not count.
func changeOutput(v a2a.ConfigChange, verb string) output {
	o := output{schema: "agents.config-change.v1", data: v, human: func(p *printer) {
		if !v.Changed {
			p.printf("%s nothing to change in %s", p.bold(v.Key), v.Where)
			return
		}
		p.printf("%s %s in %s", p.bold(v.Key), verb, v.Where)
	}}
	switch {
	case v.Problem != "":
		o.warnings = append(o.warnings, v.Problem)
	case v.Value != "" && v.Now.Value != v.Value:
		o.warnings = append(o.warnings, "now "+v.Now.Value+" counts: "+v.Now.Origin.Text)
	}
	return o
}
