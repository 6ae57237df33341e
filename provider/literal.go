package provider

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/cleveragents/agents/fault"
)

// literalKey is the one error for a key in a configuration.
func literalKey() *fault.Error {
	return fault.New(fault.Invalid, "this looks like a key, and keys are never stored in a configuration").
		WithCode("LiteralKey").
		WithHint("put the key into the environment and write key_env: NAME, or keyring: true, or key_file: PATH of a file with mode 0600")
}

// keyPatterns are compiled when a configuration is first read.
type keyPatterns struct {
	entry *regexp.Regexp // an entry of a mapping that can only be meant for a key itself
	shape *regexp.Regexp // how the keys of known providers begin
	blob  *regexp.Regexp // a long run of letters and digits that is a value of its own
}

var patterns = sync.OnceValue(func() keyPatterns {
	return keyPatterns{
		entry: regexp.MustCompile(`(?i)(?:^|[\s{,])["']?(?:[a-z]+[_-])?(?:api[_-]?key|key|token|secret|password|passwd|authorization|bearer|credentials?)["']?\s*:`),
		shape: regexp.MustCompile(`\b(?:sk-[A-Za-z0-9_-]{16}|sk_(?:live|test)_|AIza[A-Za-z0-9_-]{20}|gsk_[A-Za-z0-9]{16}|xai-[A-Za-z0-9]{20}|hf_[A-Za-z0-9]{16}|` +
			`gh[pousr]_[A-Za-z0-9]{16}|(?:AKIA|ASIA)[A-Z0-9]{12}|ABSK[A-Za-z0-9+/]{16}|eyJ[A-Za-z0-9_-]{16}|pplx-[A-Za-z0-9]{16}|nvapi-[A-Za-z0-9]{16}|r8_[A-Za-z0-9]{16})|(?i:\bbearer\s+[a-z0-9._~+/-]{8})`),
		blob: regexp.MustCompile(`(?:^|[\s"'\[,{=])[A-Za-z0-9]{32,}`),
	}
})

// literalLine returns the number of the first line of a YAML text that holds a
// key, comments included, or 0.
func literalLine(text string) int {
	for i, l := range strings.Split(text, "\n") {
		entry := l
		if at := strings.Index(" "+l, " #"); at >= 0 { // a comment may speak of keys
			entry = l[:at]
		}
		if patterns().entry.MatchString(entry) || looksLikeKey(l) {
			return i + 1
		}
	}
	return 0
}

func looksLikeKey(s string) bool {
	return patterns().shape.MatchString(s) || strings.ContainsAny(patterns().blob.FindString(s), digit)
}

// literal returns the path of the first value that looks like a key. It sees
// what an escape or an anchor hides from a look at the text.
func (c Config) literal() []string {
	for _, f := range []struct{ key, value string }{
		{"name", c.Name}, {"kind", string(c.Kind)}, {"base_url", c.BaseURL}, {"api", c.API},
		{"region", c.Region}, {"key_env", c.KeyEnv}, {"key_file", c.KeyFile},
	} {
		if looksLikeKey(f.value) {
			return []string{f.key}
		}
	}
	for i, m := range c.Models {
		if looksLikeKey(m) {
			return []string{"models", strconv.Itoa(i)}
		}
	}
	return nil
}
