package models

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/llm/catalog"
	"github.com/cleveragents/agents/llm/detect"
	"github.com/cleveragents/agents/provider"
)

// Known is a provider that is set up.
type Known struct {
	Config provider.Config
	How    string // Added, Environment or BuiltIn
}

// Providers returns the providers that are set up: those that were added, those
// whose key is in the environment, and those that come with the program.
func (d *Desk) Providers(ctx context.Context) ([]Known, error) {
	var out []Known
	seen := map[string]bool{}
	add := func(c provider.Config, how string) {
		if !seen[c.Name] {
			seen[c.Name] = true
			out = append(out, Known{c, how})
		}
	}
	err := d.c.Store.View(ctx, func(tx engine.Tx) error {
		all, err := tx.Providers()
		for _, c := range all {
			add(c, Added)
		}
		return err
	})
	for _, f := range detect.Detect(ctx, detect.Options{Env: d.c.Env}) {
		if f.Problem == "" {
			add(f.Config, Environment)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.c.Built)) {
		add(provider.Config{Name: name, Kind: provider.Kind(name)}, BuiltIn)
	}
	return out, err
}

// Detect looks for what could be used: keys in the environment and servers on
// this machine.
func (d *Desk) Detect(ctx context.Context) []detect.Found {
	return detect.Detect(ctx, detect.Options{Env: d.c.Env, Transport: d.c.Loopback})
}

// Choice is the model that is used where none is named, and why.
type Choice struct {
	Provider string
	Model    string
	Why      string
}

// Default returns the model that is used where none is named: the one that was
// set, else the first model of the first provider that was added, is in the
// environment or answers on this machine. Without any it is NoProvider of
// package detect.
func (d *Desk) Default(ctx context.Context) (Choice, error) {
	if d.c.Default != "" {
		ref, err := provider.ParseRef(d.c.Default)
		if err != nil {
			return Choice{}, fault.New(fault.Invalid, "provider.default: %w", err).WithHint("agents config set provider.default PROVIDER/MODEL")
		}
		return Choice{ref.Provider, ref.Model, "provider.default says so"}, nil
	}
	var added []provider.Config
	err := d.c.Store.View(ctx, func(tx engine.Tx) (err error) {
		added, err = tx.Providers()
		return err
	})
	if err != nil {
		return Choice{}, err
	}
	for _, c := range added {
		if m := firstModel(c, nil); m != "" {
			return Choice{c.Name, m, c.Name + " was added"}, nil
		}
	}
	f, why, err := detect.Choose(d.Detect(ctx))
	if err != nil {
		return Choice{}, err
	}
	m := firstModel(f.Config, f.Models)
	if m == "" {
		return Choice{}, fault.New(fault.Unavailable, "%s is there and says of no model that it has it", f.Config.Name).WithCode("NoProvider").
			WithHint("name one: agents provider add %s --kind %s --model <model>", f.Config.Name, f.Config.Kind)
	}
	if f.Local { // nothing else remembers its address
		if err := d.Add(ctx, f.Config, true); err != nil {
			return Choice{}, err
		}
	}
	return Choice{f.Config.Name, m, strings.TrimSuffix(why, ".")}, nil
}

// firstModel is the model to begin with: the first that is configured or that
// the server lists, else the catalogue's.
func firstModel(c provider.Config, listed []string) string {
	for _, l := range [][]string{c.Models, listed} {
		if len(l) > 0 {
			return l[0]
		}
	}
	p, ok := catalog.ProviderOf(catalog.Of(c))
	if !ok {
		return ""
	}
	return p.Large
}

// Add stores a provider. A name of one that comes with the program is taken.
func (d *Desk) Add(ctx context.Context, c provider.Config, replace bool) error {
	if err := c.Validate(); err != nil {
		return err
	}
	if _, ok := d.c.Built[c.Name]; ok {
		return fault.New(fault.Exists, "provider %s is built in", c.Name).WithHint("choose another name")
	}
	err := d.c.Store.Update(ctx, func(tx engine.Tx) error { return tx.PutProvider(c, replace) })
	if fault.Is(err, fault.Exists) {
		return fault.New(fault.Exists, "provider %s exists", c.Name).WithHint("add --update to replace it")
	}
	return err
}

