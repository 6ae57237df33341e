package provider

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cleveragents/agents/fault"
)

// Ref is the full name of a model: openrouter/anthropic/claude-sonnet-4.6 is
// the model anthropic/claude-sonnet-4.6 of the provider openrouter.
type Ref struct {
	Provider string
	Model    string
}

// String returns provider/model; ParseRef reads it back.
func (r Ref) String() string { return r.Provider + "/" + r.Model }

// maxModel is the longest name of a model, in bytes.
const maxModel = 256

// ParseRef reads provider/model. The provider ends at the first slash; a model
// may hold more of them. Whether the two exist is not looked at.
func ParseRef(s string) (Ref, error) {
	name, model, ok := strings.Cut(s, "/")
	if !ok {
		return Ref{}, fault.New(fault.Invalid, "%s is not provider/model", quote(s)).
			WithHint("write the provider first, such as anthropic/%s; see: agents provider list", cut(s))
	}
	if err := checkName(name); err != nil {
		return Ref{}, fault.New(fault.Invalid, "%s: %w", quote(s), err)
	}
	if err := checkModel(model); err != nil {
		return Ref{}, fault.New(fault.Invalid, "%s: %w", quote(s), err)
	}
	return Ref{name, model}, nil
}

// checkName refuses what cannot name a provider. The namespaces local and
// builtin are taken by entities: an actor provider/model has a name like
// theirs.
func checkName(s string) error {
	switch {
	case s == "":
		return fault.New(fault.Invalid, "give the provider a name")
	case !isProvider(s):
		return fault.New(fault.Invalid, "%s is not a provider's name: a small letter, then small letters, digits and -, at most 40", quote(s))
	case s == "local" || s == "builtin":
		return fault.New(fault.Invalid, "the name %s is taken: it is the namespace of other things", s)
	}
	return nil
}

func checkModel(s string) error {
	switch {
	case s == "":
		return fault.New(fault.Invalid, "the name of the model is empty")
	case len(s) > maxModel:
		return fault.New(fault.Invalid, "the name of the model is longer than %d bytes", maxModel)
	case !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }):
		return fault.New(fault.Invalid, "the model %s holds a space or a character that cannot be seen", quote(s))
	}
	return nil
}
