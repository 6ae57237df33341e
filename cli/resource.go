package cli

import "github.com/spf13/cobra"

func newResourceGroup(a *app) *cobra.Command {
	return group(a, "resource", "Resources: the trees of files that plans read and write", "",
		newResourceAdd(a), newResourceList(a), newResourceShow(a))
}
