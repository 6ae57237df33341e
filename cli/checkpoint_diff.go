package cli

import (
	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

func newCheckpointDiff(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "diff <checkpoint> [<checkpoint>]",
		Short: "Compare a checkpoint with another or with now",
		Long: `Show what changed from a checkpoint to another one of the same plan, or to what the
plan has recorded now.`,
		Example:     "  agents checkpoint diff 9Y2W\n  agents checkpoint diff 9Y2W 4F7Q",
		Annotations: does(a2a.CheckpointDiff().Method),
		Args:        between(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			q := a2a.CheckpointDiffQuery{From: args[0]}
			if len(args) > 1 {
				q.To = args[1]
			}
			v, err := call(cmd.Context(), a, a2a.CheckpointDiff(), q)
			if err != nil {
				return err
			}
			a.put(output{schema: "agents.checkpoint-diff.v1", data: v, human: func(p *printer) {
				p.field("from", v.Checkpoint.ID)
				p.field("to", v.To)
				if len(v.Files) == 0 {
					p.printf("the same files")
				}
				for _, f := range v.Files {
					drawFile(p, f)
				}
			}})
			return nil
		},
	}
}
