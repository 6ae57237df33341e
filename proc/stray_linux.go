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
	found, unsure := strays(leader, mark)
	killGroup()
	for range strayPasses {
		if len(found) == 0 && !unsure {
			return
		}
		for _, p := range found {
			p.kill()
		}
		select {
		case <-stop.C:
			return
		default:
			found, unsure = strays(leader, mark)
		}
	}
}

// process is a line of the process table. Its start time makes the number
// unique.
type process struct {
	pid, parent, session int
	started              uint64
	dead                 bool
	bare                 bool // it has an environment, and that is empty
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

// strays lists the living processes of a run. Unsure means that one younger
// than the leader cannot be told yet: in the middle of an exec a process has no
// environment to be known by.
func strays(leader int, mark string) (found []process, unsure bool) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, false
	}
	first, _ := stat(leader)
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
		known, empty := marked(pid, mark)
		in[pid] = known || p.session == leader
		if empty && !in[pid] && p.started >= first.started {
			again, ok := stat(pid)
			unsure = unsure || ok && !again.bare
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
	for _, p := range all {
		if in[p.pid] {
			found = append(found, p)
		}
	}
	return found, unsure
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
	if len(f) < 49 {
		return process{}, false
	}
	parent, err1 := strconv.Atoi(f[1])
	session, err2 := strconv.Atoi(f[3])
	started, err3 := strconv.ParseUint(f[19], 10, 64)
	if err1 != nil || err2 != nil || err3 != nil {
		return process{}, false
	}
	return process{
		pid: pid, parent: parent, session: session, started: started,
		dead: f[0] == "Z" || f[0] == "X",
		bare: f[47] == f[48] && f[48] != "0", // env_start and env_end
	}, true
}

// marked reports whether the mark is in the environment of a process, and
// whether none could be seen in one that may be read.
func marked(pid int, mark string) (known, empty bool) {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false, false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxEnviron))
	empty = err == nil && len(b) == 0
	for len(b) > 0 {
		var kv []byte
		kv, b, _ = bytes.Cut(b, []byte{0})
		if string(kv) == mark {
			return true, false
		}
	}
	return false, empty
}

// usage adds up what the leader and its descendants use. Memory that several
// of them share counts once, for the one that holds most of it.
func usage(leader int) (u used) {
	dir, err := os.Open("/proc")
	if err != nil {
		return used{}
	}
	names, _ := dir.Readdirnames(-1)
	dir.Close()
	children := map[int][]int{}
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, ok := stat(pid); ok && !p.dead {
				children[p.parent] = append(children[p.parent], pid)
			}
		}
	}
	var most int64
	for todo := []int{leader}; len(todo) > 0; {
		pid := todo[len(todo)-1]
		todo = append(todo[:len(todo)-1], children[pid]...)
		own, shared := resident(pid)
		u.processes++
		u.memory += own
		most = max(most, shared)
	}
	u.memory += most
	return u
}

// resident returns the bytes in memory that are a process's own, and those of
// shared memory.
func resident(pid int) (own, shared int64) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(line, ":")
		if name != "RssAnon" && name != "RssShmem" && name != "VmSwap" {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			continue
		}
		if name == "RssShmem" {
			shared = kib << 10
		} else {
			own += kib << 10
		}
	}
	return own, shared
}
