// Package models says which models can be called here, and how: it puts the
// providers that a person has added, those whose key is in the environment and
// the servers of this machine together with the catalogue of prices, the places
// of keys and the wire formats of package llm.
//
// A name provider/model is enough to call a model: a provider that was added
// comes first, then the kind of that name, with the key that its own variable
// holds. Nothing is asked over the network but by Detect and Test, and a key is
// taken from its place at the call that sends it.
//
// It does not promise that a model is there or a key is good; Test asks.
package models

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/llm"
	"github.com/cleveragents/agents/llm/catalog"
	"github.com/cleveragents/agents/llm/detect"
	"github.com/cleveragents/agents/provider"
	"github.com/cleveragents/agents/secret"
)

// Config is what New needs.
type Config struct {
	Store   engine.Store
	Env     func(name string) (value string, ok bool)
	Secrets *secret.Store
	Now     func() time.Time
	// Default is the provider/model that a person has set for where none is
	// named; "" lets the desk choose.
	Default string
	// Built are providers that come with the program, such as the scripted one;
	// their calls cost nothing.
	Built map[string]llm.Provider
	// Network carries calls; nil is the network itself.
	Network http.RoundTripper
	// Loopback is how servers of this machine are asked what they have; nil
	// asks none.
	Loopback http.RoundTripper
}

// Desk answers what can be called and makes the calls. It is safe for use by
// several goroutines.
type Desk struct {
	c Config
	*llm.Model
}

// New returns the desk.
func New(c Config) *Desk {
	d := &Desk{c: c}
	d.Model = llm.New(llm.Config{Providers: c.Built, Find: d.find, Now: c.Now})
	return d
}

// How a provider came to be known.
const (
	Added       = "added"       // by a person
	Environment = "environment" // its kind's variable holds a key
	BuiltIn     = "built in"
)

// Config returns the configuration of a provider by name, and how it is known.
func (d *Desk) Config(ctx context.Context, name string) (c provider.Config, how string, err error) {
	err = d.c.Store.View(ctx, func(tx engine.Tx) error {
		c, err = tx.Provider(name)
		return err
	})
	if err == nil {
		return c, Added, nil
	}
	if !fault.Is(err, fault.NotFound) {
		return c, "", err
	}
	if _, ok := d.c.Built[name]; ok {
		return provider.Config{Name: name, Kind: provider.Kind(name)}, BuiltIn, nil
	}
	for _, f := range detect.Detect(ctx, detect.Options{Env: d.c.Env}) {
		if f.Config.Name == name {
			if f.Problem != "" {
				return c, "", fault.New(fault.Unavailable, "provider %s (%s): %s", name, f.How, f.Problem)
			}
			return f.Config, Environment, nil
		}
	}
	return c, "", d.unknown(ctx, name)
}

// unknown is the error of a name that no provider has. A kind that only lacks
// its key is told apart from a name that nobody knows.
func (d *Desk) unknown(ctx context.Context, name string) error {
	if info, ok := provider.Kind(name).Info(); ok && info.NeedsKey {
		_, err := d.c.Secrets.Get(ctx, provider.Config{Name: name, Kind: info.Kind})
		if err != nil {
			return err
		}
	}
	var names []string
	for _, info := range provider.Kinds() {
		names = append(names, string(info.Kind))
	}
	all, err := d.Providers(ctx)
	if err != nil {
		return err
	}
	for _, p := range all {
		names = append(names, p.Config.Name)
	}
	hint := "agents provider list shows those that are set up; agents provider add sets one up"
	if near := provider.Nearest(name, names); len(near) > 0 {
		hint = "did you mean " + near[0] + "? " + hint
	}
	return fault.New(fault.NotFound, "no provider %q is set up", name).WithHint("%s", hint)
}

// find is Config as package llm takes it.
func (d *Desk) find(name string) (llm.Provider, error) {
	c, _, err := d.Config(context.Background(), name)
	if err != nil {
		return llm.Provider{}, err
	}
	return d.caller(c)
}

// caller is how a provider is called.
func (d *Desk) caller(c provider.Config) (llm.Provider, error) {
	full := c.Filled()
	format, err := formatOf(full)
	if err != nil {
		return llm.Provider{}, err
	}
	id := catalog.Of(c)
	return llm.Provider{
		Format: format, BaseURL: full.BaseURL, Transport: d.c.Network,
		Limits: llm.Limits{RequestsPerMinute: c.Limits.RequestsPerMinute, TokensPerMinute: c.Limits.TokensPerMinute},
		Key: func(ctx context.Context) (string, error) {
			k, err := d.c.Secrets.Get(ctx, c)
			if err != nil || k.Empty() {
				return "", err
			}
			return k.Reveal(), nil
		},
		Check: func(model string) error { return checkModel(c, model) },
		Model: func(model string) llm.ModelInfo {
			m, _ := catalog.Lookup(id, model)
			return llm.ModelInfo{MaxOutput: int(m.MaxOutput), Reasons: m.CanReason}
		},
	}, nil
}

