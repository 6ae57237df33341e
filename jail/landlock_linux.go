package jail

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/proc"
)

// errEnter is the exit status of a process that could not confine itself.
const errEnter = 125

// terms are what a process agrees to before it becomes the program.
type terms struct {
	Read     []string `json:"read"`
	Write    []string `json:"write"`
	Network  bool     `json:"network"`
	FileSize int64    `json:"file_size"`
	Threads  int      `json:"threads"`
}

// landlocked is the command that runs the order under Landlock: this program
// starts itself, gives up its rights and becomes the other.
func (j *Jail) landlocked(o Order) (proc.Command, error) {
	if j.cfg.Self == "" || proc.Landlock() == 0 {
		return proc.Command{}, fault.New(fault.Unavailable, "not offered by this kernel")
	}
	path, err := proc.Lookup(o.Argv[0])
	if err != nil {
		return proc.Command{}, err
	}
	t := terms{Network: o.Network.Any, FileSize: j.cfg.Limits.FileSize, Threads: 4 * j.cfg.Limits.Processes}
	t.Read = append(t.Read, "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store", "/proc", "/dev",
		"/etc/passwd", "/etc/group", "/etc/hosts", "/etc/nsswitch.conf", "/etc/resolv.conf")
	t.Read = append(append(t.Read, shared()...), j.readOnly()...)
	t.Write = append(t.Write, o.Scratch, "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/shm")
	if o.ReadOnly {
		t.Read = append(t.Read, o.Tree)
	} else {
		t.Write = append(t.Write, o.Tree)
	}
	vars := map[string]string{"GOCACHE": filepath.Join(o.Scratch, cacheName, "go-build")}
	for _, c := range j.caches(false) {
		if c.from == "" || c.name == "go-build" {
			continue
		}
		t.Read = append(t.Read, c.from)
		if c.name == "go-mod" {
			vars["GOMODCACHE"] = c.from
		}
	}
	said, err := json.Marshal(t)
	if err != nil {
		return proc.Command{}, fault.New(fault.Internal, "sandbox: %w", err)
	}
	online(vars, o.Network)
	home := filepath.Join(o.Scratch, homeName)
	vars["GOPATH"] = filepath.Join(home, "go")
	return proc.Command{
		Dir: o.inTree(), Argv: append([]string{j.cfg.Self, enterWord, string(said), path}, o.Argv...),
		Env: o.env(o.Tree, home, filepath.Join(o.Scratch, tmpName), vars),
	}, nil
}

// enter confines this process and becomes the program. It returns only when
// that fails.
func enter(said, path string, argv []string) error {
	var t terms
	if err := json.Unmarshal([]byte(said), &t); err != nil {
		return err
	}
	runtime.LockOSThread()
	for res, limit := range map[int]uint64{
		unix.RLIMIT_CORE: 0, unix.RLIMIT_FSIZE: uint64(t.FileSize), unix.RLIMIT_NPROC: uint64(t.Threads),
	} {
		if err := unix.Setrlimit(res, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
			return fmt.Errorf("limit %s: %w", strconv.Itoa(res), err)
		}
	}
	var rules []landlock.Rule
	for _, p := range t.Read {
		if fi, err := os.Stat(p); err == nil {
			if fi.IsDir() {
				rules = append(rules, landlock.RODirs(p))
			} else {
				rules = append(rules, landlock.ROFiles(p))
			}
		}
	}
	for _, p := range t.Write {
		if fi, err := os.Stat(p); err == nil {
			if fi.IsDir() {
				rules = append(rules, landlock.RWDirs(p).WithRefer())
			} else {
				rules = append(rules, landlock.RWFiles(p))
			}
		}
	}
	// The best that this kernel knows; what was missing is found by the trial.
	best := landlock.V11.BestEffort()
	if err := best.RestrictPaths(rules...); err != nil {
		return err
	}
	if !t.Network {
		if err := best.RestrictNet(); err != nil {
			return err
		}
	}
	if err := best.RestrictScoped(); err != nil {
		return err
	}
	return proc.Become(path, argv)
}
