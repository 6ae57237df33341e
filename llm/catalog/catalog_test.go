package catalog_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"charm.land/catwalk/pkg/embedded"
	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/llm/catalog"
	"github.com/cleveragents/agents/provider"
)

// Everything that the module lists can be looked up, and nothing else is there.
func TestWhole(t *testing.T) {
	var ids []string
	models := 0
	for _, want := range embedded.GetAll() {
		id := string(want.ID)
		ids = append(ids, id)
		got, ok := catalog.ProviderOf(id)
		if !ok || got.Name != want.Name || got.Type != string(want.Type) || got.Large != want.DefaultLargeModelID || got.Small != want.DefaultSmallModelID {
			t.Errorf("%s: got %+v, %v", id, got, ok)
		}
		if len(catalog.Models(id)) != len(want.Models) {
			t.Errorf("%s: %d models, want %d", id, len(catalog.Models(id)), len(want.Models))
		}
		for _, m := range want.Models {
			models++
			got, ok := catalog.Lookup(id, m.ID)
			if !ok || got.ID != m.ID || got.Name != m.Name || got.Context != m.ContextWindow || got.MaxOutput != m.DefaultMaxTokens ||
				got.CanReason != m.CanReason || got.Attachments != m.SupportsImages || got.Context <= 0 || got.MaxOutput <= 0 {
				t.Errorf("%s/%s: got %+v, %v", id, m.ID, got, ok)
			}
			if in := got.Prices.Input; in.Known && in.USD != m.CostPer1MIn || !in.Known && m.CostPer1MIn > 0 {
				t.Errorf("%s/%s: input costs %+v, want %v", id, m.ID, in, m.CostPer1MIn)
			}
			if read := got.Prices.CacheRead; read.Known && read.USD > got.Prices.Input.USD {
				t.Errorf("%s/%s: reading the cache costs more than not having one", id, m.ID)
			}
			if strings.HasPrefix(m.ID, "@") || strings.HasPrefix(m.ID, "#") || strings.ContainsAny(m.ID+m.Name, "\t\n") {
				t.Errorf("%s/%q cannot stand in the table", id, m.ID)
			}
			if _, err := provider.ParseRef(id + "/" + m.ID); err != nil {
				t.Error(err)
			}
		}
	}
	var have []string
	for _, p := range catalog.Providers() {
		have = append(have, p.ID)
	}
	slices.Sort(ids)
	if d := cmp.Diff(ids, have); d != "" || models < 1000 {
		t.Errorf("%d models\n%s", models, d)
	}
	for _, in := range provider.Kinds() {
		if _, ok := catalog.ProviderOf(in.Catalogue); !ok && in.Catalogue != "" {
			t.Errorf("%s: no section %s", in.Kind, in.Catalogue)
		}
	}
}

// No name of a model is taken for a key.
func TestModelsAreNoKeys(t *testing.T) {
	for _, p := range catalog.Providers() {
		for _, m := range catalog.Models(p.ID) {
			if err := (provider.Config{Name: "p", Kind: provider.OpenAI, Models: []string{m.ID}}).Validate(); err != nil {
				t.Errorf("%s: %v", m.ID, err)
			}
		}
	}
}

func TestLookup(t *testing.T) {
	got, ok := catalog.Lookup("anthropic", "claude-opus-5")
	want := catalog.Model{
		ID: "claude-opus-5", Name: "Claude Opus 5",
		Prices: catalog.Prices{
			Input: catalog.Price{USD: 5, Known: true}, Output: catalog.Price{USD: 25, Known: true},
			CacheRead: catalog.Price{USD: 0.5, Known: true}, CacheWrite: catalog.Price{USD: 6.25, Known: true},
		},
		Context: 1000000, MaxOutput: 128000, CanReason: true, Attachments: true,
	}
	if d := cmp.Diff(want, got); !ok || d != "" {
		t.Error(d)
	}
	for _, c := range []struct{ provider, model, want string }{
		{"anthropic", "claude-haiku-4-5-20251001", "claude-haiku-4-5-20251001"},
		{"anthropic", "claude-haiku-4-5", "claude-haiku-4-5-20251001"},
		{"anthropic", "claude-opus-5-20260101", "claude-opus-5"},
		{"anthropic", "claude-haiku-4-5-20240101", ""}, // another date is another model
		{"openai", "gpt-5-2025-08-07", "gpt-5"},
		{"openai", "gpt-5-1234-08-07", ""},
		{"openai", "gpt-5-mini-max", ""},
		{"openrouter", "anthropic/claude-sonnet-4.6", "anthropic/claude-sonnet-4.6"},
		{"openai", "claude-opus-5", ""},
		{"anthropic", "", ""},
		{"anthropic", "@avian", ""},
		{"anthropic", "claude-opus-5\t5", ""},
		{"anthropic", "20251001", ""},
		{"", "claude-opus-5", ""},
		{"anthropic\tAnthropic", "claude-opus-5", ""},
		{"nobody", "claude-opus-5", ""},
	} {
		if got, ok := catalog.Lookup(c.provider, c.model); got.ID != c.want || ok != (c.want != "") {
			t.Errorf("%s/%s: got %q, want %q", c.provider, c.model, got.ID, c.want)
		}
	}
	if got := catalog.Models("nobody"); got != nil {
		t.Errorf("got %v", got)
	}
}

