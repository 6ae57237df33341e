package durable

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
)

const (
	lockSuffix = ".lock"
	newSuffix  = ".new" // before it is locked
	// sweepLimit bounds how many files of dead processes a start removes.
	sweepLimit = 256
	// enrolTries bounds how often a start makes its file again when somebody
	// sweeps it away before it is locked.
	enrolTries = 16
)

// Workers is engine.Liveness for the processes of one machine. Each process
// holds a kernel lock on a file of its own in one directory for as long as it
// lives; the kernel frees the lock when it dies, however it dies. Whoever finds
// a file whose lock is free removes it. The directory must be on a local disk.
// It is safe for concurrent use.
type Workers struct {
	self string
	dir  *os.Root
	lock *os.File
}

var _ engine.Liveness = (*Workers)(nil)

// holderForm is what a holder's name looks like; names come back from records,
// so anything else is nobody.
var holderForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9]{1,64}-[0-9]{1,10}$`) })

// NewWorkers enrols this process in dir, making it when needed. The id is a
// fresh ULID; Self is the id and the process number. The caller calls Close.
func NewWorkers(dir, id string) (*Workers, error) {
	self := id + "-" + strconv.Itoa(os.Getpid())
	if !holderForm().MatchString(self) {
		return nil, fault.New(fault.Internal, "worker id %q: must be letters and digits", id)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fault.New(fault.Unavailable, "enrol this process: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "enrol this process: %w", err)
	}
	w := &Workers{self: self, dir: root}
	if err := w.enrol(); err != nil {
		_ = root.Close() // the first error tells more
		return nil, err
	}
	w.sweep()
	return w, nil
}

// enrol locks a file and then gives it its name, so that a file of that name is
// locked from the first moment to the last. A sweep that meets it before it is
// locked removes it; then the naming fails and enrol starts again.
func (w *Workers) enrol() error {
	for range enrolTries {
		f, err := w.dir.OpenFile(w.self+newSuffix, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return fault.New(fault.Unavailable, "enrol this process: %w", err)
		}
		if err = flock(f, unix.LOCK_EX); err == nil {
			err = w.dir.Rename(w.self+newSuffix, w.self+lockSuffix)
		}
		if err == nil {
			w.lock = f
			return nil
		}
		_ = f.Close()
		if !errors.Is(err, fs.ErrNotExist) {
			return fault.New(fault.Unavailable, "enrol this process: %w", err)
		}
	}
	return fault.New(fault.Busy, "enrol this process: its lock file keeps vanishing")
}

// Self returns the name of this process.
func (w *Workers) Self() string { return w.self }

// Alive reports whether the process of that name lives. When that cannot be
// found out, for example because the file cannot be opened, it says yes: to
// wait for a dead process does less harm than to run beside a living one.
func (w *Workers) Alive(_ context.Context, holder string) bool {
	if holder == w.self {
		return true
	}
	if !holderForm().MatchString(holder) {
		return false
	}
	return !w.dead(holder + lockSuffix)
}

// dead reports whether nobody holds the lock on a file, and then removes it:
// no second process ever uses a name.
func (w *Workers) dead(name string) bool {
	if !free(w.dir, name) {
		return false
	}
	// When it cannot be removed the next one who asks tries again.
	_ = w.dir.Remove(name)
	return true
}

// free reports whether nobody holds the lock on a file, or it is not there.
func free(dir *os.Root, name string) bool {
	f, err := dir.OpenFile(name, os.O_RDWR|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err != nil {
		return false
	}
	defer f.Close()
	// Shared, so that two who ask at once do not take each other for it.
	return flock(f, unix.LOCK_SH|unix.LOCK_NB) == nil
}

// sweep removes files of processes that died and that nobody asks for.
func (w *Workers) sweep() {
	d, err := w.dir.Open(".")
	if err != nil {
		return // tidiness only
	}
	defer d.Close()
	names, _ := d.Readdirnames(sweepLimit) // what was read before an error is good
	for _, name := range names {
		if strings.HasSuffix(name, lockSuffix) || strings.HasSuffix(name, newSuffix) {
			w.dead(name)
		}
	}
}

// Close ends this process's claim to be alive and removes its file.
func (w *Workers) Close() error {
	err := w.dir.Remove(w.self + lockSuffix)
	if cerr := w.lock.Close(); err == nil {
		err = cerr
	}
	if cerr := w.dir.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fault.New(fault.Unavailable, "leave the list of processes: %w", err)
	}
	return nil
}
