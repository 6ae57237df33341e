package cli

import "github.com/spf13/cobra"

func newActionGroup(a *app) *cobra.Command {
	return group(a, "action", "Plan templates: what is to be done", "",
		newActionCreate(a), newActionList(a), newActionShow(a), newActionValidate(a))
}
