// Package ident holds the two ways a thing is named: a namespaced name,
// [[server:]namespace/]name, and a ULID. It has no clock and no randomness of
// its own; both come in as values, so that a run can be replayed.
package ident

import (
	"regexp"
	"strings"
	"sync"

	"github.com/cleveragents/agents/fault"
)

// LocalNamespace is the namespace of a name that gives none.
const LocalNamespace = "local"

// Name is a parsed [[server:]namespace/]name. Namespace is never empty in a
// parsed name; Server is empty for the default server.
type Name struct {
	Server    string
	Namespace string
	Base      string
}

var part = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$`) })

// ParseName parses a name and fills in the namespace "local". It refuses
// capitals, spaces and empty parts, so that two names are equal exactly when
// their strings are.
func ParseName(s string) (Name, error) {
	n := Name{Namespace: LocalNamespace, Base: s}
	rest := s
	if server, after, ok := strings.Cut(rest, ":"); ok {
		if !part().MatchString(server) {
			return Name{}, badName(s, "server", server)
		}
		n.Server, rest = server, after
		if !strings.Contains(rest, "/") {
			return Name{}, fault.New(fault.Invalid, "name %q: a server needs a namespace, as in server:namespace/name", s)
		}
	}
	n.Base = rest
	if ns, base, ok := strings.Cut(rest, "/"); ok {
		if !part().MatchString(ns) {
			return Name{}, badName(s, "namespace", ns)
		}
		n.Namespace, n.Base = ns, base
	}
	if !part().MatchString(n.Base) {
		return Name{}, badName(s, "name", n.Base)
	}
	return n, nil
}

func badName(whole, what, got string) error {
	return fault.New(fault.Invalid,
		"name %q: the %s %q must be 1 to 64 of a-z, 0-9, '.', '_' and '-', starting and ending with a letter or digit",
		whole, what, got)
}

// String returns the full form, with the namespace.
func (n Name) String() string {
	s := n.Namespace + "/" + n.Base
	if n.Server != "" {
		return n.Server + ":" + s
	}
	return s
}

// Canonical parses s and returns its full form.
func Canonical(s string) (string, error) {
	n, err := ParseName(s)
	if err != nil {
		return "", err
	}
	return n.String(), nil
}
