package catalog_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"charm.land/catwalk/pkg/catwalk"
	"charm.land/catwalk/pkg/embedded"
	gocmp "github.com/google/go-cmp/cmp"
)

const modelsFile = "models.tsv"

// TestModelsFile makes the table from the module and compares it with the file;
// AGENTS_UPDATE=1 writes the file instead.
func TestModelsFile(t *testing.T) {
	want := modelsText(embedded.GetAll())
	if os.Getenv("AGENTS_UPDATE") != "" {
		if err := os.WriteFile(modelsFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(modelsFile)
	if err != nil {
		t.Fatal(err)
	}
	if d := gocmp.Diff(want, string(got)); d != "" {
		t.Errorf("%s is not what the module gives; run: go generate ./llm/catalog\n%s", modelsFile, d)
	}
	if again := modelsText(embedded.GetAll()); again != want {
		t.Error("the same module gave two tables")
	}
}

func modelsText(all []catwalk.Provider) string {
	var b strings.Builder
	b.WriteString("# Made by \"go generate\" from charm.land/catwalk (MIT): do not edit. A provider: @id, name, type, address, key, large and small model.\n")
	b.WriteString("# A model: id, US dollars per million tokens of input, output, cache read, cache write (- is unknown), context, output, r(easons) a(ttachments), name.\n")
	slices.SortFunc(all, func(a, b catwalk.Provider) int { return cmp.Compare(a.ID, b.ID) })
	for _, p := range all {
		line(&b, "@"+string(p.ID), p.Name, string(p.Type), literal(p.APIEndpoint), strings.TrimPrefix(p.APIKey, "$"), p.DefaultLargeModelID, p.DefaultSmallModelID)
		slices.SortFunc(p.Models, func(a, b catwalk.Model) int { return cmp.Compare(a.ID, b.ID) })
		for _, m := range p.Models {
			flags := ""
			if m.CanReason {
				flags += "r"
			}
			if m.SupportsImages {
				flags += "a"
			}
			line(&b, m.ID, prices(p.ID, m), strconv.FormatInt(m.ContextWindow, 10), strconv.FormatInt(m.DefaultMaxTokens, 10), cmp.Or(flags, "-"), m.Name)
		}
	}
	return b.String()
}

func line(b *strings.Builder, fields ...string) {
	b.WriteString(strings.Join(fields, "\t") + "\n")
}

// literal returns an address, and nothing for the name of a variable.
func literal(s string) string {
	if strings.HasPrefix(s, "$") {
		return ""
	}
	return strings.TrimRight(s, "/")
}

// prices returns the four prices of a model. The module's two fields for cached
// tokens mean different things at different providers. Of its own meaning,
// first written and then read, only the lists of OpenRouter and Vercel can be
// trusted; elsewhere the lower of two is what a read costs, since no provider
// asks more for reading than for writing, and a single one is of a read when it
// is not more than other input. A second price that is the output's is no price
// of a cache. A model that costs nothing is free where its name says so;
// otherwise it is paid in another way, and its price is unknown.
func prices(id catwalk.InferenceProvider, m catwalk.Model) string {
	in, out, a, b := m.CostPer1MIn, m.CostPer1MOut, m.CostPer1MInCached, m.CostPer1MOutCached
	if in == 0 && out == 0 {
		if strings.HasSuffix(m.ID, ":free") || strings.HasSuffix(m.ID, "-free") {
			return "0\t0\t0\t0"
		}
		return "-\t-\t-\t-"
	}
	if b == out && b > in {
		b = 0
	}
	var read, write float64
	switch told := id == catwalk.InferenceProviderOpenRouter || id == catwalk.InferenceProviderVercel; {
	case a > 0 && b > 0 && a != b && told:
		write, read = a, b
	case a > 0 && b > 0 && a != b:
		read, write = min(a, b), max(a, b)
	case max(a, b) > in:
		write = max(a, b)
	default:
		read = max(a, b)
	}
	return strings.Join([]string{usd(in), usd(out), usd(read), usd(write)}, "\t")
}

func usd(v float64) string {
	if v <= 0 {
		return "-"
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

func TestPrices(t *testing.T) {
	for _, c := range []struct {
		id            catwalk.InferenceProvider
		model         string
		in, out, a, b float64
		want          string
	}{
		{"anthropic", "m", 5, 25, 6.25, 0.5, "5 25 0.5 6.25"},
		{"minimax", "m", 0.3, 1.2, 0.03, 0.375, "0.3 1.2 0.03 0.375"},
		{"openrouter", "m", 1.5, 9, 0.08333, 0.15, "1.5 9 0.15 0.08333"},
		{"openrouter", "m", 1, 2, 0.1, 0, "1 2 0.1 -"},
		{"deepseek", "m", 0.14, 0.28, 0.0028, 0, "0.14 0.28 0.0028 -"},
		{"xai", "m", 1.25, 2.5, 0, 0.2, "1.25 2.5 0.2 -"},
		{"azure", "m", 1.25, 10, 0.25, 0.25, "1.25 10 0.25 -"},
		{"gemini", "m", 0.75, 3.75, 0.075, 3.75, "0.75 3.75 0.075 -"},
		{"qiniucloud", "m", 0.29, 1.17, 0.29, 1.17, "0.29 1.17 0.29 -"},
		{"x", "m", 1, 2, 1.25, 0, "1 2 - 1.25"},
		{"x", "m", 1, 2, 0, 0, "1 2 - -"},
		{"copilot", "m", 0, 0, 0, 0, "- - - -"},
		{"openrouter", "m:free", 0, 0, 0, 0, "0 0 0 0"},
	} {
		got := prices(c.id, catwalk.Model{ID: c.model, CostPer1MIn: c.in, CostPer1MOut: c.out, CostPer1MInCached: c.a, CostPer1MOutCached: c.b})
		if got = strings.ReplaceAll(got, "\t", " "); got != c.want {
			t.Errorf("%s: got %s, want %s", fmt.Sprint(c), got, c.want)
		}
	}
}
