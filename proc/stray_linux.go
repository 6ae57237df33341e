package proc

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// markName is the variable by which a process is known to belong to one run.
const markName = "AGENTS_RUN"

// The search for strays stops when a pass finds none, and in any case so that
// a deadline is kept.
const (
	strayPasses = 50
	strayTime   = 250 * time.Millisecond
	maxEnviron  = 256 << 10
)

// attributes give the child its own session, and its end when we are killed.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

func lockThread() (unlock func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}

// awaitExit returns when pid has ended and leaves it to be reaped.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

func signalName(s syscall.Signal) string { return unix.SignalName(s) }

// killStrays calls killGroup and kills every process that is in the leader's
// session, descends from a process of the set, or carries the mark. The set is
// taken before the group dies, because a child of the dead has no parent left
// to be known by; and again until nothing new is found, because processes fork
// while they are being looked for.
func killStrays(leader int, mark string, killGroup func()) {
	stop := time.NewTimer(strayTime)
	defer stop.Stop()
	first := strays(leader, mark)
	killGroup()
	for pass := 0; pass < strayPasses; pass++ {
		found := first
		if pass > 0 {
			found = strays(leader, mark)
		}
		if len(found) == 0 {
			return
		}
		for _, p := range found {
			p.kill()
		}
		select {
		case <-stop.C:
			return
		default:
		}
	}
}

// process is a line of the process table. Its start time makes the number
// unique.
type process struct {
	pid, parent, session int
	started              string
	dead                 bool
}

// kill ends exactly this process: the number is pinned first and then checked
// to be still the same one.
func (p process) kill() {
	h, err := os.FindProcess(p.pid) // holds a pidfd where the kernel has them
	if err != nil {
		return
	}
	defer h.Release()
	if again, ok := stat(p.pid); ok && again.started == p.started {
		h.Kill()
	}
}

func strays(leader int, mark string) []process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	names, _ := dir.Readdirnames(-1)
	dir.Close()
	self := os.Getpid()
	var all []process
	in := map[int]bool{leader: true}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == self || pid == 1 {
			continue
		}
		p, ok := stat(pid)
		if !ok || p.dead {
			continue
		}
		all = append(all, p)
		if p.session == leader || marked(pid, mark) {
			in[pid] = true
		}
	}
	for grown := true; grown; {
		grown = false
		for _, p := range all {
			if !in[p.pid] && (in[p.parent] || in[p.session]) {
				in[p.pid], grown = true, true
			}
		}
	}
	var found []process
	for _, p := range all {
		if in[p.pid] {
			found = append(found, p)
		}
	}
	return found
}

// stat reads what is needed of /proc/PID/stat; the name in parentheses may
// hold anything, so fields are counted from the last one.
func stat(pid int) (process, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	i := bytes.LastIndexByte(b, ')')
	if i < 0 {
		return process{}, false
	}
	f := strings.Fields(string(b[i+1:]))
	if len(f) < 20 {
		return process{}, false
	}
	parent, err1 := strconv.Atoi(f[1])
	session, err2 := strconv.Atoi(f[3])
	if err1 != nil || err2 != nil {
		return process{}, false
	}
	return process{pid, parent, session, f[19], f[0] == "Z" || f[0] == "X"}, true
}

func marked(pid int, mark string) bool {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, maxEnviron))
	for len(b) > 0 {
		var kv []byte
		kv, b, _ = bytes.Cut(b, []byte{0})
		if string(kv) == mark {
			return true
		}
	}
	return false
}
