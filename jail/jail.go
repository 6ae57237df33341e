// Package jail runs programs so that they reach nothing but what they work on.
//
// The usual backend is bubblewrap. A program gets a root of its own that is put
// together from an allow-list: /usr and a few files of /etc to read, the caches
// of tool chains (cache.go), a home and a /tmp of its plan, and the one tree it
// may change, at the path where the real one is. It has no network, sees no
// process and no socket of this machine, and can gain no right it has not got.
// Bounds are set by the kernel where it can (size of a file, open files,
// threads) and by looking (memory, processes, disk: package proc).
//
// Where bubblewrap does not work, Landlock keeps the program's hands off files,
// and off TCP; it does not hide processes or unix sockets, and the tree is seen
// where it is. Where neither works a program runs unconfined only when the
// caller allows it. Every run says which of the three it was.
//
// What counts as working is tried, not looked up: a backend is used after it
// let a write inside pass and stopped one outside.
//
// It does not protect from faults of the kernel, and a program that is over a
// bound that is kept by looking can stay there for a tenth of a second.
package jail

import (
	"context"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/policy"
	"github.com/cleveragents/agents/proc"
)

// Backend is what confines a program.
type Backend string

// The backends, from the strongest to none.
const (
	Bubblewrap Backend = "bubblewrap"
	Landlock   Backend = "landlock"
	Unconfined Backend = "none"
)

// Limits bound one program with all it starts. Zero fields take the default.
type Limits struct {
	Memory    int64 // bytes; see proc.Limits
	Processes int
	FileSize  int64 // bytes of any file that it writes
	Disk      int64 // bytes by which it may fill the disk
	Files     int64 // files by which it may fill the disk
}

// The bounds where a configuration gives none.
const (
	defaultMemory    = 8 << 30
	defaultProcesses = 1000
	defaultFileSize  = 4 << 30
	defaultDisk      = 10 << 30
	defaultFiles     = 1 << 20
)

func (l Limits) filled() Limits {
	fill := func(n *int64, d int64) {
		if *n <= 0 {
			*n = d
		}
	}
	fill(&l.Memory, defaultMemory)
	fill(&l.FileSize, defaultFileSize)
	fill(&l.Disk, defaultDisk)
	fill(&l.Files, defaultFiles)
	if l.Processes <= 0 {
		l.Processes = defaultProcesses
	}
	return l
}

// Config is what a jail is made of.
type Config struct {
	Proc     *proc.Runner
	Dir      string   // the jail's own few files are kept here; made with mode 0700
	Home     string   // of the person: caches of tool chains are below it, and nothing else is shown
	Self     string   // this program, which calls Enter first thing; "" does without Landlock
	ReadOnly []string // further directories that programs may read
	Limits   Limits
	Use      Backend // the only one that is tried; "" takes the first that works

	// How hosts are found and reached for an Order that may reach some; nil is
	// as usual. See egress.Config.
	Resolve func(ctx context.Context, name string) ([]netip.Addr, error)
	Dial    func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
}

// Jail runs programs. Safe for concurrent use.
type Jail struct {
	cfg    Config
	mu     sync.Mutex
	probed bool
	found  Backend
	why    string // what is wrong with the stronger ones, for a person
	layers *bool  // whether caches can be laid over; nil when not tried
}

// New returns a jail; nothing is tried before it is used.
func New(c Config) *Jail {
	c.Limits = c.Limits.filled()
	return &Jail{cfg: c}
}

// NoSandbox is the code of the error of a program that was not run because it
// cannot be confined as it must be.
const NoSandbox = "SandboxUnavailable"

// Order is one program to run.
type Order struct {
	Tree string // absolute; the directory it works on
	At   string // where it is to see the tree: where the real one is. Not every backend and place can
	Dir  string // within the tree, slash-separated; "" is its root
	Argv []string
	// Scratch holds its HOME and TMPDIR, and what its builds keep; "" is a
	// directory that is removed afterwards.
	Scratch   string
	Fresh     bool              // HOME and TMPDIR are empty at first; the rest of a given scratch stays
	Vars      map[string]string // more of its environment
	Stdin     []byte
	Timeout   time.Duration
	MaxOutput int64
	StopAt    int64
	Tee       io.Writer      // see proc.Command
	ReadOnly  bool           // it may not change the tree either
	Network   policy.Network // what it may reach; some hosts only needs Bubblewrap
	Must      bool           // it is not to be run unconfined
}

// Result is how a program ended, and what confined it.
type Result struct {
	proc.Result
	Backend Backend
	Refused []string // host:port that it asked for and may not reach
}

// Backend tries what works here and returns the strongest, with what is wrong
// with those that are stronger, for a person.
func (j *Jail) Backend(ctx context.Context) (Backend, string, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.probed {
		return j.found, j.why, nil
	}
	found, why, err := j.probe(ctx)
	if err != nil {
		return "", "", err
	}
	j.probed, j.found, j.why = true, found, why
	return found, why, nil
}

// Ready is nil when programs can be confined here, and Refusal otherwise.
func (j *Jail) Ready(ctx context.Context) error {
	found, why, err := j.Backend(ctx)
	if err == nil && found == Unconfined {
		err = Refusal(why)
	}
	return err
}

