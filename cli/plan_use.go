package cli

import (
	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/config"
	"github.com/cleveragents/agents/decode"
)

type planUse struct {
	app        *app
	req        a2a.PlanUseRequest
	args       []string
	argsFile   string
	promptFile string
}

func newPlanUse(a *app) *cobra.Command {
	o := &planUse{app: a}
	cmd := &cobra.Command{
		Use:   "use <action>",
		Short: "Make a plan from an action",
		Long: `Make a plan from an action, for a project. The action, its actors and the profile
are copied into the plan and stay as they are now. With --wait the plan goes on at
once, as far as its profile allows.`,
		Example:     "  agents plan use fix-tests --arg package=./store\n  agents plan use builtin/command --arg command='gofmt -w .' --wait",
		Annotations: using(does(a2a.PlanUse().Method), "project", "wait", "no-wait"),
		Args:        between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.fill(cmd.CommandPath(), args[0]); err != nil {
				return err
			}
			var err error
			if o.req.Start, err = a.waits(cmd, false); err != nil {
				return err
			}
			return follow(cmd.Context(), a, a2a.PlanUse(), o.req, toStop)
		},
	}
	o.bind(cmd)
	return cmd
}

// bind adds the flags that plan use and run share.
func (o *planUse) bind(cmd *cobra.Command) {
	f, r := cmd.Flags(), &o.req
	f.StringArrayVar(&o.args, "arg", nil, "argument as `key=value`; repeatable")
	f.StringVar(&o.argsFile, "args-file", "", "YAML `file` with arguments; - is standard input")
	f.StringVar(&r.Name, "name", "", "`name` of the plan (default: made from the action's)")
	f.StringVar(&r.Profile, "automation-profile", "", "what goes ahead without a person (agents help profiles)")
	f.StringVar(&r.Prompt, "prompt", "", "more words for the actors")
	f.StringVar(&o.promptFile, "prompt-file", "", "`file` with more words for the actors; - is standard input")
	f.StringArrayVar(&r.Invariants, "invariant", nil, "what must hold; repeatable")
	f.StringVar(&r.StrategyActor, "strategy-actor", "", "`actor` instead of the action's")
	f.StringVar(&r.ExecutionActor, "execution-actor", "", "`actor` instead of the action's")
	f.BoolVar(&r.Force, "force", false, "accept a home directory or / as the project")
}

// fill completes the request from flags, files and environment.
func (o *planUse) fill(command, action string) error {
	a := o.app
	o.req.Action, o.req.Project, o.req.NoInput = action, a.project(), a.flags.noInput
	if o.req.Profile == "" {
		o.req.Profile = a.settings.Of(config.Env, config.Profile)
	}
	if o.argsFile == stdin && o.promptFile == stdin {
		return usage(command, "--args-file and --prompt-file cannot both read standard input")
	}
	if o.argsFile != "" {
		text, err := a.read(o.argsFile)
		if err != nil {
			return err
		}
		if err := decode.YAML(o.argsFile, []byte(text), &o.req.Args); err != nil {
			return err
		}
	}
	if o.req.Args == nil {
		o.req.Args = map[string]string{}
	}
	if err := pairs(command, "--arg", o.args, o.req.Args); err != nil {
		return err
	}
	if o.promptFile == "" {
		return nil
	}
	if o.req.Prompt != "" {
		return usage(command, "give either --prompt or --prompt-file")
	}
	var err error
	o.req.Prompt, err = a.read(o.promptFile)
	return err
}
