package jail

import (
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/proc"
)

// probeWord makes the test program try what it can do and print it.
const probeWord = "__probe"

func TestMain(m *testing.M) {
	Enter(os.Args)
	if len(os.Args) > 2 && os.Args[1] == probeWord {
		tryAll(os.Args[2:])
		os.Exit(0)
	}
	if len(os.Args) > 2 && os.Args[1] == getWord {
		getAll(os.Args[2:])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// world is a jail with something around it that must not be reached.
type world struct {
	t *testing.T
	*Jail
	dir, tree, scratch string
	canary             string // outside
	secret             string // below the home
	self               string
}

// canaryText is what no program inside may ever print.
const canaryText = "canary-7c1f9b"

func newWorld(t *testing.T, use Backend, change func(*Config)) *world {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	w := &world{t: t, dir: dir, tree: filepath.Join(dir, "tree"), scratch: filepath.Join(dir, "scratch"), self: self}
	for name, text := range map[string]string{"tree/file": "old\n", "canary": canaryText, "home/.ssh/id_ed25519": canaryText, "data/data.db": canaryText} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	w.canary, w.secret = filepath.Join(dir, "canary"), filepath.Join(dir, "home/.ssh/id_ed25519")
	c := Config{Proc: proc.New(time.Now), Dir: filepath.Join(dir, "data", "jail"), Home: filepath.Join(dir, "home"), Self: self, ReadOnly: []string{filepath.Dir(self)}, Use: use}
	if change != nil {
		change(&c)
	}
	w.Jail = New(c)
	got, why, err := w.Backend(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if use != "" && got != use {
		if use == Bubblewrap && onPath("bwrap") || use == Landlock && proc.Landlock() > 0 {
			t.Fatalf("%s does not work here: %s", use, why)
		}
		t.Skip(use, " is not here")
	}
	return w
}

func onPath(name string) bool { _, err := exec.LookPath(name); return err == nil }

func (w *world) order(argv ...string) Order {
	return Order{Tree: w.tree, Scratch: w.scratch, Argv: argv, Timeout: time.Minute, Must: true}
}

func (w *world) sh(script string) Result {
	w.t.Helper()
	res, err := w.Run(w.t.Context(), w.order("sh", "-c", script))
	if err != nil {
		w.t.Fatal(err)
	}
	return res
}

func backends() []Backend { return []Backend{Bubblewrap, Landlock} }

// attempt is one thing that a program tries inside.
type attempt struct {
	Name string
	Err  string // "" when it succeeded
}

// tryAll tries everything and prints what came of it. Its arguments are paths
// and addresses of things outside.
func tryAll(args []string) {
	canary, secret, tcp, unixPath, abstract := args[0], args[1], args[2], args[3], args[4]
	read := func(name string) error { _, err := os.ReadFile(name); return err }
	write := func(name string) error { return os.WriteFile(name, []byte("x"), 0o644) }
	dial := func(network, addr string) error {
		c, err := net.DialTimeout(network, addr, time.Second)
		if err == nil {
			c.Close()
		}
		return err
	}
	var out []attempt
	try := func(name string, f func() error) {
		a := attempt{Name: name}
		if err := f(); err != nil {
			a.Err = err.Error()
		}
		out = append(out, a)
	}
	try("inside", func() error { return write("written") })
	try("home", func() error { return write(filepath.Join(os.Getenv("HOME"), "f")) })
	try("tmp", func() error { return write(filepath.Join(os.TempDir(), "f")) })
	try("read the system", func() error { return read("/usr/bin/env") })
	try("null device", func() error { return write("/dev/null") })
	try("read a secret", func() error { return read(secret) })
	try("read outside", func() error { return read(canary) })
	try("write outside", func() error { return write(canary) })
	try("write beside", func() error { return write(canary + ".new") })
	try("write up and over", func() error { return write("../canary") })
	try("write the system", func() error { return write("/usr/agents-was-here") })
	try("write the root", func() error { return write("/agents-was-here") })
	try("write /etc", func() error { return write("/etc/agents-was-here") })
	try("through a link", func() error { _ = os.Symlink(canary, "link"); return read("link") })
	try("write through a link", func() error { return write("link") })
	try("through the root of a process", func() error { return read("/proc/self/root" + canary) })
	try("through the first process", func() error { return read("/proc/1/root" + canary) })
	try("the environment of another", func() error {
		b, err := os.ReadFile("/proc/" + args[5] + "/environ")
		if err == nil && !bytes.Contains(b, []byte(canaryText)) {
			err = errors.New("not that one's")
		}
		return err
	})
	try("hard link", func() error { return os.Link("/usr/bin/env", "hard") })
	try("hard link outside", func() error { return os.Link(canary, "hard2") })
	try("make a device", func() error { return unix.Mknod("dev", unix.S_IFBLK|0o600, 8<<8) })
	try("mount", func() error { return unix.Mount("none", os.TempDir(), "tmpfs", 0, "") })
	try("a user namespace", func() error { return unix.Unshare(unix.CLONE_NEWUSER) })
	try("change the root", func() error { return unix.Chroot(".") })
	try("tcp on this machine", func() error { return dial("tcp", tcp) })
	try("tcp elsewhere", func() error { return dial("tcp", "192.0.2.1:80") })
	try("udp", func() error {
		c, err := net.Dial("udp", "192.0.2.1:53")
		if err == nil {
			_, err = c.Write([]byte("x"))
		}
		return err
	})
	try("a name", func() error { _, err := net.LookupHost("example.com"); return err })
	try("unix socket", func() error { return dial("unix", unixPath) })
	try("abstract socket", func() error { return dial("unix", abstract) })
	try("kill the engine", func() error { return syscall.Kill(mustInt(args[5]), 0) })
	try("trace", func() error { return unix.PtraceAttach(mustInt(args[5])) })
	try("gain a capability", func() error {
		b, err := os.ReadFile("/proc/self/status")
		if err == nil && bytes.Contains(b, []byte("NoNewPrivs:\t1")) && bytes.Contains(b, []byte("CapEff:\t0000000000000000")) {
			err = errors.New("none can be had")
		}
		return err
	})
	try("canary in the environment", func() error {
		if !strings.Contains(strings.Join(os.Environ(), "\n"), canaryText) {
			return errors.New("not there")
		}
		return nil
	})
	_ = json.NewEncoder(os.Stdout).Encode(out)
}

func mustInt(s string) int {
	n := 0
	for _, c := range s {
		n = n*10 + int(c-'0')
	}
	return n
}

// T01, T02, T03, T08: what a program can do and what it cannot, under each
// backend. Landlock alone does less, and this list says what.
func TestWhatAProgramCanDo(t *testing.T) {
	can := []string{"inside", "home", "tmp", "read the system", "null device"}
	weaker := []string{"udp", "unix socket", "kill the engine", "a name"}
	if os.Getuid() == 0 { // Landlock takes no capability away
		weaker = append(weaker, "gain a capability", "make a device", "change the root", "a user namespace")
	} else {
		weaker = append(weaker, "a user namespace", "gain a capability")
	}
	for _, b := range backends() {
		t.Run(string(b), func(t *testing.T) {
			t.Setenv("AGENTS_CANARY_TOKEN", canaryText)
			t.Setenv("CANARY", canaryText)
			w := newWorld(t, b, nil)
			tcp, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer tcp.Close()
			short, err := os.MkdirTemp("", "s")
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(short)
			sock, err := net.Listen("unix", short+"/s")
			if err != nil {
				t.Fatal(err)
			}
			defer sock.Close()
			abstract, err := net.Listen("unix", "@"+filepath.Base(short))
			if err != nil {
				t.Fatal(err)
			}
			defer abstract.Close()
			res, err := w.Run(t.Context(), w.order(w.self, probeWord, w.canary, w.secret, tcp.Addr().String(), short+"/s", "@"+filepath.Base(short), itoa(os.Getpid())))
			if err != nil || res.Exit != 0 {
				t.Fatalf("%v, exit %d: %s", err, res.Exit, res.Output)
			}
			if res.Backend != b {
				t.Errorf("it says that %s was used", res.Backend)
			}
			var got []attempt
			if err := json.Unmarshal(res.Output, &got); err != nil {
				t.Fatalf("%v: %s", err, res.Output)
			}
			for _, a := range got {
				switch {
				case slices.Contains(can, a.Name):
					if a.Err != "" {
						t.Errorf("%s is refused: %s", a.Name, a.Err)
					}
				case a.Err == "" && (b == Bubblewrap || !slices.Contains(weaker, a.Name)):
					t.Errorf("%s is possible", a.Name)
				}
			}
			if len(got) < 30 {
				t.Errorf("only %d things were tried", len(got))
			}
			if text, err := os.ReadFile(w.canary); err != nil || string(text) != canaryText {
				t.Errorf("the file outside: %q %v", text, err)
			}
			if _, err := os.Lstat("/usr/agents-was-here"); err == nil {
				t.Error("/usr was written")
			}
		})
	}
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

// The tree is seen where the real one is, so that messages and what builds
// remember of paths are right.
func TestPlace(t *testing.T) {
	w := newWorld(t, Bubblewrap, nil)
	real := filepath.Join(w.dir, "home", "work", "project")
	for at, want := range map[string]string{
		real: real, "": "/w", "relative": "/w", "/": "/w", "/usr": "/w", "/home": "/w", "/proc/x": "/w", "/home/agent": "/w",
		"/usr/share": "/usr/share", "/usr/none/such": "/w", "/srv/a b/c": "/srv/a b/c",
	} {
		o := w.order("sh", "-c", "pwd; cat file")
		o.At = at
		res, err := w.Run(t.Context(), o)
		if err != nil || string(res.Output) != want+"\nold\n" {
			t.Errorf("%s: %v %s", at, err, res.Output)
		}
	}
}

func TestReadOnlyTree(t *testing.T) {
	for _, b := range backends() {
		w := newWorld(t, b, nil)
		o := w.order("sh", "-c", "cat file && : >written")
		o.ReadOnly = true
		res, err := w.Run(t.Context(), o)
		if err != nil || res.Exit == 0 || !strings.HasPrefix(string(res.Output), "old\n") {
			t.Errorf("%s: %v exit %d %s", b, err, res.Exit, res.Output)
		}
		if _, err := os.Lstat(filepath.Join(w.tree, "written")); err == nil {
			t.Errorf("%s: it was written", b)
		}
	}
}

// T05: where nothing confines, a program that must be confined is not run.
func TestNothingConfines(t *testing.T) {
	w := newWorld(t, "", func(c *Config) { c.Use = Unconfined })
	if _, err := w.Run(t.Context(), w.order("sh", "-c", ": >ran")); !fault.Is(err, fault.Unavailable) || fault.As(err).Code != "SandboxUnavailable" {
		t.Errorf("it says %v", err)
	}
	if _, err := os.Lstat(filepath.Join(w.tree, "ran")); err == nil {
		t.Error("it ran")
	}
	o := w.order("sh", "-c", "pwd")
	o.Must = false
	res, err := w.Run(t.Context(), o)
	if err != nil || res.Backend != Unconfined || string(res.Output) != w.tree+"\n" {
		t.Errorf("where it is allowed: %v %+v", err, res)
	}
}

// T05: a backend that is installed and does not hold is not used.
func TestABackendThatDoesNotHold(t *testing.T) {
	bin := t.TempDir()
	fake := "#!/bin/sh\nwhile [ \"$1\" != -- ]; do case $1 in --bind) tree=$2;; esac; shift; done; shift; cd \"$tree\" && exec \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "bwrap"), []byte(fake), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	j := New(Config{Proc: proc.New(time.Now), Dir: t.TempDir(), Use: Bubblewrap})
	got, why, err := j.Backend(t.Context())
	if err != nil || got != Unconfined || !strings.Contains(why, "a write outside of the sandbox was not stopped") {
		t.Errorf("%s: %s %v", got, why, err)
	}
}

// T06: bounds are kept, and what is around goes on.
func TestBounds(t *testing.T) {
	for _, b := range backends() {
		t.Run(string(b), func(t *testing.T) {
			w := newWorld(t, b, func(c *Config) {
				c.Limits = Limits{Memory: 200 << 20, Processes: 40, FileSize: 1 << 20, Disk: 64 << 20}
			})
			for name, c := range map[string]struct{ script, over string }{
				"memory":         {"exec awk 'BEGIN { s = \"0123456789\"; while (1) s = s s }'", proc.OverMemory},
				"processes":      {"f() { sleep 60 & }; i=0; while [ $i -lt 100 ]; do f; i=$((i+1)); done; wait", proc.OverProcesses},
				"size of a file": {"trap '' XFSZ; head -c 3000000 /dev/zero >big; ls -l big | awk '{ exit $5 > 1048576 }'", ""},
				"a sparse file":  {"trap '' XFSZ; ! truncate -s 1T sparse", ""},
				"disk":           {"i=0; while true; do head -c 1000000 /dev/urandom >f$i; i=$((i+1)); done", proc.OverDisk},
			} {
				res := w.sh(c.script)
				if res.Over != c.over || c.over == "" && res.Exit != 0 {
					t.Errorf("%s: over %q, exit %d: %.300s", name, res.Over, res.Exit, res.Output)
				}
			}
		})
	}
}

// T07: what a program leaves running is gone, also what cut every tie.
func TestNothingIsLeft(t *testing.T) {
	w := newWorld(t, Bubblewrap, nil)
	res := w.sh(`setsid -f env -i sh -c 'sleep 613 & exec sleep 613' >/dev/null 2>&1 </dev/null; sleep 0.2; echo started`)
	if res.Exit != 0 || string(res.Output) != "started\n" {
		t.Fatalf("exit %d: %s", res.Exit, res.Output)
	}
	names, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if b, err := os.ReadFile(name); err == nil && strings.HasPrefix(string(b), "sleep\x00613\x00") {
			t.Errorf("%s is left", name)
		}
	}
}
