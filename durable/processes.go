package durable

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/cleveragents/agents/fault"
)

// Processes tells who is enrolled in the directory of NewWorkers: how many
// processes live, and how many have left their lock file behind when they died.
// It enrols nobody and makes nothing; with remove it removes those files. One
// that cannot be looked at counts as alive.
func Processes(dir string, remove bool) (alive, stale int, err error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, fault.New(fault.Unavailable, "look at the list of processes: %w", err)
	}
	defer root.Close()
	names, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return 0, 0, fault.New(fault.Unavailable, "look at the list of processes: %w", err)
	}
	for _, d := range names {
		if !strings.HasSuffix(d.Name(), lockSuffix) && !strings.HasSuffix(d.Name(), newSuffix) {
			continue
		}
		if !free(root, d.Name()) {
			alive++
			continue
		}
		stale++
		if !remove {
			continue
		}
		if err := root.Remove(d.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return alive, stale, fault.New(fault.Unavailable, "remove the lock of a dead process: %w", err)
		}
	}
	return alive, stale, nil
}
