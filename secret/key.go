package secret

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/cleveragents/agents/fault"
)

// MaxKey is the longest key, in bytes.
const MaxKey = 8 << 10

// Key is the key of a provider. Every way to print, log or encode it shows its
// name alone. The zero Key is no key.
type Key struct {
	name string
	// reveal is a function and not a string, since printing a struct that holds
	// a Key in a private field goes around all methods and shows the fields.
	reveal func() string
}

// newKey checks that a text can be sent as a key. From is where it was, for the
// error, which does not repeat it.
func newKey(name, from, text string) (Key, error) {
	text = strings.TrimSpace(text)
	wrong := ""
	switch {
	case text == "":
		wrong = "is empty"
	case len(text) > MaxKey:
		wrong = fmt.Sprintf("is longer than %d bytes", MaxKey)
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		wrong = "holds a space, a line break or a character that no key has"
	}
	if wrong != "" {
		return Key{}, fault.New(fault.Denied, "%s is not a key: it %s", from, wrong).
			WithHint("put the key there alone, as the provider shows it")
	}
	return Key{name, func() string { return text }}, nil
}

// Reveal returns the key itself, for sending it; "" of no key.
func (k Key) Reveal() string {
	if k.reveal == nil {
		return ""
	}
	return k.reveal()
}

// Name returns what the key is called: its variable, or its provider.
func (k Key) Name() string { return k.name }

// Empty reports whether there is no key.
func (k Key) Empty() bool { return k.reveal == nil }

// String returns [redacted NAME], or [no key].
func (k Key) String() string {
	if k.Empty() {
		return "[no key]"
	}
	return mark(k.name)
}

func mark(name string) string { return "[redacted " + name + "]" }

// GoString is String, for %#v.
func (k Key) GoString() string { return k.String() }

// Format writes String, whatever the verb.
func (k Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, k.String()) }

// MarshalJSON encodes String.
func (k Key) MarshalJSON() ([]byte, error) { return json.Marshal(k.String()) }

// MarshalText encodes String, for YAML, XML and keys of maps.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// LogValue logs String.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }
