// Package egress is the way out of a sandbox that may reach some hosts only: an
// HTTP proxy that a program inside speaks to over a unix socket.
//
// A host that is asked for is read once, strictly (policy.HostName), compared
// with the list, looked up here and nowhere else, and the addresses that were
// found are checked before one of them is dialled as a number: a name can
// neither be read in two ways nor lead to this machine or its network. An
// address instead of a name has to be in the list as such. Redirects are the
// program's to follow, and are asked for again.
//
// It passes bytes on. What is sent to a listed host is not looked at.
package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/policy"
)

// The bounds of a proxy.
const (
	maxConns    = 256
	maxRefused  = 20 // that are remembered
	headerTime  = 30 * time.Second
	dialTime    = 20 * time.Second
	maxHeader   = 64 << 10
	idleTime    = 2 * time.Minute
	maxIdlePool = 8
)

// Config is what may be reached and how; Resolve and Dial are the system's when
// nil.
type Config struct {
	Allow   policy.Network
	Resolve func(ctx context.Context, name string) ([]netip.Addr, error)
	Dial    func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
}

// Proxy serves one sandbox. Make it with New and end it with Close.
type Proxy struct {
	cfg    Config
	server *http.Server
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{}
	group  sync.WaitGroup

	mu      sync.Mutex
	refused []string
}

// New starts a proxy on a listener, which is closed with it.
func New(l net.Listener, c Config) *Proxy {
	if c.Resolve == nil {
		c.Resolve = func(ctx context.Context, name string) ([]netip.Addr, error) {
			// The dot keeps the resolver from trying the name below the machine's
			// own domain.
			return net.DefaultResolver.LookupNetIP(ctx, "ip", name+".")
		}
	}
	if c.Dial == nil {
		c.Dial = func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			return (&net.Dialer{Timeout: dialTime}).DialContext(ctx, "tcp", to.String())
		}
	}
	p := &Proxy{cfg: c, done: make(chan struct{})}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	plain := &httputil.ReverseProxy{
		Rewrite: func(*httputil.ProxyRequest) {}, // goes where it was sent to
		Transport: &http.Transport{
			DialContext:        func(ctx context.Context, _, addr string) (net.Conn, error) { return p.open(ctx, addr) },
			DisableCompression: true, MaxIdleConns: maxIdlePool, IdleConnTimeout: idleTime,
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) { refuse(w, err) },
	}
	p.server = &http.Server{
		ReadHeaderTimeout: headerTime, MaxHeaderBytes: maxHeader, IdleTimeout: idleTime,
		BaseContext: func(net.Listener) context.Context { return p.ctx },
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == http.MethodConnect:
				p.tunnel(w, r)
			case r.URL.Scheme == "http" && r.URL.Host != "":
				plain.ServeHTTP(w, r)
			default:
				http.Error(w, "this is a proxy", http.StatusBadRequest)
			}
		}),
	}
	go func() {
		defer close(p.done)
		_ = p.server.Serve(limited(l)) // ends with Close
		plain.Transport.(*http.Transport).CloseIdleConnections()
	}()
	return p
}

// Close ends every connection and returns what was asked for and refused, as
// host:port, each once, in order, at most 20.
func (p *Proxy) Close() []string {
	p.cancel()
	_ = p.server.Close() // closes the listener; nothing is lost
	<-p.done
	p.group.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refused
}

// refuse answers a request that leads nowhere.
func refuse(w http.ResponseWriter, err error) {
	status := http.StatusBadGateway
	if fault.Is(err, fault.Denied) {
		status = http.StatusForbidden
	}
	http.Error(w, "sandbox: "+err.Error(), status)
}

// open connects to host:port when it may be reached.
func (p *Proxy) open(ctx context.Context, addr string) (net.Conn, error) {
	to, err := p.find(ctx, addr)
	if err != nil {
		if fault.Is(err, fault.Denied) {
			p.remember(addr)
		}
		return nil, err
	}
	var errs []error
	for _, a := range to {
		c, err := p.cfg.Dial(ctx, a)
		if err == nil {
			return c, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// find returns the checked addresses of host:port.
func (p *Proxy) find(ctx context.Context, addr string) ([]netip.AddrPort, error) {
	host, portText, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fault.New(fault.Denied, "%q is not a host and a port", addr)
	}
	n, err := strconv.ParseUint(portText, 10, 16)
	if err != nil || n == 0 {
		return nil, fault.New(fault.Denied, "%q is not a port", portText)
	}
	port := uint16(n)
	if a, err := netip.ParseAddr(host); err == nil {
		if a.Zone() != "" || !p.cfg.Allow.Addresses(a, port) {
			return nil, fault.New(fault.Denied, "%s is not in the list of what may be reached", addr)
		}
		return []netip.AddrPort{netip.AddrPortFrom(a.Unmap(), port)}, nil
	}
	name, ok := policy.HostName(host)
	if !ok || !p.cfg.Allow.Names(name, port) {
		return nil, fault.New(fault.Denied, "%q is not in the list of what may be reached", addr)
	}
	found, err := p.cfg.Resolve(ctx, name)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "look up %s: %w", name, err)
	}
	found = slices.DeleteFunc(slices.Clone(found), policy.Private)
	if len(found) == 0 {
		return nil, fault.New(fault.Denied, "%s leads to no address of the internet", name)
	}
	var out []netip.AddrPort
	for _, a := range found {
		out = append(out, netip.AddrPortFrom(a.Unmap(), port))
	}
	return out, nil
}

func (p *Proxy) remember(addr string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.refused) < maxRefused && !slices.Contains(p.refused, addr) {
		p.refused = append(p.refused, addr)
	}
}

// tunnel answers CONNECT.
func (p *Proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	out, err := p.open(r.Context(), r.Host)
	if err != nil {
		refuse(w, err)
		return
	}
	defer out.Close()
	in, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		refuse(w, err)
		return
	}
	defer in.Close()
	p.group.Add(1)
	defer p.group.Done()
	stop := context.AfterFunc(p.ctx, func() { in.Close(); out.Close() })
	defer stop()
	if _, err := io.WriteString(in, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { pass(out, buffered); closeWrite(out) })
	both.Go(func() { pass(in, out); closeWrite(in) })
	both.Wait()
}

// pass copies until one side ends; which error that was matters to nobody.
func pass(to io.Writer, from io.Reader) { _, _ = io.Copy(to, from) }

func closeWrite(c net.Conn) {
	if h, ok := c.(interface{ CloseWrite() error }); ok {
		_ = h.CloseWrite() // the other side may be gone
		return
	}
	c.Close()
}

// limited bounds how many connections there are at a time.
func limited(l net.Listener) net.Listener { return &bounded{l, make(chan struct{}, maxConns)} }

type bounded struct {
	net.Listener
	slots chan struct{}
}

func (b *bounded) Accept() (net.Conn, error) {
	b.slots <- struct{}{}
	c, err := b.Listener.Accept()
	if err != nil {
		<-b.slots
		return nil, err
	}
	return &counted{Conn: c, free: sync.OnceFunc(func() { <-b.slots })}, nil
}

type counted struct {
	net.Conn
	free func()
}

// Close closes the connection and lets another one in.
func (c *counted) Close() error { defer c.free(); return c.Conn.Close() }

// CloseWrite ends one direction.
func (c *counted) CloseWrite() error {
	if h, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return h.CloseWrite()
	}
	return nil
}
