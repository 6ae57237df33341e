package cli

import (
	"context"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
)

type actorAdd struct {
	app    *app
	config string
	update bool
	words  actor.Config
}

func newActorAdd(a *app) *cobra.Command {
	o := &actorAdd{app: a}
	cmd := &cobra.Command{
		Use:   "add {--config <file> | <name> --provider <p> --model <m>}",
		Short: "Register an actor",
		Long: `Register an actor from a YAML file, or one model from a name and flags. Keys of
providers are read from the environment when a plan runs; they are never stored.`,
		Example:     "  agents actor add coder --provider anthropic --model claude-sonnet-4-5\n  agents actor add --config reviewer.yaml",
		Annotations: does(a2a.ActorAdd().Method),
		Args:        between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			src, err := o.source(cmd, args)
			if err != nil {
				return err
			}
			return o.run(cmd.Context(), src)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.config, "config", "f", "", "YAML file of the actor; - is standard input")
	f.StringVar(&o.words.Provider, "provider", "", "provider of the model")
	f.StringVar(&o.words.Model, "model", "", "the model")
	f.BoolVar(&o.update, "update", false, "replace an actor of that name")
	return cmd
}

func (o *actorAdd) source(cmd *cobra.Command, args []string) (a2a.ActorSource, error) {
	given := len(args) > 0 || o.words.Provider != "" || o.words.Model != ""
	if (o.config == "") != given {
		return a2a.ActorSource{}, usage(cmd.CommandPath(), "give either --config <file> or a name with --provider and --model")
	}
	if o.config != "" {
		text, err := o.app.read(o.config)
		return a2a.ActorSource{File: o.config, Text: text, Update: o.update}, err
	}
	if len(args) == 0 || o.words.Provider == "" || o.words.Model == "" {
		return a2a.ActorSource{}, usage(cmd.CommandPath(), "a name, --provider and --model are all needed")
	}
	o.words.Name = args[0]
	text, err := yaml.Marshal(o.words)
	if err != nil {
		return a2a.ActorSource{}, fault.New(fault.Internal, "write the actor as YAML: %w", err)
	}
	return a2a.ActorSource{File: "flags", Text: string(text), Update: o.update}, nil
}

func (o *actorAdd) run(ctx context.Context, src a2a.ActorSource) error {
	v, err := call(ctx, o.app, a2a.ActorAdd(), src)
	if err != nil {
		return err
	}
	o.app.put(actorOutput(v))
	return nil
}