// Remove forgets a provider that was added.
func (d *Desk) Remove(ctx context.Context, name string) error {
	err := d.c.Store.Update(ctx, func(tx engine.Tx) error { return tx.RemoveProvider(name) })
	if fault.Is(err, fault.NotFound) {
		if _, how, cerr := d.Config(ctx, name); cerr == nil {
			return fault.New(fault.Invalid, "provider %s was not added: it is known from the %s", name, how).
				WithHint("unset the variable that holds its key")
		}
	}
	return err
}

// KeyFrom tells where the key of a provider is taken from, or why it cannot be;
// "none needed" where a call needs none.
func (d *Desk) KeyFrom(ctx context.Context, c provider.Config) (from string, err error) {
	if !c.NeedsKey() {
		return "none needed", nil
	}
	if _, err := d.c.Secrets.Get(ctx, c); err != nil {
		return "", err
	}
	switch {
	case c.KeyRing:
		return "the keyring", nil
	case c.KeyFile != "":
		return "the file " + c.KeyFile, nil
	}
	for _, name := range c.KeyEnvs() {
		if v, ok := d.c.Env(name); ok && strings.TrimSpace(v) != "" {
			return "the variable " + name, nil
		}
	}
	return "", nil
}

// Listed is the configuration by which the models of a name are listed: of a
// provider that is set up, or of a kind, whose catalogue needs no key.
func (d *Desk) Listed(ctx context.Context, name string) (provider.Config, error) {
	c, _, err := d.Config(ctx, name)
	if kind := provider.Kind(name); err != nil {
		if info, ok := kind.Info(); ok && info.Catalogue != "" {
			return provider.Config{Name: name, Kind: kind}, nil
		}
	}
	return c, err
}

// Models are the models of a provider: those of its configuration, else those
// of the catalogue, else those that the server lists when it is on this machine.
func (d *Desk) Models(ctx context.Context, c provider.Config) []catalog.Model {
	id := catalog.Of(c)
	names := c.Models
	if names == nil {
		if all := catalog.Models(id); len(all) > 0 {
			return all
		}
		for _, f := range d.Detect(ctx) {
			if f.Config.Filled().BaseURL == c.Filled().BaseURL {
				names = f.Models
			}
		}
	}
	var out []catalog.Model
	for _, n := range names {
		m, ok := catalog.Lookup(id, n)
		if !ok {
			m = catalog.Model{ID: n}
		}
		out = append(out, m)
	}
	return out
}

// Trial is what came of asking a model something small.
type Trial struct {
	Provider string
	Model    string // as it was asked
	Resolved string // as it called itself
	Said     string
	Usage    actor.Usage
	Cost     float64
	Priced   bool
	Took     time.Duration
}

// Test asks a model of the provider to say one word, which costs a few tokens.
// With model "" it is the provider's first.
func (d *Desk) Test(ctx context.Context, name, model string) (Trial, error) {
	c, how, err := d.Config(ctx, name)
	if err != nil {
		return Trial{}, err
	}
	if how == BuiltIn && model == "" {
		return Trial{}, fault.New(fault.Invalid, "name a model of %s", name)
	}
	if model == "" {
		if ms := d.Models(ctx, c); c.Models == nil && catalog.Of(c) != "" {
			p, _ := catalog.ProviderOf(catalog.Of(c))
			model = p.Small
		} else if len(ms) > 0 {
			model = ms[0].ID
		}
		if model == "" {
			return Trial{}, fault.New(fault.Invalid, "provider %s lists no model; name one", name)
		}
	}
	start := d.c.Now()
	resp, err := d.Generate(ctx, actor.Request{
		Provider: name, Model: model, MaxTokens: 512, // thinking counts
		Messages: []actor.Message{{Role: actor.User, Pieces: []actor.Piece{{Slot: "test", Text: "Answer with the one word: ready"}}}},
	}, nil)
	if err != nil {
		return Trial{}, err
	}
	t := Trial{Provider: name, Model: model, Resolved: resp.Model, Said: resp.Message.Text(), Usage: resp.Usage, Took: d.c.Now().Sub(start)}
	t.Cost, t.Priced = d.Price(name, model, resp.Usage)
	return t, nil
}
