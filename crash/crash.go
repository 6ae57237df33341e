// Package crash lets a test kill this process at a place that the code names.
//
// Code that must survive a crash calls Point between two effects. Without the
// environment variables below a point does nothing and costs a few
// nanoseconds. With AGENTS_CRASH_AT=n the n-th point that this process reaches
// sends SIGKILL to the process itself, so that nothing is flushed, deferred or
// cleaned up. With AGENTS_CRASH_LOG=file each point that is reached appends its
// name to the file, one a line, for a harness to count. A value of
// AGENTS_CRASH_AT that is not a positive number leaves the killing off.
//
// It does not simulate a power cut: what was written stays in the kernel.
package crash

import (
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
)

// The environment variables that arm the points of a process.
const (
	AtEnv  = "AGENTS_CRASH_AT"
	LogEnv = "AGENTS_CRASH_LOG"
)

// armed reads the environment at the first point and never again, so that a
// process which changes its own environment cannot arm itself half-way.
var armed = sync.OnceValue(func() *trap {
	return load(os.Getenv(AtEnv), os.Getenv(LogEnv))
})

// Point marks a place where the process may die. The name is for the harness's
// log; it has the form room.place, such as "apply.rename".
func Point(name string) {
	if t := armed(); t != nil {
		t.hit(name)
	}
}

// trap is what an armed process does at its points.
type trap struct {
	at   int64
	seen atomic.Int64
	log  *os.File
	kill func()
}

func load(at, log string) *trap {
	n, err := strconv.ParseInt(at, 10, 64)
	if err != nil || n < 1 {
		n = 0
	}
	if n == 0 && log == "" {
		return nil
	}
	t := &trap{at: n, kill: die}
	if log != "" {
		// A log that cannot be opened leaves the names out; the harness
		// notices, as it counts them.
		t.log, _ = os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	}
	return t
}

func (t *trap) hit(name string) {
	n := t.seen.Add(1)
	if t.log != nil {
		// One write of one line: O_APPEND keeps the lines of goroutines and
		// processes whole.
		_, _ = t.log.WriteString(name + "\n")
	}
	if n == t.at {
		t.kill()
	}
}

// die never returns: the goroutine must not run past its point in the moment
// until the signal arrives.
func die() {
	for {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
}
