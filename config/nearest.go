package config

import (
	"slices"
	"strings"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/provider"
)

// Unknown is the error for a name that is no key. It names the nearest one.
func Unknown(name string) error {
	if soundsSecret(name) || looksSecret(name) {
		return secretFault(clip(name))
	}
	var names []string
	for _, k := range Keys() {
		names = append(names, k.Name)
	}
	err := fault.New(fault.Invalid, "unknown key %s", clip(name)).WithCode("UnknownKey")
	if near := provider.Nearest(strings.ReplaceAll(name, "_", "-"), names); len(near) > 0 {
		return err.WithHint("did you mean %s?", near[0])
	}
	return err.WithHint("agents config list --defaults shows every key")
}

func unknownSection(name string) error {
	var all []string
	for _, k := range Keys() {
		if s, _, _ := strings.Cut(k.Name, "."); !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	err := fault.New(fault.Invalid, "unknown section [%s]", clip(name)).WithCode("UnknownKey")
	if near := provider.Nearest(name, all); len(near) > 0 {
		return err.WithHint("did you mean [%s]?", near[0])
	}
	return err.WithHint("the sections: %s", strings.Join(all, ", "))
}

// clip keeps a name short enough for a message.
func clip(s string) string {
	if len(s) > 80 {
		return strings.ToValidUTF8(s[:80], "") + "…"
	}
	return s
}
