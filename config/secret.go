package config

import (
	"regexp"
	"strings"
	"sync"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/provider"
)

// secretName is what the name of a key that holds a secret says, compiled when
// an unknown name is first seen.
var secretName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(api[-_.]?key|secret|token|password|passwd|passphrase|credential|private[-_.]?key|access[-_.]?key|(^|[-_.])key$)`)
})

func looksSecret(text string) bool {
	return provider.LooksLikeKey(text) || strings.Contains(text, "-----BEGIN ") || strings.Contains(text, "github_pat_")
}

func soundsSecret(name string) bool { return secretName().MatchString(name) }

// secretFault refuses a secret without repeating it.
func secretFault(name string) *fault.Error {
	if looksSecret(name) {
		name = "a key"
	}
	return fault.New(fault.Invalid, "%s: this looks like a secret, and a configuration is no place for one: it is copied and shown", name).
		WithCode("SecretInConfig").
		WithHint("take it out and put it into a variable of the environment, such as ANTHROPIC_API_KEY: it is never stored then. If others could see it, make a new one")
}
