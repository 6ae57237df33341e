package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/action"
)

type actionCreate struct {
	app    *app
	config string
	update bool
	words  action.Action
	args   []string
}

func newActionCreate(a *app) *cobra.Command {
	o := &actionCreate{app: a}
	cmd := &cobra.Command{
		Use:   "create {--config <file> | <name>}",
		Short: "Register an action",
		Long: `Register an action from a YAML file, or from a name and flags. An argument is
declared as name:type, where type is string, integer, number or boolean; it is
required unless a default is given, as in name:type=default.`,
		Example: `  agents action create --config fix-tests.yaml
  agents action create fmt --description "Format the code" \
      --definition-of-done "gofmt -l prints nothing" --strategy-actor planner \
      --execution-actor coder --arg dir:string=.`,
		Annotations: does(a2a.ActionCreate().Method),
		Args:        between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd, args)
		},
	}
	f, w := cmd.Flags(), &o.words
	f.StringVarP(&o.config, "config", "f", "", "YAML file of the action; - is standard input")
	f.BoolVar(&o.update, "update", false, "replace an action of that name")
	f.StringVar(&w.Description, "description", "", "what is to be done")
	f.StringVar(&w.DefinitionOfDone, "definition-of-done", "", "when it is done")
	f.StringVar(&w.StrategyActor, "strategy-actor", "", "actor that decides how")
	f.StringVar(&w.ExecutionActor, "execution-actor", "", "actor that does it")
	f.StringVar(&w.EstimationActor, "estimation-actor", "", "actor that says what a plan will cost")
	f.StringVar(&w.InvariantActor, "invariant-actor", "", "actor that reconciles invariants")
	f.StringVar(&w.AutomationProfile, "automation-profile", "", "profile of its plans")
	f.StringArrayVar(&o.args, "arg", nil, "declare an argument as name:type[=default]; repeatable")
	f.StringArrayVar(&w.Invariants, "invariant", nil, "what must hold; repeatable")
	f.BoolVar(&w.ReadOnly, "read-only", false, "its plans change nothing")
	return cmd
}

// wordFlags are the flags that a file takes the place of.
func wordFlags() []string {
	return []string{"description", "definition-of-done", "strategy-actor", "execution-actor", "estimation-actor", "invariant-actor",
		"automation-profile", "arg", "invariant", "read-only"}
}

func (o *actionCreate) run(cmd *cobra.Command, args []string) error {
	src, err := o.source(cmd, args)
	if err != nil {
		return err
	}
	return o.create(cmd.Context(), src)
}

func (o *actionCreate) create(ctx context.Context, src a2a.ActionSource) error {
	v, err := call(ctx, o.app, a2a.ActionCreate(), src)
	if err != nil {
		return err
	}
	o.app.put(actionOutput(v))
	return nil
}

func (o *actionCreate) source(cmd *cobra.Command, args []string) (a2a.ActionSource, error) {
	name := cmd.CommandPath()
	if o.config != "" {
		if len(args) > 0 {
			return a2a.ActionSource{}, usage(name, "give either a name or --config, not both")
		}
		for _, f := range wordFlags() {
			if cmd.Flags().Changed(f) {
				return a2a.ActionSource{}, usage(name, "--%s does not go with --config: it belongs in the file", f)
			}
		}
		text, err := o.app.read(o.config)
		return a2a.ActionSource{File: o.config, Text: text, Update: o.update}, err
	}
	if len(args) == 0 {
		return a2a.ActionSource{}, usage(name, "give a name or --config <file>")
	}
	o.words.Name, o.words.State = args[0], action.Available
	for _, w := range o.args {
		g, err := parseArg(name, w)
		if err != nil {
			return a2a.ActionSource{}, err
		}
		o.words.Args = append(o.words.Args, g)
	}
	return a2a.ActionSource{Action: &o.words, Update: o.update}, nil
}

// parseArg reads name:type[=default].
func parseArg(command, s string) (action.Arg, error) {
	decl, def, hasDefault := strings.Cut(s, "=")
	name, kind, ok := strings.Cut(decl, ":")
	if !ok || name == "" || kind == "" {
		return action.Arg{}, usage(command, "--arg %q is not name:type[=default]", s)
	}
	g := action.Arg{Name: name, Type: action.ArgType(kind), Required: !hasDefault}
	if hasDefault {
		g.Default = &def
	}
	return g, nil
}
