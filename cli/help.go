package cli

import (
	"bytes"
	"fmt"
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
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Root(), args) },
	}
}

func (o *helpCmd) run(root *cobra.Command, args []string) error {
	if len(args) == 1 {
		for _, t := range topics() {
			if t.name == args[0] {
				return o.app.writeBytes(o.app.env.Stdout, []byte(strings.Trim(t.text(), "\n")+"\n"))
			}
		}
	}
	cmd, rest, err := root.Find(args)
	if err != nil || len(rest) > 0 {
		return usage("agents", "no command or help topic %q", strings.Join(args, " "))
	}
	return o.app.help(cmd)
}

// help writes what a command is for and how it is written.
func (a *app) help(cmd *cobra.Command) error {
	var b bytes.Buffer
	long := cmd.Long
	if long == "" {
		long = cmd.Short + "."
	}
	fmt.Fprintf(&b, "%s\n\nUsage:\n  %s\n", long, usageLine(cmd))
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\nCommands:\n")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				fmt.Fprintf(&b, "  %-14s %s\n", c.Name(), c.Short)
			}
		}
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	uses := strings.Split(cmd.Annotations[noteUses], ",")
	writeFlags(&b, "Flags", cmd.LocalNonPersistentFlags(), uses)
	writeFlags(&b, "Global flags", cmd.Root().PersistentFlags(), uses)
	if !cmd.HasParent() {
		b.WriteString("\nTopics (agents help <topic>):\n")
		for _, t := range topics() {
			fmt.Fprintf(&b, "  %-14s %s\n", t.name, t.short)
		}
	}
	return a.writeBytes(a.env.Stdout, b.Bytes())
}

func usageLine(cmd *cobra.Command) string {
	path := cmd.CommandPath()
	if cmd.HasAvailableSubCommands() {
		return path + " <command> [flags]"
	}
	_, args, _ := strings.Cut(cmd.Use, " ")
	return strings.TrimRight(path+" "+args, " ") + " [flags]"
}

// writeFlags lists flags. A global flag that means nothing to the command is
// left out.
func writeFlags(b *bytes.Buffer, title string, flags *pflag.FlagSet, uses []string) {
	shown := pflag.NewFlagSet(title, pflag.ContinueOnError)
	flags.VisitAll(func(f *pflag.Flag) {
		if (f.Name == "project" || f.Name == "wait") && !strings.Contains(","+strings.Join(uses, ",")+",", ","+f.Name+",") {
			return
		}
		shown.AddFlag(f)
	})
	if shown.HasAvailableFlags() {
		fmt.Fprintf(b, "\n%s:\n%s", title, shown.FlagUsages())
	}
}
