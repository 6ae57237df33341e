package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// Notes that a command carries for settle and for the tests.
const (
	noteOp   = "op"   // methods of the operations it does, separated by commas
	noteSays = "says" // it has a result without an operation
	noteUses = "uses" // global flags that mean something to it
)

// does notes what a leaf does: the methods of its operations.
func does(methods ...string) map[string]string {
	return map[string]string{noteOp: strings.Join(methods, ",")}
}

// using adds the global flags that mean something to the command.
func using(notes map[string]string, flags ...string) map[string]string {
	notes[noteUses] = strings.Join(flags, ",")
	return notes
}

func newRoot(a *app) *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "agents",
		Short: "Hand a task to agents and know why every line is there",
		Long: `Hand a task to agents and know why every line of the outcome is there.

An action says what is to be done. "agents plan use" makes a plan of it, which
goes through Strategize (decide), Execute (do it in a copy) and Apply (bring the
changes into your files). Every choice on the way is a recorded decision.`,
		Example:           "  agents init\n  agents run builtin/command --arg command='gofmt -w .'\n  agents diff\n  agents apply",
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Args:              noCommand,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return a.settle(cmd) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				return (&versionCmd{a}).run()
			}
			return a.help(cmd)
		},
	}
	root.Flags().BoolVar(&version, "version", false, "show the version")
	a.bind(root)
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { a.lost = a.helpFlag(cmd) })
	root.SetHelpCommand(newHelp(a))
	root.AddCommand(newInit(a), newRun(a), newDemo(a), newDoctor(a), newStatus(a), newUsage(a), newVersion(a), newCompletion(a),
		newActionGroup(a),
		newActorGroup(a),
		newApprovalGroup(a),
		newCheckpointGroup(a),
		newConfigGroup(a),
		newDBGroup(a),
		newPlanGroup(a),
		newProjectGroup(a),
		newProviderGroup(a),
		newResourceGroup(a),
		newSandboxGroup(a),
		newSessionGroup(a),
		newDiff(a), newApply(a), newTree(a),
	)
	root.AddCommand(legacy()...)
	return root
}

// group makes a command that only holds others: alone it prints its help.
func group(a *app, name, short, long string, leaves ...*cobra.Command) *cobra.Command {
	if long == "" {
		long = short + "."
	}
	cmd := &cobra.Command{
		Use: name, Short: short, Long: long, Args: noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.help(cmd) },
	}
	cmd.AddCommand(leaves...)
	return cmd
}