// Worked out by hand from the module's numbers. Claude Opus 5 costs 5, 25, 0.50
// and 6.25 dollars for a million tokens:
// 12,000 × 5 + 3,000 × 25 + 100,000 × 0.50 + 20,000 × 6.25 = 310,000 millionths.
func TestCost(t *testing.T) {
	for _, c := range []struct {
		provider, model string
		t               catalog.Tokens
		want            float64
		ok              bool
	}{
		{"anthropic", "claude-opus-5", catalog.Tokens{Input: 12_000, Output: 3_000, CacheRead: 100_000, CacheWrite: 20_000}, 0.31, true},
		{"anthropic", "claude-opus-5", catalog.Tokens{}, 0, true},
		{"deepseek", "deepseek-v4-flash", catalog.Tokens{Input: 1_000_000, Output: 1_000_000, CacheRead: 1_000_000}, 0.14 + 0.28 + 0.0028, true},
		{"deepseek", "deepseek-v4-flash", catalog.Tokens{CacheWrite: 1}, 0, false},          // nobody says what writing costs
		{"openrouter", "ai21/jamba-large-1.7", catalog.Tokens{CacheRead: 500_000}, 1, true}, // at most what other input costs
		{"copilot", "claude-fable-5", catalog.Tokens{Input: 1}, 0, false},                   // paid in another way
		{"anthropic", "claude-opus-5", catalog.Tokens{Input: -1}, 0, false},
		{"anthropic", "claude-opus-5", catalog.Tokens{Input: 1, CacheRead: -1}, 0, false},
		{"anthropic", "claude-opus-0", catalog.Tokens{}, 0, false},
	} {
		got, ok := catalog.Cost(c.provider, c.model, c.t)
		if ok != c.ok || ok && math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s/%s %+v: got %v %v, want %v %v", c.provider, c.model, c.t, got, ok, c.want, c.ok)
		}
	}
	free := 0
	for _, m := range catalog.Models("openrouter") {
		if strings.HasSuffix(m.ID, ":free") {
			free++
			if usd, ok := m.Prices.Cost(catalog.Tokens{Input: 5, Output: 5}); usd != 0 || !ok {
				t.Errorf("%s costs %v, %v", m.ID, usd, ok)
			}
		}
	}
	if free == 0 {
		t.Error("no free models to look at")
	}
}

func TestOf(t *testing.T) {
	for _, c := range []struct {
		c    provider.Config
		want string
	}{
		{provider.Config{Kind: provider.Anthropic}, "anthropic"},
		{provider.Config{Kind: provider.OpenAI, BaseURL: "https://api.openai.com/v1/"}, "openai"},
		{provider.Config{Kind: provider.OpenAI, BaseURL: "https://gateway.example.com/v1"}, ""},
		{provider.Config{Kind: provider.Compatible, BaseURL: "https://api.groq.com/openai/v1"}, "groq"},
		{provider.Config{Kind: provider.Compatible, BaseURL: "http://127.0.0.1:8000/v1"}, ""},
		{provider.Config{Kind: provider.Azure, BaseURL: "https://x.openai.azure.com"}, "azure"},
		{provider.Config{Kind: provider.Bedrock, Region: "us-east-1"}, "bedrock"},
		{provider.Config{Kind: provider.Bedrock, Region: "eu-central-1"}, "bedrock-europe"},
		{provider.Config{Kind: provider.Ollama}, ""},
		{provider.Config{Kind: provider.Scripted}, ""},
	} {
		if got := catalog.Of(c.c); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.c, got, c.want)
		}
	}
}

func TestNearest(t *testing.T) {
	for _, c := range []struct {
		ref  string
		want string // the first one
	}{
		{"anthropic/claude-opus-5.0", "anthropic/claude-opus-5"},
		{"anthropic/opus-4-8", "anthropic/claude-opus-4-8"},
		{"antropic/claude-opus-5", "anthropic/claude-opus-5"},
		{"openai/claude-sonnet-4-6", "anthropic/claude-sonnet-4-6"},
		{"mine/gpt-5", "openai/gpt-5"},
		{"mine/nothing-like-it", ""},
	} {
		r, err := provider.ParseRef(c.ref)
		if err != nil {
			t.Fatal(err)
		}
		got := catalog.Nearest(r)
		if len(got) > 3 || (len(got) > 0) != (c.want != "") || c.want != "" && got[0] != c.want {
			t.Errorf("%s: got %q, want %q", c.ref, got, c.want)
		}
		for _, g := range got {
			r, err := provider.ParseRef(g)
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := catalog.Lookup(r.Provider, r.Model); !ok {
				t.Errorf("%s: offers %s, which is not there", c.ref, g)
			}
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	for b.Loop() {
		if _, ok := catalog.Lookup("zai", "glm-5-turbo"); !ok {
			b.Fatal("gone")
		}
	}
}
