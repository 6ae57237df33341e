package detect

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/go-json-experiment/json"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/provider"
)

// server is a program that serves models, at the port that it has by itself.
type server struct {
	name  string
	kind  provider.Kind
	port  uint16
	paths []string // where it lists its models, in the order of asking
	hint  string   // what to do when it lists none
}

// servers returns the programs that are looked for. OllamaHost is where the
// user's environment puts Ollama; only its port counts, and only on this machine.
func servers(ollamaHost string) []server {
	return []server{
		{"ollama", provider.Ollama, ollamaPort(ollamaHost), []string{"/api/tags", "/v1/models"}, "run: ollama pull MODEL"},
		{"lm-studio", provider.Compatible, 1234, []string{"/v1/models"}, "load one in LM Studio"},
		{"llama-cpp", provider.Compatible, 8080, []string{"/v1/models"}, "start it with a model"},
		{"vllm", provider.Compatible, 8000, []string{"/v1/models"}, "start it with a model"},
	}
}

const ollamaDefault = 11434

func ollamaPort(host string) uint16 {
	host = strings.TrimPrefix(host, "http://")
	h, p, err := net.SplitHostPort(strings.TrimSuffix(host, "/"))
	if err != nil {
		return ollamaDefault
	}
	a, err := netip.ParseAddr(h)
	here := h == "" || h == "localhost" || err == nil && (a.IsLoopback() || a.IsUnspecified())
	port, err := strconv.ParseUint(p, 10, 16)
	if !here || err != nil || port == 0 {
		return ollamaDefault
	}
	return uint16(port)
}

// askAll asks every server on both loopback addresses at once and returns those
// that answered, in the order of the list; IPv4 where both did.
func askAll(ctx context.Context, rt http.RoundTripper, list []server) []Found {
	hosts := []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}
	got := make([]*Found, len(list)*len(hosts))
	var wg sync.WaitGroup
	for i, s := range list {
		for j, h := range hosts {
			wg.Go(func() { got[i*len(hosts)+j] = ask(ctx, rt, s, "http://"+netip.AddrPortFrom(h, s.port).String()) })
		}
	}
	wg.Wait()
	var out []Found
	for i := range list {
		both := got[i*len(hosts) : (i+1)*len(hosts)]
		if k := slices.IndexFunc(both, func(f *Found) bool { return f != nil }); k >= 0 {
			out = append(out, *both[k])
		}
	}
	return out
}

// ask returns the server at the address, nil when none answers as one.
func ask(ctx context.Context, rt http.RoundTripper, s server, address string) *Found {
	for _, path := range s.paths {
		models, ok := list(ctx, rt, address+path)
		if !ok {
			continue
		}
		f := &Found{How: address, Local: true, Models: models, Config: provider.Config{Name: s.name, Kind: s.kind, BaseURL: address + "/v1"}}
		if len(models) == 0 {
			f.Problem = "it lists no model; " + s.hint
		}
		return f
	}
	return nil
}

// list asks for a list of models in Ollama's format or OpenAI's; false when
// the answer is not one.
func list(ctx context.Context, rt http.RoundTripper, url string) ([]string, bool) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, false
	}
	req.Header.Set("User-Agent", "cleveragents")
	req.Header.Set("Accept", "application/json")
	resp, err := rt.RoundTrip(req) // not a client: it would follow redirects
	if err != nil {
		return nil, false
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, false
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, MaxBody+1))
	if err != nil || len(body) > MaxBody {
		return nil, false
	}
	var a struct {
		Data *[]struct {
			ID string `json:"id"`
		} `json:"data"`
		Models *[]struct {
			Name string `json:"name"`
		} `json:"models"`
	}
	if json.Unmarshal(body, &a) != nil || a.Data == nil && a.Models == nil {
		return nil, false
	}
	var names []string
	if a.Data != nil {
		for _, m := range *a.Data {
			names = append(names, m.ID)
		}
	} else {
		for _, m := range *a.Models {
			names = append(names, m.Name)
		}
	}
	return usable(names), true
}

// usable returns the names that can stand in provider/model, sorted.
func usable(names []string) []string {
	names = slices.DeleteFunc(names, func(n string) bool {
		_, err := provider.ParseRef("p/" + n)
		return err != nil
	})
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), provider.MaxModels)]
}

// Transport returns a transport for Detect: it uses no proxy, keeps no
// connection and connects to this machine only.
func Transport() *http.Transport {
	d := &net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		a, err := netip.ParseAddrPort(address)
		if err != nil || !a.Addr().IsLoopback() {
			return fault.New(fault.Blocked, "%s is not on this machine", address)
		}
		return nil
	}}
	return &http.Transport{DialContext: d.DialContext, DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: 64 << 10}
}
