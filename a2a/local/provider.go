package local

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/llm/catalog"
	"github.com/cleveragents/agents/models"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/provider"
)

func (f *Facade) providerHandlers() []a2a.Handler {
	return []a2a.Handler{
		a2a.Handle(a2a.ProviderAdd(), f.providerAdd),
		a2a.Handle(a2a.ProviderList(), f.providerList),
		a2a.Handle(a2a.ProviderShow(), f.providerShow),
		a2a.Handle(a2a.ProviderModels(), f.providerModels),
		a2a.Handle(a2a.ProviderTest(), f.providerTest),
		a2a.Handle(a2a.ProviderRemove(), f.providerRemove),
	}
}

func (f *Facade) providerAdd(ctx context.Context, q a2a.ProviderSource, _ func(plan.Event)) (a2a.ProviderView, error) {
	c, err := provider.Parse(q.File, []byte(q.Text))
	if err != nil {
		return a2a.ProviderView{}, err
	}
	if err := f.Models.Add(ctx, c, q.Update); err != nil {
		return a2a.ProviderView{}, err
	}
	return f.providerView(ctx, c, models.Added), nil
}

// providerView shows a provider with its key's place. A key that is not there
// is a problem to show and no error: it may be set later.
func (f *Facade) providerView(ctx context.Context, c provider.Config, how string) a2a.ProviderView {
	v := a2a.ProviderView{Provider: c, How: how}
	if how == models.BuiltIn {
		v.Key = "none needed"
		return v
	}
	var err error
	if v.Key, err = f.Models.KeyFrom(ctx, c); err != nil {
		e := fault.As(err)
		v.Problem = e.Msg
		if e.Hint != "" {
			v.Problem += "; " + e.Hint
		}
	}
	return v
}

func (f *Facade) providerList(ctx context.Context, q a2a.ProviderListQuery, _ func(plan.Event)) (a2a.ProvidersView, error) {
	out := a2a.ProvidersView{Providers: []a2a.ProviderView{}}
	all, err := f.Models.Providers(ctx)
	if err != nil {
		return out, err
	}
	seen := map[string]bool{}
	for _, k := range all {
		seen[k.Config.Name] = true
		out.Providers = append(out.Providers, f.providerView(ctx, k.Config, k.How))
	}
	if !q.Detect {
		return out, nil
	}
	for _, d := range f.Models.Detect(ctx) {
		if seen[d.Config.Name] {
			continue
		}
		out.Providers = append(out.Providers, a2a.ProviderView{
			Provider: d.Config, How: "detected: " + d.How, Problem: d.Problem, Models: d.Models, Key: "none needed",
		})
	}
	if c, err := f.Models.Default(ctx); err == nil {
		out.Default = &a2a.DefaultModelView{Provider: c.Provider, Model: c.Model, Why: c.Why}
	} else if fault.CodeOf(err) != "NoProvider" {
		return out, err
	}
	return out, nil
}

func (f *Facade) providerShow(ctx context.Context, q a2a.NameQuery, _ func(plan.Event)) (a2a.ProviderView, error) {
	c, how, err := f.Models.Config(ctx, q.Name)
	if err != nil {
		return a2a.ProviderView{}, err
	}
	return f.providerView(ctx, c.Filled(), how), nil
}

func (f *Facade) providerModels(ctx context.Context, q a2a.NameQuery, _ func(plan.Event)) (a2a.ModelsView, error) {
	out := a2a.ModelsView{Provider: q.Name, Models: []a2a.ModelView{}}
	c, err := f.Models.Listed(ctx, q.Name)
	if err != nil {
		return out, err
	}
	usd := func(p catalog.Price) *float64 {
		if !p.Known {
			return nil
		}
		return &p.USD
	}
	for _, m := range f.Models.Models(ctx, c) {
		out.Models = append(out.Models, a2a.ModelView{
			ID: m.ID, Name: m.Name, Context: m.Context, MaxOutput: m.MaxOutput, Reasons: m.CanReason,
			Input: usd(m.Prices.Input), Output: usd(m.Prices.Output), CacheRead: usd(m.Prices.CacheRead), CacheWrite: usd(m.Prices.CacheWrite),
		})
	}
	return out, nil
}

// maxSaid bounds what is shown of a model's answer to a test.
const maxSaid = 200

func (f *Facade) providerTest(ctx context.Context, q a2a.ProviderTestRequest, _ func(plan.Event)) (a2a.ProviderTestView, error) {
	t, err := f.Models.Test(ctx, q.Name, q.Model)
	if err != nil {
		return a2a.ProviderTestView{}, err
	}
	v := a2a.ProviderTestView{
		Provider: t.Provider, Model: t.Model, Resolved: t.Resolved, Said: strings.TrimSpace(t.Said), Usage: t.Usage, Millis: t.Took.Milliseconds(),
	}
	if len(v.Said) > maxSaid {
		n := maxSaid
		for !utf8.RuneStart(v.Said[n]) {
			n--
		}
		v.Said = v.Said[:n] + "…"
	}
	if t.Priced {
		v.Cost = &t.Cost
	}
	return v, nil
}

func (f *Facade) providerRemove(ctx context.Context, q a2a.NameQuery, _ func(plan.Event)) (a2a.ProviderView, error) {
	c, how, err := f.Models.Config(ctx, q.Name)
	if err != nil {
		return a2a.ProviderView{}, err
	}
	if err := f.Models.Remove(ctx, q.Name); err != nil {
		return a2a.ProviderView{}, err
	}
	return a2a.ProviderView{Provider: c, How: how}, nil
}
