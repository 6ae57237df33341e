// Command hello is the anchor for the start of a process: a command line of 48
// commands in 8 groups that does nothing. What agents takes beyond it is ours.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

func main() {
	root := &cobra.Command{Use: "hello", SilenceUsage: true}
	for g := range 8 {
		group := &cobra.Command{Use: fmt.Sprintf("group%d", g), Short: "A group"}
		for l := range 5 {
			leaf := &cobra.Command{Use: fmt.Sprintf("leaf%d", l), Short: "A leaf", RunE: func(*cobra.Command, []string) error { return nil }}
			leaf.Flags().String("name", "", "a flag")
			leaf.Flags().Bool("all", false, "another flag")
			group.AddCommand(leaf)
		}
		root.AddCommand(group)
	}
	root.AddCommand(&cobra.Command{Use: "version", Run: func(*cobra.Command, []string) { fmt.Println("hello 1") }})
	if err := root.Execute(); err != nil {
		os.Exit(1)
	}
}
