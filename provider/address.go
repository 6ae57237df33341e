package provider

import (
	"net/netip"
	"net/url"
	"strings"

	"github.com/cleveragents/agents/fault"
)

// checkAddress refuses addresses that cannot be called, that would send the
// key in the clear, or that hold one themselves.
func (c Config) checkAddress(info Info) ([]string, error) {
	at := []string{"base_url"}
	switch {
	case !info.Network && c.BaseURL != "":
		return at, fault.New(fault.Invalid, "a provider of kind %s has no address", c.Kind)
	case !info.Network && c.Insecure:
		return []string{"insecure"}, fault.New(fault.Invalid, "a provider of kind %s has no address", c.Kind)
	case !info.Network:
		return nil, nil
	case c.Kind == Bedrock && c.BaseURL == "" && c.Region == "":
		return []string{"kind"}, fault.New(fault.Invalid, "give a region, such as us-east-1, or a base_url")
	case c.Kind == Bedrock && c.BaseURL == "":
		return nil, nil
	case c.BaseURL == "" && info.BaseURL == "":
		return []string{"kind"}, fault.New(fault.Invalid, "a provider of kind %s needs a base_url", c.Kind).
			WithHint("such as base_url: %s", exampleURL(c.Kind))
	case c.BaseURL == "":
		return nil, nil
	}
	u, err := parseURL(c.BaseURL)
	if err != nil {
		return at, err
	}
	if u.Scheme == "http" && !isLoopback(u.Hostname()) && !c.Insecure {
		return at, fault.New(fault.Invalid, "http to %s would send prompts and key unencrypted", quote(u.Hostname())).
			WithHint("write https, or insecure: true where the network is yours")
	}
	return nil, nil
}

func exampleURL(k Kind) string {
	if k == Azure {
		return "https://NAME.openai.azure.com"
	}
	return "http://127.0.0.1:8000/v1"
}

// parseURL reads the address of a server. A URL that is refused is not repeated
// where it may hold a password.
func parseURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil || len(s) > 2048 || strings.ContainsFunc(s, isControl):
		return nil, fault.New(fault.Invalid, "base_url is not a URL").WithHint("such as https://api.openai.com/v1")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fault.New(fault.Invalid, "base_url does not start with https:// or http://")
	case u.User != nil:
		return nil, fault.New(fault.Invalid, "base_url holds a user or a password").WithHint("%s", literalKey().Hint)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(s, "#"):
		return nil, fault.New(fault.Invalid, "base_url holds a query or a fragment: only the path is kept")
	case !goodHost(u.Hostname()):
		return nil, fault.New(fault.Invalid, "base_url names no host")
	case !goodPort(u.Host):
		return nil, fault.New(fault.Invalid, "base_url has a port that is not from 1 to 65535")
	}
	return u, nil
}

func goodHost(h string) bool {
	if _, err := netip.ParseAddr(h); err == nil {
		return true
	}
	return len(h) <= 253 && made(h, lower+upper+digit+"._-") && !strings.Contains(h, "..") &&
		strings.Contains(lower+upper+digit, h[:1]) && strings.Contains(lower+upper+digit, h[len(h)-1:])
}

// goodPort looks at what follows the host; url.Parse has seen to its digits.
func goodPort(host string) bool {
	i := strings.LastIndexByte(host, ':')
	if i < 0 || strings.HasSuffix(host, "]") {
		return true
	}
	_, err := netip.ParseAddrPort("127.0.0.1" + host[i:])
	return err == nil && strings.Trim(host[i+1:], "0") != ""
}

// isLoopback reports whether a host can only be this machine. A name other than
// localhost is never taken for it, whatever it resolves to.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}

// Loopback reports whether the provider is on this machine.
func (c Config) Loopback() bool {
	u, err := url.Parse(c.Filled().BaseURL)
	return err == nil && isLoopback(u.Hostname())
}

// atHome reports whether the address is one of the kind's own hosts, which the
// usual key may be sent to.
func (c Config) atHome(info Info) bool {
	u, err := url.Parse(c.Filled().BaseURL)
	if err != nil || u.Scheme != "https" {
		return false
	}
	host := strings.ToLower(u.Hostname())
	for _, h := range info.Hosts {
		if host == h || strings.HasPrefix(h, ".") && strings.HasSuffix(host, h) {
			return true
		}
	}
	return false
}
