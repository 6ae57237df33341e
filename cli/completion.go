package cli

import (
	"bytes"

	"github.com/spf13/cobra"
)

type completionCmd struct{ app *app }

func newCompletion(a *app) *cobra.Command {
	o := &completionCmd{a}
	return &cobra.Command{
		Use:       "completion {bash|zsh|fish|powershell}",
		Short:     "Write a completion script for your shell",
		Long:      "Write a script on standard output that lets your shell complete commands and flags.",
		Example:   "  source <(agents completion bash)\n  agents completion zsh > \"${fpath[1]}/_agents\"",
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args:      between(1, 1),
		RunE:      func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
}

func (o *completionCmd) run(cmd *cobra.Command, shell string) error {
	var b bytes.Buffer
	var err error
	root := cmd.Root()
	switch shell {
	case "bash":
		err = root.GenBashCompletionV2(&b, true)
	case "zsh":
		err = root.GenZshCompletion(&b)
	case "fish":
		err = root.GenFishCompletion(&b, true)
	case "powershell":
		err = root.GenPowerShellCompletionWithDesc(&b)
	default:
		return usage(cmd.CommandPath(), "no completion for %q; choose bash, zsh, fish or powershell", shell)
	}
	if err != nil {
		return err
	}
	return o.app.writeBytes(o.app.env.Stdout, b.Bytes())
}
