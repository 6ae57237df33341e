package cli

import "github.com/spf13/cobra"

func newSandboxGroup(a *app) *cobra.Command {
	return group(a, "sandbox", "Where plans and their programs work", "", newSandboxExec(a))
}
