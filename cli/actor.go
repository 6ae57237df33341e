package cli

import "github.com/spf13/cobra"

func newActorGroup(a *app) *cobra.Command {
	return group(a, "actor", "Who does the work: a model, or a graph of them and tools", "",
		newActorAdd(a), newActorList(a), newActorShow(a), newActorValidate(a), newActorGraph(a), newActorRun(a), newActorRemove(a))
}
