package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// last stands for what was touched last.
const last = "@last"

// noCommand refuses a word that is no subcommand.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usage(cmd.CommandPath(), "unknown command %q for %q%s", args[0], cmd.CommandPath(), didYouMean(suggestions(cmd, args[0])))
}

// between accepts from least to most arguments; most < 0 is no limit.
func between(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if slices.Contains(args, "") { // an unset variable in a script must not mean @last
			return usage(cmd.CommandPath(), "%s: an argument is empty", cmd.CommandPath())
		}
		switch n := len(args); {
		case n < least:
			return usage(cmd.CommandPath(), "%s: an argument is missing (%s)", cmd.CommandPath(), cmd.Use)
		case most >= 0 && n > most:
			return usage(cmd.CommandPath(), "%s: unexpected argument %q", cmd.CommandPath(), args[most])
		}
		return nil
	}
}

// refOr returns the only argument, or @last.
func refOr(args []string) string {
	if len(args) == 0 {
		return last
	}
	return args[0]
}

// pairs reads key=value words; a later one of the same key is an error.
func pairs(command, flag string, words []string, into map[string]string) error {
	seen := map[string]bool{}
	for _, w := range words {
		k, v, ok := strings.Cut(w, "=")
		switch {
		case !ok || k == "":
			return usage(command, "%s %q is not key=value", flag, w)
		case seen[k]:
			return usage(command, "%s %s is given twice", flag, k)
		}
		seen[k] = true
		into[k] = v
	}
	return nil
}
