package egress

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/cleveragents/agents/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// net of the tests: names and where they lead; every public address is the
// server of the test.
type world struct {
	*Proxy
	socket string
	looked atomic.Int64
	dialed atomic.Pointer[netip.AddrPort]
}

func newWorld(t *testing.T, server string, hosts ...string) *world {
	t.Helper()
	w := &world{socket: filepath.Join(t.TempDir(), "s")}
	l, err := net.Listen("unix", w.socket)
	if err != nil {
		t.Fatal(err)
	}
	c := Config{
		Resolve: func(_ context.Context, name string) ([]netip.Addr, error) {
			w.looked.Add(1)
			to, ok := map[string]string{
				"good.org": "93.184.216.34", "inner.org": "10.0.0.7", "here.org": "::1", "meta.org": "169.254.169.254",
				"both.org": "127.0.0.1 93.184.216.34", "nat.org": "64:ff9b::7f00:1",
			}[name]
			if !ok {
				return nil, errors.New("no such host")
			}
			var out []netip.Addr
			for _, s := range strings.Fields(to) {
				out = append(out, netip.MustParseAddr(s))
			}
			return out, nil
		},
		Dial: func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			w.dialed.Store(&to)
			return (&net.Dialer{}).DialContext(ctx, "tcp", server)
		},
	}
	for _, s := range hosts {
		h, err := policy.ParseHost(s)
		if err != nil {
			t.Fatal(err)
		}
		c.Allow.Only = append(c.Allow.Only, h)
	}
	w.Proxy = New(l, c)
	t.Cleanup(func() { w.Close() })
	return w
}

// client speaks to the proxy as a program would.
func (w *world) client(t *testing.T) *http.Client {
	tr := &http.Transport{
		Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: "proxy:1"}), DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", w.socket)
		},
	}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// connect asks for a tunnel and returns the status and the connection.
func (w *world) connect(t *testing.T, target string) (int, net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("unix", w.socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target)
	r := bufio.NewReader(c)
	res, err := http.ReadResponse(r, &http.Request{Method: "CONNECT"})
	if err != nil {
		return 0, c, r
	}
	return res.StatusCode, c, r
}

// T03, T60: a tunnel leads to what is listed, and to no address that a name of
// the internet must not have.
func TestTunnels(t *testing.T) {
	echo := echoServer(t)
	w := newWorld(t, echo, "good.org", "*.sub.org", "inner.org", "here.org", "meta.org", "both.org", "nat.org", "gone.org", "10.1.1.1:5432", "good.org:8080")
	for target, want := range map[string]int{
		"good.org:443": 200, "GOOD.org:443": 200, "good.org:8080": 200, "both.org:443": 200, "10.1.1.1:5432": 200,
		"good.org:22": 403, "good.org.:443": 403, "good.org\x00.evil.com:443": 0, "bad.org:443": 403, "good.org.evil.com:443": 403,
		"inner.org:443": 403, "here.org:443": 403, "meta.org:80": 403, "nat.org:443": 403,
		"10.1.1.1:443": 403, "10.1.1.2:5432": 403, "127.0.0.1:443": 403, "[::1]:443": 403, "169.254.169.254:80": 403,
		"2130706433:80": 403, "0x7f000001:80": 403, "0177.0.0.1:80": 403, "93.184.216.34:443": 403, "[::ffff:93.184.216.34]:443": 403,
		"gone.org:443": 502, "good.org": 403, "good.org:0": 403, "good.org:99999": 403, "xn--good-org:443": 403,
	} {
		w.dialed.Store(nil)
		got, c, r := w.connect(t, target)
		if got != want && (want != 0 || got < 400 && got != 0) {
			t.Errorf("%q: %d, want %d", target, got, want)
			continue
		}
		to := w.dialed.Load()
		if want != 200 {
			if to != nil {
				t.Errorf("%q was refused after %s was dialled", target, to)
			}
			continue
		}
		if to == nil || policy.Private(to.Addr()) && !strings.HasPrefix(target, "10.1.1.1") {
			t.Errorf("%q dialled %v", target, to)
		}
		fmt.Fprint(c, "ping\n")
		if line, err := r.ReadString('\n'); line != "ping\n" {
			t.Errorf("%q: %q, %v", target, line, err)
		}
	}
}

// echoServer sends back what it gets.
func echoServer(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); io.Copy(c, c) }()
		}
	}()
	return l.Addr().String()
}

// Requests without a tunnel take the same way, with the host that was checked;
// a redirect is the program's to follow.
func TestPlainRequests(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "http://inner.org/", http.StatusFound)
			return
		}
		fmt.Fprintf(w, "%s %s %q %q", r.Host, r.URL, r.Header.Get("X-Forwarded-For"), r.Header.Get("Proxy-Authorization"))
	}))
	defer s.Close()
	w := newWorld(t, s.Listener.Addr().String(), "good.org", "inner.org")
	for ask, want := range map[string]string{
		"http://good.org/a?b=c": `200 good.org /a?b=c "" ""`,
		"http://good.org/away":  "302 <a href=\"http://inner.org/\">Found</a>.\n\n",
		"http://inner.org/":     "403 sandbox: inner.org leads to no address of the internet\n",
		"http://bad.org/":       "403 sandbox: \"bad.org:80\" is not in the list of what may be reached\n",
		"http://10.0.0.1/":      "403 sandbox: 10.0.0.1:80 is not in the list of what may be reached\n",
	} {
		res, err := w.client(t).Get(ask)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(res.Body)
		res.Body.Close()
		if got := fmt.Sprint(res.StatusCode, " ", string(b)); err != nil || got != want {
			t.Errorf("%s: %q, %v", ask, got, err)
		}
	}
	if d := cmp.Diff(3, len(w.Close())); d != "" {
		t.Error(d)
	}
}

// A name that is not listed is not even looked up: a lookup tells others.
func TestNamesThatAreNotListedAreNotLookedUp(t *testing.T) {
	w := newWorld(t, "127.0.0.1:1", "good.org")
	for _, target := range []string{"secret-data.evil.com:443", "a.good.org:443", "good.org:25"} {
		if got, _, _ := w.connect(t, target); got != 403 {
			t.Errorf("%s: %d", target, got)
		}
	}
	if n := w.looked.Load(); n != 0 {
		t.Errorf("%d names were looked up", n)
	}
	if d := cmp.Diff([]string{"secret-data.evil.com:443", "a.good.org:443", "good.org:25"}, w.Close()); d != "" {
		t.Error(d)
	}
}

// Close ends tunnels that are open, and remembers a bounded list.
func TestCloseEndsEverything(t *testing.T) {
	w := newWorld(t, echoServer(t), "good.org")
	_, c, r := w.connect(t, "good.org:443")
	for i := range 100 {
		w.connect(t, fmt.Sprintf("h%d.evil.com:443", i))
	}
	if got := w.Close(); len(got) != maxRefused {
		t.Errorf("%d are remembered", len(got))
	}
	if _, err := r.ReadByte(); err == nil {
		t.Error("the tunnel is open")
	}
	if _, err := c.Write([]byte("x")); err == nil {
		_, err = c.Write([]byte("x"))
		if err == nil {
			t.Error("the tunnel takes bytes")
		}
	}
}
