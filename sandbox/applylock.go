package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/cleveragents/agents/fault"
)

// Two applications must not work on one directory, nor on one that lies in the
// other. Each directory has a lock file in the program's own data, named by its
// path; an application locks its directories exclusively and all above them
// shared. The kernel lets go when the process ends, so no lock is ever stale.

// The locks of a directory. Who applies takes the first, or finds it busy, and
// then waits for the second; who takes a snapshot takes only the second, so that
// it never sees half of an application and hardly ever stands in the way of one.
const (
	writing = "write-"
	looking = "look-"
)

// lockName is the file that stands for a directory.
func lockName(which, dir string) string { return which + sum([]byte(dir)).String()[:32] }

// hold locks the directories, which are absolute paths. With wait it waits as
// long as its context, else a lock that is taken is fault.Busy.
func hold(ctx context.Context, locks *os.Root, which string, dirs []string, wait bool) (unlock func(), err error) {
	how := map[string]int{}
	for _, dir := range dirs {
		for at := filepath.Dir(dir); ; at = filepath.Dir(at) {
			if how[at] == 0 {
				how[at] = syscall.LOCK_SH
			}
			if at == filepath.Dir(at) {
				break
			}
		}
	}
	for _, dir := range dirs {
		how[dir] = syscall.LOCK_EX
	}
	var held []*os.File
	unlock = func() {
		for _, f := range held {
			f.Close() // closing lets go
		}
	}
	for _, dir := range sortedKeys(how) {
		f, err := locks.OpenFile(lockName(which, dir), os.O_RDWR|os.O_CREATE, 0o600)
		if err == nil {
			held = append(held, f)
			err = take(ctx, f, how[dir], !wait)
		}
		if err == nil {
			continue
		}
		unlock()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fault.New(fault.Busy, "the files in %s are being written by another plan", named(dirs, dir)).
				WithHint("try again when it has ended")
		}
		return nil, fail("the lock of "+dir, err)
	}
	return unlock, nil
}

func take(ctx context.Context, f *os.File, how int, atOnce bool) error {
	for {
		err := flock(f, how|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
		case atOnce || !errors.Is(err, syscall.EWOULDBLOCK):
			return err
		default:
			if err := pause(ctx); err != nil {
				return err
			}
		}
	}
}

// named is the directory that was asked for, when a lock of one above it is
// what somebody holds.
func named(dirs []string, dir string) string {
	for _, d := range dirs {
		if d == dir || strings.HasPrefix(d, strings.TrimSuffix(dir, "/")+"/") {
			return d
		}
	}
	return dir
}

func sortedKeys(m map[string]int) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
