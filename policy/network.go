package policy

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/cleveragents/agents/fault"
)

// Network is what the programs of a plan may reach. The zero value is nothing;
// so is a list without hosts. It is written none, any, or as a list of hosts.
type Network struct {
	Any  bool
	Only []Host // where not Any
}

// Host is one entry of a list: a name, a name and everything below it, or an
// address, each with one port or the usual two of the web.
type Host struct {
	Name string     // lower-case; of *.name it is name
	Sub  bool       // everything below Name, not Name itself
	Addr netip.Addr // instead of a name
	Port uint16     // 0: 80 and 443
}

// Off reports whether nothing can be reached.
func (n Network) Off() bool { return !n.Any && len(n.Only) == 0 }

// Equal reports whether two say the same.
func (n Network) Equal(m Network) bool { return n.String() == m.String() }

// The limits of a name, RFC 1035.
const (
	maxHostName = 253
	maxLabel    = 63
)

// HostName returns a name as it is compared: letters, digits and hyphens in
// labels, lower-case. It is false for everything else: an address in any
// spelling, a dot at the end, a character that is not ASCII.
func HostName(s string) (string, bool) {
	if s == "" || len(s) > maxHostName {
		return "", false
	}
	labels := strings.Split(strings.ToLower(s), ".")
	for _, l := range labels {
		if l == "" || len(l) > maxLabel || l[0] == '-' || l[len(l)-1] == '-' {
			return "", false
		}
		for i := range len(l) {
			if c := l[i]; c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
				return "", false
			}
		}
	}
	// A last label of digits, or 0x and digits, is how resolvers know an address.
	last := labels[len(labels)-1]
	if _, err := strconv.ParseUint(last, 0, 64); err == nil || strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return "", false
	}
	return strings.Join(labels, "."), true
}

// ParseHost reads an entry: example.org, *.example.org, example.org:8080,
// 192.0.2.1:5432, [2001:db8::1]:443.
func ParseHost(s string) (Host, error) {
	bad := func(why string) (Host, error) {
		return Host{}, fault.New(fault.Invalid, "network: %q is not a host: %s", s, why).
			WithHint("such as example.org, *.example.org, example.org:8080 or 192.0.2.1:5432")
	}
	var h Host
	rest := s
	if at, err := netip.ParseAddrPort(s); err == nil && at.Addr().Zone() == "" {
		if at.Port() == 0 {
			return bad("there is no port 0")
		}
		return Host{Addr: at.Addr().Unmap(), Port: at.Port()}, nil
	}
	if addr, err := netip.ParseAddr(s); err == nil && addr.Zone() == "" {
		return Host{Addr: addr.Unmap()}, nil
	}
	if name, port, ok := strings.Cut(s, ":"); ok {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
			return bad("its port is not one")
		}
		rest, h.Port = name, uint16(n)
	}
	if below, ok := strings.CutPrefix(rest, "*."); ok {
		rest, h.Sub = below, true
		if !strings.Contains(below, ".") {
			return bad("everything below a single label would be half of the world")
		}
	}
	name, ok := HostName(rest)
	if !ok {
		return bad("a name has letters, digits, hyphens and dots; others are written in Punycode")
	}
	h.Name = name
	return h, nil
}

// String writes the entry as ParseHost reads it.
func (h Host) String() string {
	s := h.Name
	switch {
	case h.Addr.IsValid() && h.Port != 0:
		return netip.AddrPortFrom(h.Addr, h.Port).String()
	case h.Addr.IsValid():
		return h.Addr.String()
	case h.Sub:
		s = "*." + s
	}
	if h.Port != 0 {
		s += ":" + strconv.Itoa(int(h.Port))
	}
	return s
}

func (h Host) port(p uint16) bool { return p == h.Port || h.Port == 0 && (p == 80 || p == 443) }

// Names reports whether a name, as HostName returns it, may be looked up and
// reached at a port. Where it leads to is for the caller to check.
func (n Network) Names(name string, port uint16) bool {
	if n.Any {
		return true
	}
	return slices.ContainsFunc(n.Only, func(h Host) bool {
		if h.Addr.IsValid() || !h.port(port) {
			return false
		}
		return !h.Sub && name == h.Name || h.Sub && strings.HasSuffix(name, "."+h.Name)
	})
}

