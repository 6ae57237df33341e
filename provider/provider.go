// Package provider is the configuration of a place that answers calls of
// language models: what it is called, what it speaks, where it is, where its
// key is to be found and how fast it may be asked. It also reads the names
// provider/model.
//
// The rules that it keeps:
//
//   - A key is never part of a configuration. The text is searched for keys
//     before it is decoded, and every value again afterwards; what looks like
//     one is refused without being repeated.
//   - A key that stands under a kind's usual name in the environment is meant
//     for that kind's own hosts. Another address needs a key named on purpose.
//   - Plain http is for loopback, or for who writes insecure: true.
//
// It does not promise to know every key by its looks: a short or unusual one in
// a place where a name belongs is not recognised. It opens nothing and asks
// nobody.
package provider

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/cleveragents/agents/decode"
	"github.com/cleveragents/agents/fault"
)

// Config is one provider. The zero values of the optional keys mean what the
// table of kinds says.
type Config struct {
	Name     string `json:"name" yaml:"name"`
	Kind     Kind   `json:"kind" yaml:"kind"`
	BaseURL  string `json:"base_url,omitempty" yaml:"base_url,omitempty"`
	API      string `json:"api,omitempty" yaml:"api,omitempty"`           // Chat or Responses, of kind openai or azure
	Region   string `json:"region,omitempty" yaml:"region,omitempty"`     // of kind bedrock
	KeyEnv   string `json:"key_env,omitempty" yaml:"key_env,omitempty"`   // the name of an environment variable
	KeyFile  string `json:"key_file,omitempty" yaml:"key_file,omitempty"` // absolute, or below ~/
	KeyRing  bool   `json:"keyring,omitempty" yaml:"keyring,omitempty"`   // the key is in the system's keyring, under Name
	Insecure bool   `json:"insecure,omitempty" yaml:"insecure,omitempty"` // http to a host that is not loopback is wanted
	// Free says that its models cost nothing: a server of one's own. A cost limit
	// can be kept only where prices are known, and for a loopback address they
	// are not: there may be a paid service behind it.
	Free   bool   `json:"free,omitempty" yaml:"free,omitempty"`
	Limits Limits `json:"limits,omitzero" yaml:"limits,omitempty"`
	// Models are the models that can be asked; absent means those of the
	// catalogue, or any where the kind has none. An empty list is refused.
	Models []string `json:"models,omitzero" yaml:"models,omitempty"`
}

// Limits is how fast a provider may be asked; 0 means no limit of ours.
type Limits struct {
	RequestsPerMinute int `json:"requests_per_minute,omitempty" yaml:"requests_per_minute,omitempty"`
	TokensPerMinute   int `json:"tokens_per_minute,omitempty" yaml:"tokens_per_minute,omitempty"`
}

// MaxModels is the most models that one configuration may list.
const MaxModels = 1000

// Parse reads a provider from YAML and checks it. The errors are of kind
// Invalid and start with file:line; none repeats a key.
func Parse(file string, data []byte) (Config, error) {
	if line := literalLine(string(data)); line > 0 && len(data) <= decode.MaxBytes {
		return Config{}, fault.New(fault.Invalid, "%s:%d: %w", file, line, literalKey())
	}
	var c Config
	if err := decode.YAML(file, data, &c); err != nil {
		return Config{}, err
	}
	if key, err := c.check(); err != nil {
		return Config{}, fault.New(fault.Invalid, "%s: %w", decode.At(file, data, key...), err)
	}
	return c, nil
}

// Validate checks what Parse checks, for a configuration that was put together
// in another way. The error is of kind Invalid.
func (c Config) Validate() error {
	_, err := c.check()
	return err
}

// check returns the first fault and the path of the key that causes it.
func (c Config) check() (key []string, err error) {
	if key := c.literal(); key != nil {
		return key, literalKey()
	}
	if err := checkName(c.Name); err != nil {
		return []string{"name"}, err
	}
	info, ok := c.Kind.Info()
	if !ok {
		return []string{"kind"}, unknownKind(c)
	}
	for _, step := range []func(Info) ([]string, error){c.checkAPI, c.checkAddress, c.checkKey, c.checkLimits, c.checkModels} {
		if key, err := step(info); err != nil {
			return key, fault.New(fault.Invalid, "provider %s: %w", c.Name, err)
		}
	}
	return nil, nil
}

func unknownKind(c Config) error {
	if c.Kind == "" {
		return fault.New(fault.Invalid, "provider %s: give a kind", c.Name).WithHint("the kinds: %s", strings.Join(kindNames(), ", "))
	}
	near := Nearest(string(c.Kind), kindNames())
	if len(near) == 0 {
		near = kindNames()
	}
	return fault.New(fault.Invalid, "provider %s: there is no kind %s", c.Name, quote(string(c.Kind))).
		WithHint("perhaps %s", strings.Join(near, ", "))
}