// Refusal is the error of a program that must be confined and cannot be.
func Refusal(why string) error {
	return fault.New(fault.Unavailable, "programs cannot be confined here: %s", why).
		WithCode(NoSandbox).
		WithHint("install bubblewrap (sudo apt-get install bubblewrap) and see agents doctor, or allow it once in the action: safety_profile with require_sandbox: false")
}

// Run runs a program to its end. The errors are those of proc.Runner.Run, and
// fault.Unavailable with the code SandboxUnavailable.
func (j *Jail) Run(ctx context.Context, o Order) (Result, error) {
	backend, why, err := j.Backend(ctx)
	if err != nil {
		return Result{}, err
	}
	if backend == Unconfined && o.Must {
		return Result{}, Refusal(why)
	}
	if backend == Landlock && len(o.Network.Only) > 0 && !o.Network.Any {
		return Result{}, fault.New(fault.Unavailable, "only bubblewrap can let a program reach some hosts and no other: %s", why).
			WithCode(NoSandbox).WithHint("install bubblewrap: sudo apt-get install bubblewrap")
	}
	if len(o.Argv) == 0 {
		return Result{}, fault.New(fault.Invalid, "no program is named")
	}
	if o.Fresh && o.Scratch != "" {
		for _, name := range []string{homeName, tmpName} {
			if err := loosenAll(filepath.Join(o.Scratch, name)); err != nil {
				return Result{}, fault.New(fault.Unavailable, "empty a scratch directory: %w", err)
			}
		}
	}
	scratch, cleanup, err := scratchDir(o.Scratch)
	if err != nil {
		return Result{}, err
	}
	defer cleanup()
	o.Scratch = scratch
	return j.run(ctx, backend, o)
}

func (j *Jail) run(ctx context.Context, backend Backend, o Order) (Result, error) {
	var c proc.Command
	out, err := j.exitFor(o)
	if err != nil {
		return Result{}, err
	}
	defer out.close()
	switch backend {
	case Bubblewrap:
		c, err = j.wrapped(ctx, o, out)
	case Landlock:
		c, err = j.landlocked(o)
	default:
		c, err = j.open(o)
	}
	if err != nil {
		return Result{}, err
	}
	c.Stdin, c.Timeout, c.MaxOutput, c.StopAt, c.Tee = o.Stdin, o.Timeout, o.MaxOutput, o.StopAt, o.Tee
	l := j.cfg.Limits
	c.Limits = proc.Limits{Memory: l.Memory, Processes: l.Processes, Disk: l.Disk, Files: l.Files, DiskAt: o.Scratch}
	res, err := j.cfg.Proc.Run(ctx, c)
	if err == nil && backend == Bubblewrap {
		err = broken(res)
	}
	return Result{res, backend, out.close()}, err
}

// open is the command of a program that nothing confines. It has an environment
// and a home of its own nevertheless.
func (j *Jail) open(o Order) (proc.Command, error) {
	if err := readable(o); err != nil {
		return proc.Command{}, err
	}
	return proc.Command{Dir: o.inTree(), Argv: o.Argv, Env: o.env(o.Tree, filepath.Join(o.Scratch, homeName), filepath.Join(o.Scratch, tmpName), nil)}, nil
}

// readable refuses a read-only tree where nothing can hold it.
func readable(o Order) error {
	if o.ReadOnly {
		return fault.New(fault.Unavailable, "nothing here keeps a program from writing").WithCode(NoSandbox).
			WithHint("install bubblewrap, or leave --ro out")
	}
	return nil
}

// inTree is the directory on this machine that the program starts in.
func (o Order) inTree() string { return filepath.Join(o.Tree, filepath.FromSlash(o.Dir)) }

// The directories of a scratch.
const (
	homeName  = "home"
	tmpName   = "tmp"
	cacheName = "cache"
)

// scratchDir makes what is missing of a scratch.
func scratchDir(given string) (dir string, cleanup func(), err error) {
	dir, cleanup = given, func() {}
	if dir == "" {
		if dir, err = os.MkdirTemp("", "agents-scratch-"); err != nil {
			return "", nil, fault.New(fault.Unavailable, "make a scratch directory: %w", err)
		}
		// What cannot be removed is in the system's directory for such files.
		cleanup = func() { _ = loosenAll(dir) }
	}
	for _, name := range []string{homeName, tmpName, cacheName} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			cleanup()
			return "", nil, fault.New(fault.Unavailable, "make a scratch directory: %w", err)
		}
	}
	return dir, cleanup, nil
}

// loosenAll removes a directory, also what a program in it made unwritable.
func loosenAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(p, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// env is the environment of a program: the allow-list, what the backend says
// of caches, and the order's own.
func (o Order) env(tree, home, tmp string, more map[string]string) []string {
	vars := map[string]string{
		"HOME": home, "TMPDIR": tmp,
		// A git in the tree is not to find a repository that is around it.
		"GIT_CEILING_DIRECTORIES": filepath.Dir(tree), "GIT_TERMINAL_PROMPT": "0",
		"PAGER": "cat", "GIT_PAGER": "cat",
	}
	for _, m := range []map[string]string{more, o.Vars} {
		for name, value := range m {
			vars[name] = value
		}
	}
	return proc.Env(vars)
}
