// Package detect finds out which providers could be used here: those whose key
// is in the environment, and servers of models on this machine.
//
// Keys are found by the names of their variables; their values are neither
// read beyond being there nor passed on. Servers are asked for their models,
// all at once and within one short limit: only on 127.0.0.1 and ::1, without a
// key, without following a redirect, and no more than MaxBody of what they
// answer is read.
//
// It does not promise that a provider works: a key may have been withdrawn, and
// whoever listens on the port of a server may only look like one.
package detect

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/provider"
)

// Limit is how long all servers together are waited for when Options do not
// say.
const Limit = 300 * time.Millisecond

// MaxBody is the most bytes of an answer that are read.
const MaxBody = 1 << 20

// Options is what Detect needs.
type Options struct {
	Env       func(name string) (value string, ok bool) // nil: no variables
	Transport http.RoundTripper                         // nil: no server is asked; see Transport
	Limit     time.Duration                             // 0 is the constant Limit
}

// Found is a provider that could be used.
type Found struct {
	Config  provider.Config
	How     string   // the variable that holds its key, or the address of the server
	Local   bool     // it is a server on this machine
	Models  []string // what a server lists, sorted; none of a provider that needs a key
	Problem string   // why it cannot be used as it is; "" when it can
}

// Detect returns what is found, in the order in which it would be chosen:
// keys before servers, each in the order of its table.
func Detect(ctx context.Context, o Options) []Found {
	env := o.Env
	if env == nil {
		env = func(string) (string, bool) { return "", false }
	}
	var out []Found
	for _, info := range provider.Kinds() {
		if f, ok := byKey(info, env); ok {
			out = append(out, f)
		}
	}
	if o.Transport == nil {
		return out
	}
	if o.Limit <= 0 {
		o.Limit = Limit
	}
	ctx, cancel := context.WithTimeout(ctx, o.Limit)
	defer cancel()
	return append(out, askAll(ctx, o.Transport, servers(first(env, []string{"OLLAMA_HOST"})))...)
}

// byKey finds a provider by the variables of its kind. Another address that the
// environment names is taken along, since the key is meant for it.
func byKey(info provider.Info, env func(string) (string, bool)) (Found, bool) {
	name := firstName(env, info.KeyEnv)
	if name == "" {
		return Found{}, false
	}
	f := Found{How: name, Config: provider.Config{
		Name: string(info.Kind), Kind: info.Kind, KeyEnv: name,
		BaseURL: first(env, info.BaseURLEnv), Region: first(env, info.RegionEnv),
	}}
	switch err := f.Config.Validate(); {
	case err == nil:
	case f.Config.BaseURL == "" && info.BaseURL == "" && len(info.BaseURLEnv) > 0:
		f.Problem = info.BaseURLEnv[0] + " is not set"
	case f.Config.Region == "" && len(info.RegionEnv) > 0:
		f.Problem = info.RegionEnv[0] + " is not set"
	default: // what is wrong came from a variable, and may hold a password
		from := firstName(env, append(info.BaseURLEnv, info.RegionEnv...))
		f.Problem = strings.TrimPrefix(from+": "+err.Error(), ": ")
		f.Config.BaseURL, f.Config.Region = "", ""
	}
	return f, true
}

// first returns the value of the first variable that is set to something.
func first(env func(string) (string, bool), names []string) string {
	v, _ := env(firstName(env, names))
	return strings.TrimSpace(v)
}

func firstName(env func(string) (string, bool), names []string) string {
	for _, n := range names {
		if v, ok := env(n); ok && strings.TrimSpace(v) != "" {
			return n
		}
	}
	return ""
}

// Choose returns the first of the list that can be used, and why in a sentence.
// Without one the error is of kind Unavailable and names the ways out.
func Choose(list []Found) (Found, string, error) {
	var others, problems []string
	at := -1
	for i, f := range list {
		switch {
		case f.Problem != "":
			problems = append(problems, f.Config.Name+" ("+f.How+"): "+f.Problem)
		case at < 0:
			at = i
		default:
			others = append(others, f.Config.Name)
		}
	}
	if at < 0 {
		return Found{}, "", none(problems)
	}
	f := list[at]
	reason := f.Config.Name + " is used because " + f.How + " is set"
	if f.Local {
		reason = f.Config.Name + " is used because a server answers at " + f.How + " and the environment holds no key that can be used"
	}
	if len(others) > 0 {
		reason += "; it comes before " + strings.Join(others, ", ")
	}
	return f, reason + ".", nil
}

func none(problems []string) error {
	text := "no provider of models is found: no key in the environment, no server on this machine"
	if len(problems) > 0 {
		text = "no provider of models can be used: " + strings.Join(problems, "; ")
	}
	var keys []string
	for _, info := range provider.Kinds() {
		if len(info.KeyEnv) > 0 {
			keys = append(keys, info.KeyEnv[0])
		}
	}
	return fault.New(fault.Unavailable, "%s", text).WithCode("NoProvider").
		WithHint("set a key (%s); or start a server such as ollama; or run: agents provider add NAME --kind openai-compatible --base-url URL. agents demo and agents run builtin/command need no model", strings.Join(keys, ", "))
}
