package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

func newProviderGroup(a *app) *cobra.Command {
	return group(a, "provider", "Where models are asked, and what they cost",
		`Where models are asked. A provider whose usual variable (ANTHROPIC_API_KEY and the
like) holds a key needs no setting up: anthropic/claude-sonnet-4-5 names a model and
the actor that is only that model. Keys come from the environment, the keyring or a
private file named on purpose; they are never stored, logged or passed on.`,
		newProviderAdd(a), newProviderList(a), newProviderShow(a), newProviderModels(a), newProviderTest(a),
		newProviderRemove(a))
}

// providerOutput shows one provider.
func providerOutput(v a2a.ProviderView) output {
	return output{schema: "agents.provider.v1", data: v, human: func(p *printer) {
		c := v.Provider
		p.printf("%s %s", p.bold(c.Name), c.Kind)
		p.field("known", v.How)
		p.field("base url", c.BaseURL)
		p.field("api", c.API)
		p.field("region", c.Region)
		p.field("key", v.Key)
		p.field("problem", v.Problem)
		if c.Limits.RequestsPerMinute > 0 {
			p.field("requests a minute", c.Limits.RequestsPerMinute)
		}
		if c.Limits.TokensPerMinute > 0 {
			p.field("tokens a minute", c.Limits.TokensPerMinute)
		}
		p.field("models", strings.Join(c.Models, ", "))
	}}
}

// usd is a price for people.
func usd(v *float64) string {
	if v == nil {
		return "?"
	}
	return fmt.Sprintf("$%.2f", *v)
}

// tokens is a count for people: 200000 is 200k.
func tokens(n int64) string {
	switch {
	case n <= 0:
		return "?"
	case n >= 1_000_000 && n%100_000 == 0:
		return fmt.Sprintf("%gM", float64(n)/1e6)
	case n >= 1000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}
