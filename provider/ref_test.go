package provider_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/provider"
)

func TestParseRef(t *testing.T) {
	for _, c := range []struct{ text, provider, model, err string }{
		{"openai/gpt-5", "openai", "gpt-5", ""},
		{"openrouter/anthropic/claude-sonnet-4.6:free", "openrouter", "anthropic/claude-sonnet-4.6:free", ""},
		{"ollama/hf.co/x/y:Q4_K_M", "ollama", "hf.co/x/y:Q4_K_M", ""},
		{"fireworks/accounts//x", "fireworks", "accounts//x", ""},
		{"ollama/模型", "ollama", "模型", ""},
		{"gpt-5", "", "", `"gpt-5" is not provider/model`},
		{"", "", "", `"" is not provider/model`},
		{"/gpt-5", "", "", `"/gpt-5": give the provider a name`},
		{"openai/", "", "", `"openai/": the name of the model is empty`},
		{"Open AI/x", "", "", `"Open AI/x": "Open AI" is not a provider's name`},
		{"local/coder", "", "", `"local/coder": the name local is taken`},
		{"openai/a b", "", "", `"openai/a b": the model "a b" holds a space`},
		{"openai/a\x1b[31m", "", "", `"openai/a\x1b[31m": the model`},
		{"openai/a\u202eb", "", "", `"openai/a\u202eb": the model`},
		{"openai/\xff", "", "", `"openai/\xff": the model`},
		{"openai/" + strings.Repeat("a", 257), "", "", `"openai/aaa`},
		{"server:openai/x", "", "", `"server:openai/x": "server:openai" is not`},
	} {
		got, err := provider.ParseRef(c.text)
		if c.err != "" {
			if !fault.Is(err, fault.Invalid) || !strings.HasPrefix(err.Error(), c.err) || got != (provider.Ref{}) {
				t.Errorf("%q: got %v, %v, want %s", c.text, got, err, c.err)
			}
			continue
		}
		if err != nil || got != (provider.Ref{Provider: c.provider, Model: c.model}) || got.String() != c.text {
			t.Errorf("%q: got %v, %v", c.text, got, err)
		}
	}
}

func TestNearest(t *testing.T) {
	models := []string{"claude-sonnet-4-6", "claude-opus-5", "claude-haiku-4-5-20251001", "gpt-5", "gpt-5-mini", "gpt-5-nano", "gpt-5-pro", "o3", "o4", "GPT-5"}
	for _, c := range []struct {
		word string
		want []string
	}{
		{"gpt5", []string{"GPT-5", "gpt-5"}},
		{"claude-sonnet-4.6", []string{"claude-sonnet-4-6"}},
		{"cluade-opus-5", []string{"claude-opus-5"}},
		{"gpt-5-min", []string{"gpt-5-mini", "gpt-5-nano", "gpt-5-pro"}},
		{"sonnet", []string{"claude-sonnet-4-6"}},
		{"haiku-4-5", []string{"claude-haiku-4-5-20251001"}},
		{"opus/claude", []string{"claude-opus-5"}},
		{"o1", []string{"o3", "o4"}},
		{"3o", []string{"o3"}},
		{"mistral", nil},
		{"", nil},
		{strings.Repeat("gpt-5", 100), nil},
	} {
		if d := cmp.Diff(c.want, provider.Nearest(c.word, models)); d != "" {
			t.Errorf("%.20q\n%s", c.word, d)
		}
	}
	if got := provider.Nearest("antropic", []string{"openai", "anthropic", "anthropic"}); cmp.Diff([]string{"anthropic"}, got) != "" {
		t.Errorf("got %v", got)
	}
}

// One slip of the fingers in a name of some length always finds the name.
func TestNearestFindsOneSlip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-z0-9.-]{4,30}`).Draw(t, "name")
		at := rapid.IntRange(0, len(name)-2).Draw(t, "at")
		letter := rapid.StringMatching(`[a-z]`).Draw(t, "letter")
		word := rapid.SampledFrom([]string{
			name[:at] + name[at+1:], name[:at] + letter + name[at:], name[:at] + letter + name[at+1:],
			name[:at] + name[at+1:at+2] + name[at:at+1] + name[at+2:],
		}).Draw(t, "word")
		if got := provider.Nearest(word, []string{"zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz", name}); len(got) != 1 || got[0] != name {
			t.Fatalf("%q for %q: got %v", word, name, got)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("name: p\nkind: openai\nbase_url: https://x.org/v1\nkey_env: X\nmodels: [a, b/c]\n"))
	f.Add([]byte("{name: p, kind: bedrock, region: eu-central-1, limits: {requests_per_minute: 1}}"))
	f.Add([]byte("name: p\nkind: ollama\nbase_url: http://[::1]:1/\nkeyring: true\ninsecure: true\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := provider.Parse("p.yaml", data)
		if err != nil {
			if !fault.Is(err, fault.Invalid) || !strings.HasPrefix(err.Error(), "p.yaml:") {
				t.Errorf("%v (%v)", err, fault.KindOf(err))
			}
			return
		}
		if err := c.Validate(); err != nil {
			t.Errorf("parsed and not valid: %v", err)
		}
		if err := c.Filled().Validate(); err != nil {
			t.Errorf("valid and not valid with its defaults: %v", err)
		}
		if u := c.Filled().BaseURL; strings.HasPrefix(u, "http:") && !c.Insecure && !c.Loopback() {
			t.Errorf("plain http to %s", u)
		}
	})
}

func FuzzParseRef(f *testing.F) {
	for _, s := range []string{"openai/gpt-5", "openrouter/a/b:free", "x", "/", "a//", "local/x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := provider.ParseRef(s)
		if err == nil && (r.String() != s || r.Provider == "" || r.Model == "") {
			t.Errorf("%q: got %+v", s, r)
		}
		if err != nil && !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", s, err)
		}
	})
}
