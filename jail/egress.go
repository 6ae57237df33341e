package jail

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/cleveragents/agents/egress"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/policy"
)

// Where the way out is inside. The program speaks HTTP to a port of its own
// loopback, which the bridge, this program started inside, carries to the
// socket of the proxy outside.
const (
	jailSocket = "/run/agents/egress.sock"
	jailBridge = "/run/agents/bridge"
	bridgeWord = "__bridge"
)

// exit is one way out, for one run.
type exit struct {
	proxy  *egress.Proxy
	socket string
}

// exitFor opens the way out that an order asks for, or nil when it asks for
// everything or nothing.
func (j *Jail) exitFor(o Order) (*exit, error) {
	if o.Network.Any || o.Network.Off() {
		return nil, nil
	}
	if j.cfg.Self == "" {
		return nil, fault.New(fault.Unavailable, "this program does not know where it is, which the way to some hosts needs").WithCode(NoSandbox)
	}
	socket := filepath.Join(o.Scratch, "egress.sock")
	l, err := listenAt(o.Scratch, filepath.Base(socket))
	if err != nil {
		return nil, fault.New(fault.Unavailable, "sandbox: %w", err)
	}
	return &exit{egress.New(l, egress.Config{Allow: o.Network, Resolve: j.cfg.Resolve, Dial: j.cfg.Dial}), socket}, nil
}

// listenAt listens on a unix socket in a directory whose path may be longer
// than the address of a socket can be.
func listenAt(dir, name string) (net.Listener, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	if err := os.Remove(filepath.Join(dir, name)); err != nil && !os.IsNotExist(err) { // of a run that was killed
		return nil, err
	}
	l, err := net.Listen("unix", "/proc/self/fd/"+strconv.Itoa(int(d.Fd()))+"/"+name)
	if err != nil {
		return nil, err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // that name means nothing once d is closed
	return l, nil
}

// close ends the way out and returns what was refused.
func (e *exit) close() []string {
	if e == nil {
		return nil
	}
	refused := e.proxy.Close()
	_ = os.Remove(e.socket) // the next run removes what is left
	return refused
}

// wire adds the way out to a jail. Without one the program has none.
func (e *exit) wire(a *args, self string) (bridge string) {
	if e == nil {
		return ""
	}
	a.add("--ro-bind", self, jailBridge, "--ro-bind", e.socket, jailSocket)
	return jailBridge
}

// bridge carries connections to a port of the loopback to a unix socket. It
// says the port and goes on until it is killed.
func bridge(socket string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr().(*net.TCPAddr).Port)
	if err := os.Stdout.Close(); err != nil { // who reads the port waits for the end
		return err
	}
	for {
		in, err := l.Accept()
		if err != nil {
			return err
		}
		go carry(in, socket)
	}
}

func carry(in net.Conn, socket string) {
	defer in.Close()
	out, err := net.Dial("unix", socket)
	if err != nil {
		return // the program sees that the connection ends
	}
	defer out.Close()
	var both sync.WaitGroup
	pass := func(to, from net.Conn) {
		_, _ = io.Copy(to, from) // the program sees the end
		if h, ok := to.(interface{ CloseWrite() error }); ok {
			_ = h.CloseWrite()
		}
	}
	both.Go(func() { pass(out, in) })
	both.Go(func() { pass(in, out) })
	both.Wait()
}

// online are the variables of a program that has some way out, and not those
// that tell tool chains that there is none.
func online(vars map[string]string, n policy.Network) {
	if n.Off() {
		return
	}
	for _, name := range []string{"CARGO_NET_OFFLINE", "UV_OFFLINE"} {
		delete(vars, name)
	}
	vars["GOPROXY"] = "" // as if it were not set
}