func (c Config) checkAPI(Info) ([]string, error) {
	switch {
	case c.API != "" && c.Kind != OpenAI && c.Kind != Azure:
		return []string{"api"}, fault.New(fault.Invalid, "api is for the kinds openai and azure, not for %s", c.Kind)
	case c.API != "" && c.API != Chat && c.API != Responses:
		return []string{"api"}, fault.New(fault.Invalid, "api %s is neither chat nor responses", quote(c.API))
	case c.Region != "" && c.Kind != Bedrock:
		return []string{"region"}, fault.New(fault.Invalid, "region is for the kind bedrock, not for %s", c.Kind)
	case c.Region != "" && !isRegion(c.Region):
		return []string{"region"}, fault.New(fault.Invalid, "%s is not a region such as eu-central-1", quote(c.Region))
	}
	return nil, nil
}

func (c Config) checkKey(info Info) ([]string, error) {
	var named [][]string
	for _, s := range []struct {
		key string
		set bool
	}{{"key_env", c.KeyEnv != ""}, {"key_file", c.KeyFile != ""}, {"keyring", c.KeyRing}} {
		if s.set {
			named = append(named, []string{s.key})
		}
	}
	switch {
	case len(named) > 0 && !info.Network:
		return named[0], fault.New(fault.Invalid, "a provider of kind %s takes no key", c.Kind)
	case len(named) > 1:
		return named[1], fault.New(fault.Invalid, "%s and %s: name one place where the key is", named[0][0], named[1][0])
	case c.KeyEnv != "" && !isVariable(c.KeyEnv): // not repeated: it may be the key itself
		return []string{"key_env"}, fault.New(fault.Invalid, "key_env is not the name of an environment variable").
			WithHint("write the name of the variable, such as OPENAI_API_KEY, not what is in it")
	case c.KeyFile != "" && !strings.HasPrefix(c.KeyFile, "/") && !strings.HasPrefix(c.KeyFile, "~/"):
		return []string{"key_file"}, fault.New(fault.Invalid, "key_file is not an absolute path").
			WithHint("write a path that starts with / or ~/; keys themselves are never stored")
	case strings.ContainsFunc(c.KeyFile, isControl):
		return []string{"key_file"}, fault.New(fault.Invalid, "key_file holds a control character")
	}
	return nil, nil
}

func (c Config) checkLimits(Info) ([]string, error) {
	if c.Limits.RequestsPerMinute < 0 {
		return []string{"limits", "requests_per_minute"}, fault.New(fault.Invalid, "requests_per_minute is negative")
	}
	if c.Limits.TokensPerMinute < 0 {
		return []string{"limits", "tokens_per_minute"}, fault.New(fault.Invalid, "tokens_per_minute is negative")
	}
	return nil, nil
}

func (c Config) checkModels(Info) ([]string, error) {
	if c.Models != nil && len(c.Models) == 0 {
		return []string{"models"}, fault.New(fault.Invalid, "models is empty: no model could be asked").
			WithHint("leave the key out to allow any model")
	}
	if len(c.Models) > MaxModels {
		return []string{"models"}, fault.New(fault.Invalid, "more than %d models", MaxModels)
	}
	seen := map[string]bool{}
	for i, m := range c.Models {
		key := []string{"models", strconv.Itoa(i)}
		if err := checkModel(m); err != nil {
			return key, err
		}
		if seen[m] {
			return key, fault.New(fault.Invalid, "the model %s is listed twice", quote(m))
		}
		seen[m] = true
	}
	return nil, nil
}

// NeedsKey reports whether a call makes sense only with a key: one is named on
// purpose, or the kind asks for one and the address is not loopback.
func (c Config) NeedsKey() bool {
	info, _ := c.Kind.Info()
	return c.KeyEnv != "" || c.KeyFile != "" || c.KeyRing || info.NeedsKey && !c.Loopback()
}

// KeyEnvs returns the environment variables that may hold the key, in order:
// the one that is named, else the kind's usual ones when the address is the
// kind's own. It is empty when the key is elsewhere, or nowhere.
func (c Config) KeyEnvs() []string {
	info, _ := c.Kind.Info()
	switch {
	case c.KeyEnv != "":
		return []string{c.KeyEnv}
	case c.KeyFile != "", c.KeyRing, !c.atHome(info):
		return nil
	}
	return slices.Clone(info.KeyEnv)
}

// Filled returns c with the defaults of its kind written out. It is for showing
// and for calling, not for storing: a default may change.
func (c Config) Filled() Config {
	info, _ := c.Kind.Info()
	c.BaseURL = strings.TrimRight(cmp.Or(c.BaseURL, info.BaseURL), "/")
	if c.Kind == Bedrock && c.BaseURL == "" {
		c.BaseURL = "https://bedrock-runtime." + c.Region + ".amazonaws.com"
		if strings.HasPrefix(c.Region, "cn-") {
			c.BaseURL += ".cn"
		}
	}
	if c.API == "" && (c.Kind == OpenAI || c.Kind == Azure) {
		c.API = Chat
	}
	return c
}