func formatOf(c provider.Config) (llm.Format, error) {
	responses := c.API == provider.Responses
	switch c.Kind {
	case provider.Anthropic:
		return llm.Messages, nil
	case provider.OpenAI:
		if responses {
			return llm.Responses, nil
		}
		return llm.OpenAIChat, nil
	case provider.Azure:
		if responses {
			return llm.AzureResponses, nil
		}
		return llm.Azure, nil
	case provider.Gemini:
		return llm.Gemini, nil
	case provider.Bedrock:
		return llm.Bedrock, nil
	case provider.OpenRouter, provider.Ollama, provider.Compatible:
		return llm.Chat, nil
	}
	return "", fault.New(fault.Invalid, "provider %s: a provider of kind %s is not called over a network", c.Name, c.Kind)
}

// checkModel refuses a model that the provider is not known to have, with the
// names that may be meant. One that is newer than the catalogue is listed in
// the provider's own configuration.
func checkModel(c provider.Config, model string) error {
	id := catalog.Of(c)
	known := c.Models
	if known == nil {
		if id == "" || c.Kind == provider.Azure { // there, a model is a deployment of one's own
			return nil
		}
		if _, ok := catalog.Lookup(id, model); ok {
			return nil
		}
	}
	for _, m := range known {
		if m == model {
			return nil
		}
	}
	hint := "agents provider models " + c.Name + " lists them; one that is newer is added with: agents provider add " +
		c.Name + " --kind " + string(c.Kind) + " --model " + model + " --update"
	near := provider.Nearest(model, known)
	if c.Models == nil {
		near = catalog.Nearest(provider.Ref{Provider: id, Model: model})
	}
	if len(near) > 0 {
		hint = "did you mean " + strings.TrimPrefix(near[0], id+"/") + "? " + hint
	}
	return fault.New(fault.NotFound, "provider %s is not known to have a model %q", c.Name, model).WithHint("%s", hint)
}

// Price is what a call costs in US dollars; false when that is not known. An
// Ollama of this machine costs nothing, and what is said to be free.
func (d *Desk) Price(name, model string, u actor.Usage) (usd float64, known bool) {
	if _, ok := d.c.Built[name]; ok {
		return 0, true
	}
	c, _, err := d.Config(context.Background(), name)
	if err != nil {
		return 0, false
	}
	return price(c, model, u)
}

func price(c provider.Config, model string, u actor.Usage) (usd float64, known bool) {
	if c.Free || c.Kind == provider.Ollama && c.Filled().Loopback() {
		return 0, true
	}
	// Who says nothing of a cache has told all of the request as input.
	m, ok := catalog.Lookup(catalog.Of(c), model)
	if !ok || !m.Prices.Input.Known || !m.Prices.Output.Known {
		return 0, false
	}
	return m.Prices.Cost(catalog.Tokens{
		Input: u.Input, Output: u.Output, CacheRead: max(u.CacheRead, 0), CacheWrite: max(u.CacheWrite, 0),
	})
}

// Window is how many tokens a model takes, prompt and answer together, and how
// many of them an answer may take when nobody says; 0 where that is not known.
func (d *Desk) Window(name, model string) (tokens, answer int) {
	c, how, err := d.Config(context.Background(), name)
	if err != nil || how == BuiltIn {
		return 0, 0
	}
	m, _ := catalog.Lookup(catalog.Of(c), model)
	return int(m.Context), int(m.MaxOutput)
}

// Actor is the built-in actor of a name provider/model; false when the name is
// not that of a provider that is set up.
func (d *Desk) Actor(ctx context.Context, name string) (actor.Config, bool, error) {
	ref, err := provider.ParseRef(name)
	if err != nil {
		return actor.Config{}, false, nil // the name of something else
	}
	c, how, err := d.Config(ctx, ref.Provider)
	switch {
	case fault.Is(err, fault.NotFound):
		return actor.Config{}, false, nil
	case err != nil:
		return actor.Config{}, true, err
	}
	if how != BuiltIn {
		if err := checkModel(c, ref.Model); err != nil {
			return actor.Config{}, true, err
		}
	}
	return actor.Config{
		Name: name, Description: "the model " + ref.Model + " of " + ref.Provider, Provider: ref.Provider, Model: ref.Model,
	}, true, nil
}
