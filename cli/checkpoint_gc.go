package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

func newCheckpointGC(a *app) *cobra.Command {
	var q a2a.CheckpointGCRequest
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Forget checkpoints of plans that have ended",
		Long: `Forget the checkpoints of plans that were applied or cancelled: nobody can go back to
them. The decisions and the evidence of those plans stay. "agents db gc" then removes
the bytes that nothing names any more.`,
		Example:     "  agents checkpoint gc --dry-run\n  agents checkpoint gc --older-than 720h",
		Annotations: does(a2a.CheckpointGC().Method),
		Args:        between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if q.OlderThan < 0 {
				return usage(cmd.CommandPath(), "--older-than is negative")
			}
			v, err := call(cmd.Context(), a, a2a.CheckpointGC(), q)
			if err != nil {
				return err
			}
			a.put(output{schema: "agents.checkpoint-gc.v1", data: v, human: func(p *printer) {
				what := plural(v.Checkpoints, "checkpoint") + " of " + plural(len(v.Plans), "plan")
				if v.DryRun {
					p.printf("would forget %s", what)
				} else {
					p.printf("forgot %s", what)
				}
				for _, name := range v.Plans {
					p.printf("  %s", name)
				}
			}})
			return nil
		},
	}
	cmd.Flags().DurationVar(&q.OlderThan, "older-than", 30*24*time.Hour, "of plans that ended that long ago")
	cmd.Flags().BoolVar(&q.DryRun, "dry-run", false, "only tell")
	return cmd
}
