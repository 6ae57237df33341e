package actor

import (
	"strings"

	"github.com/cleveragents/agents/fault"
)

// Values says what a name between {{ and }} stands for, and whether there is
// such a name.
type Values func(name string) (string, bool)

// Named returns the values of a table.
func Named(values map[string]string) Values {
	return func(name string) (string, bool) { v, ok := values[name]; return v, ok }
}

// MaxExpanded is the largest text that Expand makes, in bytes.
const MaxExpanded = 16 << 20

// Expand replaces every {{name}} in s by its value. Values are inserted as they
// are and never expanded again, so an argument cannot smuggle in another name.
// A result of more than MaxExpanded bytes is an error.
func Expand(s string, values map[string]string) (string, error) { return Named(values).Expand(s) }

// Expand is the function of that name over these values.
func (values Values) Expand(s string) (string, error) {
	var b strings.Builder
	for {
		i := strings.Index(s, "{{")
		if i < 0 {
			if b.Len()+len(s) > MaxExpanded {
				return "", fault.New(fault.Invalid, "the text grows beyond %d bytes", MaxExpanded)
			}
			b.WriteString(s)
			return b.String(), nil
		}
		j := strings.Index(s[i:], "}}")
		if j < 0 {
			return "", fault.New(fault.Invalid, "%.40q: {{ without }}", s[i:])
		}
		name := strings.TrimSpace(s[i+2 : i+j])
		value, ok := values(name)
		if !ok {
			return "", fault.New(fault.Invalid, "{{%s}}: no such value", name)
		}
		if b.Len()+i+len(value) > MaxExpanded {
			return "", fault.New(fault.Invalid, "{{%s}}: the text grows beyond %d bytes", name, MaxExpanded)
		}
		b.WriteString(s[:i])
		b.WriteString(value)
		s = s[i+j+2:]
	}
}

// names are those between {{ and }} in every text of v. A text with a {{ that
// nothing closes is an error.
func names(v any, add func(string)) error {
	switch v := v.(type) {
	case string:
		_, err := Values(func(name string) (string, bool) { add(name); return "", true }).Expand(v)
		return err
	case []any:
		for _, e := range v {
			if err := names(e, add); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, e := range v {
			if err := names(e, add); err != nil {
				return err
			}
		}
	}
	return nil
}
