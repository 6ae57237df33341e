// Package proc starts child processes; nothing else in the program does.
//
// A child gets an environment that is built from an allow-list (Env), a
// session of its own (so it has no terminal to read from and one kill reaches
// its group), and one pipe for both of its outputs. Run returns when the
// program has ended: what it left running is killed, first its group while its
// id is still reserved by the unreaped leader, then on Linux every process
// that is in its session, descends from it or still carries its mark in the
// environment. A deadline kills the same way, and Run returns within a second
// of it even when something escaped and holds the pipe. Of the output a fixed
// number of bytes is kept; the rest is read and counted up to a limit at which
// the program is killed.
//
// Limits on memory, processes and disk are kept by looking a few times a second.
//
// It does not promise that nothing survives: a process that double-forks, makes
// its own session and clears its environment is out of reach unless the program
// was started in a PID namespace, as package jail does. Nor does it keep a
// program from files or the network.
package proc

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/cleveragents/agents/fault"
)

// The sizes and times that a Command leaves at zero.
const (
	DefaultMaxOutput = 16 << 20  // bytes of output that are kept
	DefaultStopAt    = 256 << 20 // bytes of output after which the program is killed
)

const (
	linger    = 200 * time.Millisecond // for helpers that still write when the leader has ended
	killDelay = 500 * time.Millisecond // for the kernel to end what was killed
	pipeDelay = 200 * time.Millisecond // for the pipe to drain after that
)

// Command is a program to run. Env must come from the function Env; nil is
// refused. No Timeout means that only the context ends it.
type Command struct {
	Dir       string
	Argv      []string // Argv[0] is looked up on Env's PATH unless it has a slash
	Env       []string
	Stdin     []byte // nil: the null device
	Timeout   time.Duration
	MaxOutput int64 // bytes of stdout and stderr together that are kept
	StopAt    int64 // bytes of them after which the program is killed
	Limits    Limits
	Tee       io.Writer // gets the output as it comes; an error of it is ignored
}

// Result is how a program ended.
type Result struct {
	Exit      int           // exit status; 128 + the signal's number when a signal ended it
	Signal    string        // such as SIGKILL; "" when it exited
	Output    []byte        // stdout and stderr in the order they came; a dropped middle is one line saying so
	Truncated bool          // Output is not all of it
	Total     int64         // bytes that came
	TimedOut  bool          // Command.Timeout ended it
	Flooded   bool          // Command.StopAt ended it
	Over      string        // the limit of Command.Limits that ended it: OverMemory and the like
	Elapsed   time.Duration // wall time
}

// Runner runs commands. Safe for concurrent use.
type Runner struct {
	now func() time.Time
}

// New returns a runner that measures with now.
func New(now func() time.Time) *Runner { return &Runner{now: now} }

// Run runs one command to its end. A program that runs and fails, is killed by
// its own limits or ends by a signal is a Result without an error. An error
// means that it did not start (NotFound with code ProgramNotFound, Invalid,
// Denied, Unavailable) or that ctx ended it (Cancelled or Timeout, with the
// Result so far).
func (r *Runner) Run(ctx context.Context, c Command) (Result, error) {
	if err := c.check(); err != nil {
		return Result{}, err
	}
	if err := ctx.Err(); err != nil {
		return Result{}, ended(ctx)
	}
	path, err := lookIn(valueOf(c.Env, "PATH"), c.Argv[0])
	if err != nil {
		return Result{}, err
	}
	mark := markName + "=" + rand.Text() // no other run has it, of this process or another
	began := r.now()
	ch, err := start(path, c, mark)
	if err != nil {
		return Result{}, startFault(c, err)
	}
	limit := ctx
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		limit, cancel = context.WithTimeout(ctx, c.Timeout)
		defer cancel()
	}
	res, err := ch.wait(ctx, limit, c.Limits)
	res.Elapsed = r.now().Sub(began)
	return res, err
}

func (c *Command) check() error {
	if len(c.Argv) == 0 {
		return fault.New(fault.Invalid, "no program is named")
	}
	if c.Env == nil {
		return fault.New(fault.Internal, "run %s: no environment was made for it", c.Argv[0])
	}
	for _, kv := range c.Env {
		if name, _, ok := strings.Cut(kv, "="); !ok || name == "" || strings.ContainsRune(kv, 0) {
			return fault.New(fault.Invalid, "run %s: the environment holds %q, which is not NAME=value", c.Argv[0], kv)
		}
	}
	for _, a := range c.Argv {
		if strings.ContainsRune(a, 0) {
			return fault.New(fault.Invalid, "run %s: an argument holds a NUL byte", c.Argv[0])
		}
	}
	if c.MaxOutput <= 0 {
		c.MaxOutput = DefaultMaxOutput
	}
	if c.StopAt <= 0 {
		c.StopAt = DefaultStopAt
	}
	return nil
}

func startFault(c Command, err error) error {
	if c.Dir != "" {
		if info, serr := os.Stat(c.Dir); serr != nil || !info.IsDir() {
			return fault.New(fault.NotFound, "run %s: directory %s is not there", c.Argv[0], c.Dir)
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.NotFound, "run %s: %w", c.Argv[0], err).WithCode("ProgramNotFound")
	case errors.Is(err, fs.ErrPermission):
		return fault.New(fault.Denied, "run %s: %w", c.Argv[0], err)
	case errors.Is(err, syscall.ENOEXEC), errors.Is(err, syscall.E2BIG):
		return fault.New(fault.Invalid, "run %s: %w", c.Argv[0], err)
	}
	return fault.New(fault.Unavailable, "run %s: %w", c.Argv[0], err)
}

func ended(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fault.New(fault.Timeout, "stopped: %w", ctx.Err())
	}
	return fault.New(fault.Cancelled, "stopped: %w", ctx.Err())
}

// child is one started program.
type child struct {
	cmd    *exec.Cmd
	mark   string
	exited chan struct{} // closed when the leader has ended; it is not reaped yet
	output *os.File
	stdin  *os.File      // nil without input
	fed    chan struct{} // closed when no more input is written
	drained
}

// drained is the reader's side: its fields belong to the reader until eof is
// closed.
type drained struct {
	sink  sink
	flood chan struct{} // closed once StopAt is passed
	eof   chan struct{} // closed when nothing more will be read
}

func start(path string, c Command, mark string) (*child, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	ch := &child{
		mark: mark, exited: make(chan struct{}), output: r,
		cmd: &exec.Cmd{
			Path: path, Args: c.Argv, Dir: c.Dir,
			Env:    append([]string{mark}, c.Env...),
			Stdout: w, Stderr: w,
			SysProcAttr: attributes(),
		},
		drained: drained{sink: sink{max: c.MaxOutput}, flood: make(chan struct{}), eof: make(chan struct{})},
	}
	if c.Stdin != nil {
		in, feed, err := os.Pipe()
		if err != nil {
			r.Close()
			return nil, err
		}
		defer in.Close()
		ch.cmd.Stdin, ch.stdin, ch.fed = in, feed, make(chan struct{})
	}
	if err := ch.launch(); err != nil {
		r.Close()
		if ch.stdin != nil {
			ch.stdin.Close()
		}
		return nil, err
	}
	go ch.read(c.StopAt, c.Tee)
	if ch.stdin != nil {
		// A program that does not read its input ends this write by ending;
		// wait closes the pipe when something else holds the other side.
		go func() {
			defer close(ch.fed)
			ch.stdin.Write(c.Stdin)
			ch.stdin.Close()
		}()
	}
	return ch, nil
}

// launch starts the program and watches for its end from one locked thread:
// the kernel's signal on our death is tied to the thread that forked.
func (ch *child) launch() error {
	started := make(chan error)
	go func() {
		unlock := lockThread()
		defer unlock()
		err := ch.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		awaitExit(ch.cmd.Process.Pid)
		close(ch.exited)
	}()
	return <-started
}

func (ch *child) read(stopAt int64, tee io.Writer) {
	defer close(ch.eof)
	buf := make([]byte, 64<<10)
	for {
		n, err := ch.output.Read(buf)
		ch.sink.write(buf[:n])
		if tee != nil && n > 0 {
			_, _ = tee.Write(buf[:n]) // who watches may be gone; the program goes on
		}
		if ch.sink.total > stopAt {
			close(ch.flood)
			return
		}
		if err != nil { // io.EOF, or the pipe was closed by wait
			return
		}
	}
}

// wait returns when the program and all that can be found of it is gone, or
// within a second of limit's end.
func (ch *child) wait(ctx, limit context.Context, limits Limits) (Result, error) {
	var res Result
	stop := make(chan struct{})
	over := watch(ch.cmd.Process.Pid, limits, stop)
	select {
	case res.Over = <-over:
	case <-ch.exited:
		// What helpers still write counts; most often the pipe ends at once.
		waitFor(ch.eof, limit, linger)
	case <-ch.flood:
		res.Flooded = true
	case <-limit.Done():
		res.TimedOut = ctx.Err() == nil
	}
	close(stop)
	ch.kill()
	if !waitFor(ch.exited, context.Background(), killDelay) {
		ch.output.Close()
		<-ch.eof
		res.Output, res.Truncated, res.Total = ch.kept()
		return res, fault.New(fault.Internal, "run %s: it does not end when killed", ch.cmd.Args[0])
	}
	ch.reap(&res)
	waitFor(ch.eof, context.Background(), pipeDelay)
	ch.output.Close()
	if ch.stdin != nil {
		ch.stdin.Close()
		<-ch.fed
	}
	<-ch.eof
	res.Output, res.Truncated, res.Total = ch.kept()
	if res.Signal == "" { // it was faster than what would have ended it
		res.TimedOut, res.Flooded, res.Over = false, false, ""
		return res, nil
	}
	if ctx.Err() != nil && !res.TimedOut && !res.Flooded && res.Over == "" {
		return res, ended(ctx)
	}
	return res, nil
}

func (ch *child) kept() ([]byte, bool, int64) {
	out, truncated := ch.sink.bytes()
	return out, truncated, ch.sink.total
}

// kill ends the group, which the unreaped leader keeps reserved, and then what
// left it. A group that is gone already is no error.
func (ch *child) kill() {
	pid := ch.cmd.Process.Pid
	killStrays(pid, ch.mark, func() { syscall.Kill(-pid, syscall.SIGKILL) })
}

func (ch *child) reap(res *Result) {
	err := ch.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		res.Exit = -1
		return
	}
	st, ok := ch.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ok {
		res.Exit = ch.cmd.ProcessState.ExitCode()
		return
	}
	res.Exit = st.ExitStatus()
	if st.Signaled() {
		res.Exit = 128 + int(st.Signal())
		res.Signal = signalName(st.Signal())
	}
}

// waitFor reports whether c was closed before ctx ended or d passed.
func waitFor(c <-chan struct{}, ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c:
		return true
	case <-ctx.Done():
	case <-t.C:
	}
	return false
}
