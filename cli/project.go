package cli

import "github.com/spf13/cobra"

func newProjectGroup(a *app) *cobra.Command {
	return group(a, "project", "Projects: the scope in which plans work", "",
		newProjectCreate(a), newProjectList(a), newProjectShow(a), newProjectUse(a), newProjectLinkResource(a))
}
