package sandbox

import (
	"errors"
	"syscall"

	"github.com/cleveragents/agents/fault"
)

// full makes of an error that says that there is no room one that a person can
// do something about. Others are returned as they are.
func full(dir string, err error) error {
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) || fault.Is(err, fault.Exhausted) {
		return err
	}
	return fault.New(fault.Exhausted, "no space left on the disk of %s: %w", dir, err).
		WithHint("free some space and go on; everything that was recorded is kept")
}
