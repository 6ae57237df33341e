package proc

import (
	"os"
	"syscall"
)

// Become turns this process into another program, with the environment that it
// has: it was made by Env when this process was started. It returns only when
// that fails.
func Become(path string, argv []string) error { return syscall.Exec(path, argv, os.Environ()) }
