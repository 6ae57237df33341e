package policy_test

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/cleveragents/agents/decode"
	"github.com/cleveragents/agents/policy"
)

// T04 (the network's part): absent and an empty list are nothing, any is said.
func TestNetworkIsWritten(t *testing.T) {
	type form struct {
		Network policy.Network `json:"network" yaml:"network"`
	}
	for text, want := range map[string]string{
		`{}`:                                  `"none"`,
		`network: none`:                       `"none"`,
		`network: []`:                         `"none"`,
		`network: any`:                        `"any"`,
		`network: [Example.ORG, "*.b.org:8"]`: `["example.org","*.b.org:8"]`,
		`network: ["192.0.2.1:5432", "[2001:db8::1]:9", "::ffff:10.0.0.1", "2001:DB8::2"]`: `["192.0.2.1:5432","[2001:db8::1]:9","10.0.0.1","2001:db8::2"]`,
		`network: all`:         "not none, any or a list",
		`network: ""`:          "not none, any or a list",
		`network: {any: true}`: "none, any or a list",
		`network: [any]`:       `["any"]`, // a host of that name
		`

network: ["*.org"]`: "f.yaml:3: network: \"*.org\" is not a host: everything below a single label would be half of the world",
		`network: ["*"]`:                 "not a host",
		`network: ["a..b"]`:              "not a host",
		`network: ["b.org."]`:            "not a host",
		`network: ["bücher.org"]`:        "Punycode",
		`network: ["b.org:0"]`:           "its port",
		`network: ["b.org:080"]`:         "its port",
		`network: ["b.org:70000"]`:       "its port",
		`network: ["https://b.org"]`:     "not a host",
		`network: ["10.0.0.1/8"]`:        "not a host",
		`network: ["127.1"]`:             "not a host",
		`network: ["0x7f.0.0.0x1"]`:      "not a host",
		`network: ["fe80::1%eth0"]`:      "not a host",
		`network: ["a.b.org", {"x": 1}]`: "none, any or a list",
	} {
		var f form
		err := decode.YAML("f.yaml", []byte(text), &f)
		if err != nil {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", text, err, want)
			}
			continue
		}
		got, err := json.Marshal(f.Network)
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want)
		}
		var back policy.Network
		if err := json.Unmarshal(got, &back); err != nil || cmp.Diff(f.Network, back, cmp.Comparer(func(a, b netip.Addr) bool { return a == b }), cmpopts.EquateEmpty()) != "" {
			t.Errorf("%s: read back %+v, %v", got, back, err)
		}
		if f.Network.Off() != (want == `"none"`) {
			t.Errorf("%s: off is %v", text, f.Network.Off())
		}
	}
}

// T03 (the names' part): only what is listed, however it is spelled.
func TestNamesThatAreListed(t *testing.T) {
	n := network(t, "example.org", "*.deep.org", "one.org:8080", "192.0.2.1", "10.1.1.1:5432")
	for ask, want := range map[string]bool{
		"example.org:443": true, "EXAMPLE.org:80": true, "example.org:8080": false, "a.example.org:443": false,
		"example.org.evil.com:443": false, "evilexample.org:443": false, "example.org\x00.evil.com:443": false, "example.org.:443": false,
		"a.deep.org:443": true, "b.a.deep.org:443": true, "deep.org:443": false, "xdeep.org:443": false,
		"one.org:8080": true, "one.org:443": false, "exаmple.org:443": false, "": false,
		"192.0.2.1:443": false, // an address is no name
	} {
		host, port, _ := strings.Cut(ask, ":")
		name, ok := policy.HostName(host)
		var p uint16
		for _, c := range port {
			p = p*10 + uint16(c-'0')
		}
		if got := ok && n.Names(name, p); got != want {
			t.Errorf("%q: %v", ask, got)
		}
	}
	for ask, want := range map[string]bool{
		"192.0.2.1:443": true, "192.0.2.1:80": true, "192.0.2.1:22": false, "192.0.2.2:443": false,
		"10.1.1.1:5432": true, "10.1.1.1:443": false, "[::ffff:10.1.1.1]:5432": true, "127.0.0.1:80": false,
	} {
		a := netip.MustParseAddrPort(ask)
		if got := n.Addresses(a.Addr(), a.Port()); got != want {
			t.Errorf("%s: %v", ask, got)
		}
	}
	if !(policy.Network{Any: true}).Names("x.org", 1) || (policy.Network{}).Names("example.org", 443) {
		t.Error("any is not any, or nothing is something")
	}
}

