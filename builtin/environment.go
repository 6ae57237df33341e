package builtin

import (
	"os"
	"path/filepath"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/proc"
)

// childEnv makes the environment of a program that runs in the tree dir, with
// its own HOME and TMPDIR. The ceiling keeps a git in the tree from finding a
// repository that happens to be around it.
func childEnv(scratch func(string) string, dir string) (env []string, cleanup func(), err error) {
	cleanup = func() {}
	var place string
	if scratch != nil {
		place = scratch(dir)
	} else {
		place, err = os.MkdirTemp("", "agents-scratch-")
		if err != nil {
			return nil, nil, fault.New(fault.Internal, "make a scratch directory: %w", err)
		}
		// What cannot be removed is in the system's directory for such files.
		cleanup = func() { os.RemoveAll(place) }
	}
	vars := map[string]string{
		"HOME": filepath.Join(place, "home"), "TMPDIR": filepath.Join(place, "tmp"),
		"GIT_CEILING_DIRECTORIES": filepath.Dir(dir), "GIT_TERMINAL_PROMPT": "0",
		"PAGER": "cat", "GIT_PAGER": "cat",
	}
	for _, name := range []string{"HOME", "TMPDIR"} {
		if err := os.MkdirAll(vars[name], 0o700); err != nil {
			cleanup()
			return nil, nil, fault.New(fault.Internal, "make a scratch directory: %w", err)
		}
	}
	return proc.Env(vars), cleanup, nil
}
