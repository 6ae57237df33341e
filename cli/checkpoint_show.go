package cli

import (
	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

func newCheckpointShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use:         "show <checkpoint>",
		Short:       "Show what a checkpoint holds",
		Long:        "Show a checkpoint and its decision, and what the files were then, as a diff from what\nthe plan started with.",
		Example:     "  agents checkpoint show 9Y2W",
		Annotations: does(a2a.CheckpointShow().Method),
		Args:        between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			v, err := call(cmd.Context(), a, a2a.CheckpointShow(), a2a.RefQuery{Ref: args[0]})
			if err != nil {
				return err
			}
			a.put(output{schema: "agents.checkpoint-show.v1", data: v, human: func(p *printer) {
				p.field("checkpoint", v.Checkpoint.ID)
				p.field("plan", v.Checkpoint.Plan)
				p.field("decision", v.Checkpoint.Decision)
				p.field("about", v.Checkpoint.Question+" → "+v.Checkpoint.Chosen)
				p.field("created", p.when(v.Checkpoint.Created))
				for _, r := range v.Checkpoint.Resources {
					p.field("resource", string(r.Resource)+", "+plural(r.Files, "file")+", "+r.Hash)
				}
				for _, f := range v.Files {
					drawFile(p, f)
				}
			}})
			return nil
		},
	}
}
