package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type actorRun struct {
	app   *app
	req   a2a.ActorRunRequest
	tools []string
}

func newActorRun(a *app) *cobra.Command {
	o := &actorRun{app: a}
	cmd := &cobra.Command{
		Use:   "run <actor> {<prompt> | -}",
		Short: "Ask an actor about a project",
		Long: `Ask an actor something about a project, which it can read and not change. It is a
plan of builtin/ask: its calls are recorded, counted and shown like those of any plan.`,
		Example:     "  agents actor run coder 'Where are prices rounded?'\n  git diff | agents actor run reviewer - --tool builtin/read --tool builtin/grep",
		Annotations: using(does(a2a.ActorRun().Method), "project"),
		Args:        between(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.req.Actor, o.req.Prompt = args[0], args[1]
			if args[1] == stdin {
				var err error
				if o.req.Prompt, err = a.read(stdin); err != nil {
					return err
				}
			}
			if strings.TrimSpace(o.req.Prompt) == "" {
				return usage(cmd.CommandPath(), "the prompt is empty")
			}
			if cmd.Flags().Changed("tool") {
				o.req.Tools = &o.tools
			}
			if cmd.Flags().Changed("max-turns") && o.req.MaxTurns < 1 {
				return usage(cmd.CommandPath(), "--max-turns is at least 1")
			}
			o.req.Project, o.req.NoInput = a.project(), a.flags.noInput
			return follow(cmd.Context(), a, a2a.ActorRun(), o.req, toApplied)
		},
	}
	cmd.Flags().StringArrayVar(&o.tools, "tool", nil, "only these tools; repeatable")
	cmd.Flags().IntVar(&o.req.MaxTurns, "max-turns", 0, "model calls, or nodes of a graph, before it stops")
	return cmd
}