// Addresses reports whether an address that was asked for as such is an entry.
func (n Network) Addresses(a netip.Addr, port uint16) bool {
	if n.Any {
		return true
	}
	return slices.ContainsFunc(n.Only, func(h Host) bool { return h.Addr == a.Unmap() && h.port(port) })
}

// The words for the two ends.
const (
	networkNone = "none"
	networkAny  = "any"
)

// ParseNetwork reads none, any, or hosts with commas between them.
func ParseNetwork(s string) (n Network, err error) {
	switch s {
	case networkNone:
	case networkAny:
		n.Any = true
	default:
		for _, entry := range strings.Split(s, ",") {
			h, err := ParseHost(strings.TrimSpace(entry))
			if err != nil {
				return Network{}, err
			}
			n.Only = append(n.Only, h)
		}
	}
	return n, nil
}

// String writes what ParseNetwork reads.
func (n Network) String() string {
	switch {
	case n.Any:
		return networkAny
	case len(n.Only) == 0:
		return networkNone
	}
	return strings.Join(n.list(), ",")
}

func (n Network) list() []string {
	list := make([]string, len(n.Only))
	for i, h := range n.Only {
		list[i] = h.String()
	}
	return list
}

// MarshalJSON writes none, any or the list.
func (n Network) MarshalJSON() ([]byte, error) {
	switch {
	case n.Any:
		return json.Marshal(networkAny)
	case len(n.Only) == 0:
		return json.Marshal(networkNone)
	}
	return json.Marshal(n.list())
}

// UnmarshalJSON reads what MarshalJSON writes.
func (n *Network) UnmarshalJSON(b []byte) error {
	return n.read(func(v any) error { return json.Unmarshal(b, v) })
}

// UnmarshalYAML reads the same.
func (n *Network) UnmarshalYAML(decode func(any) error) error { return n.read(decode) }

func (n *Network) read(decode func(any) error) error {
	*n = Network{}
	var word string
	if decode(&word) == nil {
		switch word {
		case networkNone:
			return nil
		case networkAny:
			n.Any = true
			return nil
		}
		return fault.New(fault.Invalid, "network: %q is not none, any or a list of hosts", word)
	}
	var list []string
	if err := decode(&list); err != nil {
		return fault.New(fault.Invalid, "network: it is none, any or a list of hosts")
	}
	for _, s := range list {
		h, err := ParseHost(s)
		if err != nil {
			return err
		}
		n.Only = append(n.Only, h)
	}
	return nil
}

// Private reports whether an address is one that no name of the internet leads
// to: this machine, a local network, a cloud's metadata, what is reserved. An
// IPv6 address that carries an IPv4 address counts as that one, too.
func Private(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsValid() || a.Zone() != "" || !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() {
		return true
	}
	for _, p := range reserved() {
		if p.Contains(a) {
			return true
		}
	}
	if inner, ok := carried(a); ok {
		return Private(inner)
	}
	return false
}

// reserved are ranges of IANA's special-purpose registries that netip does not
// know.
func reserved() []netip.Prefix {
	var out []netip.Prefix
	for _, s := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
		"203.0.113.0/24", "240.0.0.0/4", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16", "fec0::/10",
	} {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

// carried is the IPv4 address inside of one of NAT64 (RFC 6052) or 6to4.
func carried(a netip.Addr) (netip.Addr, bool) {
	if !a.Is6() {
		return netip.Addr{}, false
	}
	b := a.As16()
	switch {
	case netip.MustParsePrefix("64:ff9b::/96").Contains(a):
		return netip.AddrFrom4([4]byte(b[12:16])), true
	case netip.MustParsePrefix("2002::/16").Contains(a):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	case [12]byte(b[:12]) == [12]byte{}: // ::a.b.c.d
		return netip.AddrFrom4([4]byte(b[12:16])), true
	}
	return netip.Addr{}, false
}
