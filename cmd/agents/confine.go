package main

import (
	"os"
	"path/filepath"

	"github.com/cleveragents/agents/config"
	"github.com/cleveragents/agents/jail"
	"github.com/cleveragents/agents/proc"
)

// confinement is the jail for the programs of tools and validations, as the
// settings want it. Its own few files are in the data directory.
func confinement(dir, home string, programs *proc.Runner, set config.Settings) *jail.Jail {
	self, err := os.Executable()
	if err != nil {
		self = "" // does without Landlock
	}
	use := jail.Backend(set.Text(config.Backend))
	if use == "auto" {
		use = ""
	}
	mebibytes := func(key string) int64 { return int64(set.Whole(key)) << 20 }
	return jail.New(jail.Config{
		Proc: programs, Dir: filepath.Join(dir, "jail"), Home: home, Self: self, ReadOnly: set.Paths(config.ReadOnly), Use: use,
		Limits: jail.Limits{
			Memory: mebibytes(config.Memory), Processes: set.Whole(config.Processes),
			FileSize: mebibytes(config.FileSize), Disk: mebibytes(config.Disk),
		},
	})
}
