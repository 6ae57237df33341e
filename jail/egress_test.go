package jail

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/policy"
)

// getWord makes the test program get addresses, as a program inside would.
const getWord = "__get"

func getAll(urls []string) {
	for _, u := range urls {
		res, err := http.Get(u)
		if err != nil {
			var op *net.OpError
			fmt.Println(u, "error", errors.As(err, &op))
			continue
		}
		b, err := io.ReadAll(res.Body)
		res.Body.Close()
		fmt.Println(u, res.StatusCode, strings.TrimSpace(string(b)), err)
	}
}

// T03 (some hosts): a program reaches what is listed through the way out, and
// nothing beside it.
func TestSomeHosts(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello ", r.Host) }))
	defer s.Close()
	w := newWorld(t, Bubblewrap, func(c *Config) {
		c.Resolve = func(_ context.Context, name string) ([]netip.Addr, error) {
			if name == "inner.org" {
				return []netip.Addr{netip.MustParseAddr("192.168.0.1")}, nil
			}
			return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
		}
		c.Dial = func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", s.Listener.Addr().String())
		}
	})
	run := func(n policy.Network, argv ...string) Result {
		t.Helper()
		o := w.order(argv...)
		o.Network = n
		res, err := w.Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	good, err := policy.ParseHost("good.org")
	inner, err2 := policy.ParseHost("inner.org")
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	listed := policy.Network{Only: []policy.Host{good, inner}}
	direct := "http://" + s.Listener.Addr().String() + "/"
	res := run(listed, w.self, getWord, "http://good.org/", "http://bad.org/", "http://inner.org/", direct)
	want := `http://good.org/ 200 hello good.org <nil>
http://bad.org/ 403 sandbox: "bad.org:80" is not in the list of what may be reached <nil>
http://inner.org/ 403 sandbox: inner.org leads to no address of the internet <nil>
` + direct + " error true\n" // loopback is not asked for through the proxy, and there is nothing on it
	if d := cmp.Diff(want, string(res.Output)); d != "" || res.Exit != 0 {
		t.Errorf("exit %d: %s", res.Exit, d)
	}
	if d := cmp.Diff([]string{"bad.org:80", "inner.org:80"}, res.Refused); d != "" {
		t.Error(d)
	}
	// Past the proxy there is no network at all.
	res = run(listed, "env", "-u", "http_proxy", "-u", "HTTP_PROXY", w.self, getWord, "http://good.org/", "http://93.184.216.34/")
	if got := string(res.Output); got != "http://good.org/ error true\nhttp://93.184.216.34/ error true\n" {
		t.Errorf("without the proxy: %s", got)
	}
	if res = run(policy.Network{}, w.self, getWord, "http://good.org/"); !strings.Contains(string(res.Output), "error") {
		t.Errorf("with nothing listed: %s", res.Output)
	}
	if res = run(policy.Network{Any: true}, w.self, getWord, direct); !strings.Contains(string(res.Output), "200 hello") {
		t.Errorf("with any: %s", res.Output)
	}
	if entries, err := os.ReadDir(w.scratch); err != nil || strings.Contains(fmt.Sprint(entries), "egress") {
		t.Errorf("left: %v, %v", entries, err)
	}
	if res = run(listed, "sh", "-c", "exit 7"); res.Exit != 7 {
		t.Errorf("exit %d: %s", res.Exit, res.Output)
	}
}

// T03, T05: Landlock cannot keep a program to some hosts, so it is not run.
func TestSomeHostsNeedBubblewrap(t *testing.T) {
	w := newWorld(t, Landlock, nil)
	o := w.order("touch", "ran")
	o.Network.Only = []policy.Host{{Name: "good.org"}}
	if _, err := w.Run(t.Context(), o); fault.CodeOf(err) != NoSandbox {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(w.tree + "/ran"); err == nil {
		t.Error("it ran")
	}
}
