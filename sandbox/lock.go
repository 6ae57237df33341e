package sandbox

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/cleveragents/agents/fault"
)

// lock takes the lock of a directory, shared or exclusive, and returns what
// lets go of it. The kernel does so too when the process ends.
func lock(ctx context.Context, dir *os.Root, exclusive bool) (unlock func(), err error) {
	f, err := dir.OpenFile("lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "lock: %w", err)
	}
	how := syscall.LOCK_SH
	if exclusive {
		how = syscall.LOCK_EX
	}
	for {
		err := flock(f, how|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil // closing lets go
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(fault.New(fault.Unavailable, "lock: %w", err), f.Close())
		}
		if err := pause(ctx); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
}

// pause waits a moment before a lock is tried again.
func pause(ctx context.Context) error {
	t := time.NewTimer(2 * time.Millisecond)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func flock(f *os.File, how int) error {
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var got error
	if err := c.Control(func(fd uintptr) { got = syscall.Flock(int(fd), how) }); err != nil {
		return err
	}
	return got
}
