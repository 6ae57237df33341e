package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

func newCheckpointGroup(a *app) *cobra.Command {
	return group(a, "checkpoint", "States that a plan can be put back to", "",
		newCheckpointList(a), newCheckpointShow(a), newCheckpointDiff(a), newCheckpointGC(a))
}

func checkpointColumns() []column[a2a.CheckpointView] {
	type row = a2a.CheckpointView
	return []column[row]{
		{name: "id", value: func(x row) any { return id(x.ID) }},
		{name: "decision", value: func(x row) any { return id(x.Decision) }},
		{name: "files", value: func(x row) any { return x.Files }},
		{name: "created", value: func(x row) any { return x.Created.UTC().Format(time.RFC3339) }, spare: true, draw: func(p *printer, x row) any { return p.when(x.Created) }},
		{name: "superseded", value: func(x row) any { return yesOr(x.Superseded) }},
		{name: "about", value: func(x row) any { return x.Question + " → " + x.Chosen }},
	}
}

// yesOr is yes or nothing.
func yesOr(b bool) string {
	if b {
		return "yes"
	}
	return ""
}
