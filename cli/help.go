package cli

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

type helpCmd struct{ app *app }

func newHelp(a *app) *cobra.Command {
	o := &helpCmd{a}
	var names []string
	for _, t := range topics() {
		names = append(names, t.name)
	}
	return &cobra.Command{
		Use:   "help [<command>... | <topic>]",
		Short: "Explain a command or a topic",
		Long:  "Explain a command or a topic.\n\nTopics: " + strings.Join(names, ", ") + ".",
		Example: `  agents help plan use
  agents help exit-codes`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return helpWords(cmd.Root(), args), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Root(), args) },
	}
}

func (o *helpCmd) run(root *cobra.Command, args []string) error {
	if len(args) == 1 {
		for _, t := range topics() {
			if t.name == args[0] {
				return o.app.writeBytes(o.app.env.Stdout, []byte(strings.Trim(t.text(min(o.app.width(), helpWidth)), "\n")+"\n"))
			}
		}
	}
	cmd, rest, err := root.Find(args)
	if err != nil || len(rest) > 0 {
		near := suggestions(cmd, args[max(len(args)-max(len(rest), 1), 0)])
		for _, t := range topics() {
			if len(args) == 1 && distance(args[0], t.name) <= farthest {
				near = append(near, "help "+t.name)
			}
		}
		return usage("agents", "no command or help topic %q%s", strings.Join(args, " "), didYouMean(near))
	}
	return o.app.help(cmd)
}

// helpWords are the commands and topics that may come next.
func helpWords(root *cobra.Command, args []string) (out []string) {
	at, rest, err := root.Find(args)
	if err != nil || len(rest) > 0 {
		return nil
	}
	for _, c := range at.Commands() {
		if c.IsAvailableCommand() {
			out = append(out, c.Name())
		}
	}
	if len(args) == 0 {
		for _, t := range topics() {
			out = append(out, t.name)
		}
	}
	return out
}

// helpFlag is --help. A word that is no command is an error with it as without
// it: a script that asks whether a command exists must get an answer.
func (a *app) helpFlag(cmd *cobra.Command) error {
	if cmd.HasSubCommands() {
		if err := noCommand(cmd, cmd.Flags().Args()); err != nil {
			return err
		}
	}
	return a.help(cmd)
}

// helpWidth is how wide a help page gets at most: longer lines are hard to read.
const helpWidth = 100

// help writes what a command is for and how it is written.
func (a *app) help(cmd *cobra.Command) error {
	width := min(a.width(), helpWidth)
	st := styles{on: a.color(a.env.StdoutTTY) && (a.flags.format == "" || a.flags.format == string(Rich))}
	var b bytes.Buffer
	long := cmd.Long
	if long == "" {
		long = cmd.Short + "."
	}
	fmt.Fprintf(&b, "%s\n\n%s\n  %s\n", reflow(long, width), st.bold("Usage:"), usageLine(cmd))
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n%s\n", st.bold("Commands:"))
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				entry(&b, c.Name(), c.Short, width)
			}
		}
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, "\n%s\n%s\n", st.bold("Examples:"), cmd.Example)
	}
	writeFlags(&b, st.bold("Flags:"), ownFlags(cmd), width)
	writeFlags(&b, st.bold("Global flags:"), globalFlags(cmd), width)
	if !cmd.HasParent() {
		fmt.Fprintf(&b, "\n%s\n", st.bold("Topics (agents help <topic>):"))
		for _, t := range topics() {
			entry(&b, t.name, t.short, width)
		}
	}
	return a.writeBytes(a.env.Stdout, b.Bytes())
}

// nameColumn is where the meaning of a command or topic begins.
const nameColumn = 17

func entry(b *bytes.Buffer, name, means string, width int) {
	hang(b, "  "+name, means, nameColumn, width)
}

// hang writes a name and what it means beside it, from a column on.
func hang(b io.Writer, name, means string, column, width int) {
	for i, line := range wrap(means, width-column) {
		if i > 0 {
			name = ""
		}
		_, _ = fmt.Fprintf(b, "%-*s %s\n", column-1, name, line) // into memory
	}
}

func usageLine(cmd *cobra.Command) string {
	path := cmd.CommandPath()
	if cmd.HasAvailableSubCommands() {
		return path + " <command> [flags]"
	}
	_, args, _ := strings.Cut(cmd.Use, " ")
	return strings.TrimRight(path+" "+args, " ") + " [flags]"
}

// ownFlags are the flags of the command itself, without --help.
func ownFlags(cmd *cobra.Command) *pflag.FlagSet {
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" {
			own.AddFlag(f)
		}
	})
	return own
}

// globalFlags are the flags of the root that mean something to the command.
func globalFlags(cmd *cobra.Command) *pflag.FlagSet {
	uses := strings.Split(cmd.Annotations[noteUses], ",")
	shown := pflag.NewFlagSet("", pflag.ContinueOnError)
	cmd.Root().PersistentFlags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(limitedFlags(), f.Name) || slices.Contains(uses, f.Name) || !cmd.HasParent() {
			shown.AddFlag(f)
		}
	})
	return shown
}

// flagColumn is where the meaning of a flag begins at most; a longer one has its
// meaning on the next line.
const flagColumn = 30

func writeFlags(b *bytes.Buffer, title safe, flags *pflag.FlagSet, width int) {
	if flags.HasAvailableFlags() {
		fmt.Fprintf(b, "\n%s\n%s", title, flagUsages(flags, width))
	}
}

// flagUsages says of each flag how it is written and what it is for.
func flagUsages(flags *pflag.FlagSet, width int) string {
	b := &strings.Builder{}
	column := 0
	flags.VisitAll(func(f *pflag.Flag) {
		if n := len(flagName(f)) + 4; n <= flagColumn {
			column = max(column, n)
		}
	})
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name := "  " + flagName(f)
		if len(name)+2 > column {
			b.WriteString(name + "\n")
			name = ""
		}
		hang(b, name, flagMeaning(f), column+1, width)
	})
	return b.String()
}

// flagName is how a flag is written: "-p, --project <project>".
func flagName(f *pflag.Flag) string {
	name := "    --" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", --" + f.Name
	}
	value, _ := pflag.UnquoteUsage(f)
	switch value {
	case "":
		return name
	case "string", "stringArray":
		value = "text"
	case "int", "uint":
		value = "number"
	case "float":
		value = "amount"
	case "duration":
		value = "time"
	case "count":
		return name
	}
	return name + " <" + value + ">"
}

// flagMeaning is what a flag does, with its default where it has one.
func flagMeaning(f *pflag.Flag) string {
	_, usage := pflag.UnquoteUsage(f)
	switch f.DefValue {
	case "", "false", "0", "0s", "[]":
		return usage
	}
	return usage + " (default " + f.DefValue + ")"
}