func network(t testing.TB, hosts ...string) (n policy.Network) {
	for _, s := range hosts {
		h, err := policy.ParseHost(s)
		if err != nil {
			t.Fatal(err)
		}
		n.Only = append(n.Only, h)
	}
	return n
}

// T03, T60 (the addresses' part): where a name must not lead.
func TestPrivateAddresses(t *testing.T) {
	for _, s := range strings.Fields(`127.0.0.1 127.9.9.9 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 0.0.0.0 0.1.2.3
		100.64.0.1 100.127.255.255 192.0.0.1 192.0.2.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255 ::1 :: fe80::1 fc00::1 fd00:ec2::254
		ff02::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 64:ff9b::7f00:1 64:ff9b::a00:1 64:ff9b:1::1 2002:7f00:1:: 2002:a00:1:: ::7f00:1 ::a00:1 2001:db8::1 2001::1 100::1 fec0::1`) {
		if !policy.Private(netip.MustParseAddr(s)) {
			t.Errorf("%s is not private", s)
		}
	}
	for _, s := range strings.Fields(`1.1.1.1 8.8.8.8 93.184.216.34 172.15.0.1 172.32.0.1 100.63.0.1 100.128.0.1 2606:4700::1111 2a00:1450::1 64:ff9b::808:808 2002:808:808::1`) {
		if policy.Private(netip.MustParseAddr(s)) {
			t.Errorf("%s is private", s)
		}
	}
	if !policy.Private(netip.Addr{}) {
		t.Error("no address is public")
	}
}

// What is taken as a name is one, and its spelling is final.
func FuzzHostName(f *testing.F) {
	for _, s := range []string{"a", "A.b-c.D", "a.", ".a", "-a", "1.2.3.4", "0x1", "a\x00b", "ü", "xn--bcher-kva.example", "[::1]", "a:1", "a.1e5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name, ok := policy.HostName(s)
		if !ok {
			return
		}
		if again, ok := policy.HostName(name); !ok || again != name {
			t.Errorf("%q became %q, then %q", s, name, again)
		}
		if _, err := netip.ParseAddr(name); err == nil || !strings.EqualFold(s, name) || strings.ContainsAny(name, "\x00/:@[]% ") {
			t.Errorf("%q became %q", s, name)
		}
		if h, err := policy.ParseHost(s); err != nil || h.Name != name || h.String() != name {
			t.Errorf("%q as an entry: %v, %v", s, h, err)
		}
	})
}

// A longer list never allows less.
func TestMoreHostsNeverAllowLess(t *testing.T) {
	word := rapid.StringMatching(`[ab]{1,2}\.[ab]{1,2}(\.[ab])?`)
	rapid.Check(t, func(t *rapid.T) {
		var n policy.Network
		for _, s := range rapid.SliceOfN(word, 0, 5).Draw(t, "hosts") {
			h, err := policy.ParseHost(rapid.SampledFrom([]string{"", "*."}).Draw(t, "star") + s)
			if err != nil {
				t.Fatal(err)
			}
			n.Only = append(n.Only, h)
		}
		ask := word.Draw(t, "ask")
		before := n.Names(ask, 443)
		h, err := policy.ParseHost(word.Draw(t, "more"))
		if err != nil {
			t.Fatal(err)
		}
		n.Only = append(n.Only, h)
		if before && !n.Names(ask, 443) || !before && n.Names(ask, 443) != (h.Name == ask) {
			t.Errorf("%s, %v", ask, n.Only)
		}
	})
}
