package cli

import (
	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/fault"
)

// legacy returns the commands of before, which only say that they are gone.
func legacy() []*cobra.Command {
	var out []*cobra.Command
	for _, name := range []string{"tell", "build", "continue", "current", "new", "load"} {
		out = append(out, &cobra.Command{
			Use: name, Hidden: true, DisableFlagParsing: true,
			Short:   "Removed",
			Example: "  agents plan use <action>",
			RunE: func(*cobra.Command, []string) error {
				return fault.New(fault.Invalid, "removed; use `agents plan use <action>` (see `agents help lifecycle`)").WithCode("Removed")
			},
		})
	}
	return out
}
