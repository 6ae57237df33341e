package main

import (
	"runtime"
	"runtime/debug"

	"github.com/cleveragents/agents/cli"
)

// release is the version of the source tree.
const release = "0.1.0-dev"

// version tells what was built, as far as the tool chain wrote it down.
func version() cli.Version {
	v := cli.Version{Version: release, Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.time":
			v.Date = s.Value
		}
	}
	return v
}
