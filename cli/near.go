package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const (
	farthest  = 2 // how many letters a word may be off to be meant
	mostNear  = 4 // how many commands are suggested
	leastHead = 2 // letters of a beginning that are enough to be meant
)

// suggestions returns what may be meant by a word that is no subcommand of cmd:
// subcommands that are spelled like it, and where there are none, commands of
// that name anywhere below the root.
func suggestions(cmd *cobra.Command, word string) []string {
	if cmd == nil || word == "" {
		return nil
	}
	var near []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && like(word, c) {
			near = append(near, c.Name())
		}
	}
	if len(near) > 0 {
		return near
	}
	root := cmd.Root()
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for _, s := range c.Commands() {
			if s.IsAvailableCommand() && like(word, s) {
				near = append(near, strings.TrimPrefix(s.CommandPath(), root.Name()+" "))
			}
			walk(s)
		}
	}
	walk(root)
	return near[:min(len(near), mostNear)]
}

// like reports whether a word may stand for a command.
func like(word string, c *cobra.Command) bool {
	word = strings.ToLower(word)
	return slices.ContainsFunc(append([]string{c.Name()}, c.Aliases...), func(name string) bool {
		return len(word) > farthest && distance(word, name) <= farthest ||
			len(word) >= leastHead && strings.HasPrefix(name, word)
	})
}

// flagError is the error for a flag that cannot be read, with the flags that are
// spelled like one that there is not.
func flagError(cmd *cobra.Command, err error) error {
	var near []string
	if word, unknown := strings.CutPrefix(err.Error(), "unknown flag: --"); unknown {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && len(word) > farthest && distance(word, f.Name) <= farthest {
				near = append(near, "--"+f.Name)
			}
		})
	}
	return usage(cmd.CommandPath(), "%w%s", err, didYouMean(near))
}

// didYouMean is the end of a message that suggests; "" for nothing near.
func didYouMean(near []string) string {
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}

// distance is how many letters have to be put in, taken out or replaced to make
// one word the other, the Levenshtein distance, by one row of its table at a
// time. Words that are too long to be names are far from everything.
func distance(a, b string) int {
	const longest = 64
	if len(a) > longest || len(b) > longest {
		return longest
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			corner, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, corner+cost)
		}
	}
	return row[len(b)]
}
