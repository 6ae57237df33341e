// Package secret gets the keys of providers, and keeps them out of everything
// else.
//
// A key comes from one of three places, each named on purpose: an environment
// variable, the system's keyring, or a file that only its owner can read. It is
// carried in a Key, which prints as [redacted NAME] however it is printed, and
// is taken out by Reveal at the one place that sends it. A Redactor takes keys
// out of text that came from elsewhere: the output of a tool, the words of a
// model, a trace.
//
// It does not promise to hide a key from who can read this process's memory,
// nor to find one in text that was encoded in another way than URL, JSON or
// base64 without line breaks. Access lists beyond the mode of a key file are
// not looked at.
package secret

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/provider"
)

// Options is what New needs.
type Options struct {
	Env  func(name string) (value string, ok bool) // nil: no variables
	Ring Ring                                      // nil: no keyring
	Home string                                    // what ~ in a key file's path means
	Wait time.Duration                             // the longest wait for the keyring; 0 is DefaultWait
}

// DefaultWait is the longest wait for the keyring when Options do not say.
const DefaultWait = 2 * time.Second

// Store gets keys and puts them into the keyring. It keeps none. It is safe for
// use by several goroutines.
type Store struct {
	env  func(string) (string, bool)
	ring *ringCalls
	home string
}

// New returns a store over the places that the options give.
func New(o Options) *Store {
	if o.Env == nil {
		o.Env = func(string) (string, bool) { return "", false }
	}
	if o.Wait <= 0 {
		o.Wait = DefaultWait
	}
	return &Store{env: o.Env, ring: newRingCalls(o.Ring, o.Wait), home: o.Home}
}

// Get returns the key of a provider, or an empty one when the provider needs
// none. The error is of kind Unavailable when there is no key or its place
// cannot be reached, Blocked when a key file is not private, and Denied when
// what is there cannot be a key. It never holds the key.
func (s *Store) Get(ctx context.Context, c provider.Config) (Key, error) {
	switch {
	case c.KeyRing:
		return s.fromRing(ctx, c)
	case c.KeyFile != "":
		text, err := s.readFile(c.KeyFile)
		if err != nil {
			return Key{}, fmt.Errorf("provider %s: %w", c.Name, err)
		}
		return newKey(c.Name, "the file "+c.KeyFile, text)
	}
	for _, name := range c.KeyEnvs() {
		if v, ok := s.env(name); ok && strings.TrimSpace(v) != "" {
			return newKey(name, "the variable "+name, v)
		}
	}
	if !c.NeedsKey() {
		return Key{}, nil
	}
	return Key{}, noKey(c)
}

func (s *Store) fromRing(ctx context.Context, c provider.Config) (Key, error) {
	text, err := s.ring.get(ctx, c.Name)
	if err != nil {
		return Key{}, fmt.Errorf("provider %s: %w", c.Name, err)
	}
	return newKey(c.Name, "the keyring's entry for "+c.Name, text)
}

// Set puts a key into the keyring, under the provider's name, in place of the
// one that is there.
func (s *Store) Set(ctx context.Context, providerName, value string) error {
	k, err := newKey(providerName, "what was given", value)
	if err != nil {
		return err
	}
	return s.ring.set(ctx, providerName, k.Reveal())
}

// Delete takes a provider's key out of the keyring. It is of kind NotFound when
// there is none.
func (s *Store) Delete(ctx context.Context, providerName string) error {
	return s.ring.delete(ctx, providerName)
}

// noKey tells that a provider has no key, and every way to give it one.
func noKey(c provider.Config) error {
	names := c.KeyEnvs()
	if len(names) > 0 {
		return fault.New(fault.Unavailable, "provider %s has no key: %s is not set", c.Name, strings.Join(names, " or ")).
			WithCode("NoKey").WithHint("run: export %s=…; or set keyring: true or key_file: PATH (a file with mode 0600) in the provider", names[0])
	}
	usual := ""
	if info, _ := c.Kind.Info(); len(info.KeyEnv) > 0 {
		usual = ", and " + info.KeyEnv[0] + " is only for " + string(c.Kind) + "'s own"
	}
	return fault.New(fault.Unavailable, "provider %s has no key: its address is %s%s", c.Name, c.Filled().BaseURL, usual).
		WithCode("NoKey").WithHint("name the key in the provider: key_env: NAME, keyring: true, or key_file: PATH (a file with mode 0600)")
}
