package a2a

import (
	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/provider"
)

func providerOps() []Info {
	return []Info{ProviderAdd().info(), ProviderList().info(), ProviderShow().info(), ProviderModels().info(),
		ProviderTest().info(), ProviderRemove().info()}
}

// ProviderAdd sets a provider of models up.
func ProviderAdd() Op[ProviderSource, ProviderView] {
	return Op[ProviderSource, ProviderView]{Method: prefix + "provider/add", Role: Writer, Doc: "set a provider of models up"}
}

// ProviderList lists the providers that are set up, and those that could be.
func ProviderList() Op[ProviderListQuery, ProvidersView] {
	return Op[ProviderListQuery, ProvidersView]{Method: prefix + "provider/list", Role: Reader, Doc: "list providers of models"}
}

// ProviderShow shows one provider.
func ProviderShow() Op[NameQuery, ProviderView] {
	return Op[NameQuery, ProviderView]{Method: prefix + "provider/show", Role: Reader, Doc: "show a provider of models"}
}

// ProviderModels lists the models of a provider with their prices.
func ProviderModels() Op[NameQuery, ModelsView] {
	return Op[NameQuery, ModelsView]{Method: prefix + "provider/models", Role: Reader, Doc: "list the models of a provider"}
}

// ProviderTest asks a model of the provider to say a word, which costs a little.
func ProviderTest() Op[ProviderTestRequest, ProviderTestView] {
	return Op[ProviderTestRequest, ProviderTestView]{Method: prefix + "provider/test", Role: Writer, Doc: "ask a provider for one word"}
}

// ProviderRemove forgets a provider.
func ProviderRemove() Op[NameQuery, ProviderView] {
	return Op[NameQuery, ProviderView]{Method: prefix + "provider/remove", Role: Writer, Doc: "forget a provider"}
}

// ProviderSource is a provider as YAML text. It never holds a key.
type ProviderSource struct {
	File   string `json:"file,omitempty"`
	Text   string `json:"text"`
	Update bool   `json:"update,omitempty"`
}

// ProviderListQuery asks, with Detect, also for what could be set up.
type ProviderListQuery struct {
	Detect bool `json:"detect,omitempty"`
}

// ProviderView is one provider. Key says where its key is taken from, and
// Problem why it cannot be called; the key itself is in no answer.
type ProviderView struct {
	Provider provider.Config `json:"provider"`
	How      string          `json:"how"` // added, environment, built in, or detected at an address
	Key      string          `json:"key"`
	Problem  string          `json:"problem,omitempty"`
	Models   []string        `json:"models,omitempty"` // what a detected server lists
}

// ProvidersView is a list of providers with the model that is used where none
// is named.
type ProvidersView struct {
	Providers []ProviderView    `json:"providers"`
	Default   *DefaultModelView `json:"default,omitempty"`
}

// DefaultModelView is the model that is used where none is named, and why.
type DefaultModelView struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Why      string `json:"why"`
}

// ModelsView is the models of a provider.
type ModelsView struct {
	Provider string      `json:"provider"`
	Models   []ModelView `json:"models"`
}

// ModelView is one model. A price is in US dollars for a million tokens; nil is
// not known.
type ModelView struct {
	ID         string   `json:"id"`
	Name       string   `json:"name,omitempty"`
	Context    int64    `json:"context,omitempty"` // tokens
	MaxOutput  int64    `json:"max_output,omitempty"`
	Reasons    bool     `json:"reasons,omitempty"`
	Input      *float64 `json:"input,omitempty"`
	Output     *float64 `json:"output,omitempty"`
	CacheRead  *float64 `json:"cache_read,omitempty"`
	CacheWrite *float64 `json:"cache_write,omitempty"`
}

// ProviderTestRequest tests a provider; without a model it is its smallest.
type ProviderTestRequest struct {
	Name  string `json:"name"`
	Model string `json:"model,omitempty"`
}

// ProviderTestView is what came of it.
type ProviderTestView struct {
	Provider string      `json:"provider"`
	Model    string      `json:"model"`
	Resolved string      `json:"resolved"`
	Said     string      `json:"said"`
	Usage    actor.Usage `json:"usage"`
	Cost     *float64    `json:"cost,omitempty"` // USD; nil is not known
	Millis   int64       `json:"ms"`
}
