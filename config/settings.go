package config

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/policy"
)

// Settings are the values of all keys with what each layer says. The zero value
// is the defaults.
type Settings struct {
	said map[string][]Entry // by key, weakest first
}

// Over returns the settings with more entries laid over them, each as its layer
// says.
func (s Settings) Over(more ...Entry) Settings {
	out := Settings{maps.Clone(s.said)}
	if out.said == nil {
		out.said = map[string][]Entry{}
	}
	for _, e := range more {
		all := append(slices.Clone(out.said[e.Key]), e)
		slices.SortStableFunc(all, func(a, b Entry) int { return int(a.Origin.Layer - b.Origin.Layer) })
		out.said[e.Key] = all
	}
	return out
}

// Narrow returns the settings with the entries of one or more files that came
// with a project. Each has to be lower than or the same as what the layers below
// say; of several, the lowest counts.
func (s Settings) Narrow(files ...[]Entry) (Settings, error) {
	lowest := map[string]Entry{}
	for _, e := range slices.Concat(files...) {
		k, ok := Find(e.Key)
		if !ok || !k.May(Tree) {
			return s, fault.New(fault.Invalid, "%s: the files of a project may not set %s", e.Origin, e.Key)
		}
		below := Entry{Value: k.Default}
		for _, b := range s.said[e.Key] {
			if b.Origin.Layer < Tree {
				below = b
			}
		}
		if !(k.number(e.Value) <= k.number(below.Value)) {
			return s, fault.New(fault.Invalid, "%s: %s: %s is more than %s (%s), and the files of a project may only lower it",
				e.Origin, e.Key, e.Value, below.Value, below.Origin).WithCode("ConfigDenied")
		}
		if old, ok := lowest[e.Key]; !ok || k.number(e.Value) < k.number(old.Value) {
			lowest[e.Key] = e
		}
	}
	return s.Over(slices.Collect(maps.Values(lowest))...), nil
}

// All returns what the layers say about a key, weakest first, the default left
// out.
func (s Settings) All(key string) []Entry { return slices.Clone(s.said[key]) }

// Entry returns the value that counts.
func (s Settings) Entry(key string) Entry {
	if all := s.said[key]; len(all) > 0 {
		return all[len(all)-1]
	}
	k, _ := Find(key)
	return Entry{Key: key, Value: k.Default}
}

// Text returns the value that counts as text.
func (s Settings) Text(key string) string { return s.Entry(key).Value }

// Of returns what that layer says about a key, "" for nothing.
func (s Settings) Of(l Layer, key string) string {
	out := ""
	for _, e := range s.said[key] {
		if e.Origin.Layer == l {
			out = e.Value
		}
	}
	return out
}

// Limit returns a number, and false where there is no limit.
func (s Settings) Limit(key string) (float64, bool) {
	n, err := strconv.ParseFloat(s.Text(key), 64)
	return n, err == nil
}

// Whole returns a whole number; 0 where there is none.
func (s Settings) Whole(key string) int {
	n, _ := strconv.Atoi(s.Text(key)) // checked when it was said
	return n
}

// Paths returns a list of paths; nil where there is none.
func (s Settings) Paths(key string) []string {
	if text := s.Text(key); text != "" && text != None {
		return strings.Split(text, ":")
	}
	return nil
}

// Network returns what may be reached; nothing where nothing is said.
func (s Settings) Network(key string) policy.Network {
	n, err := policy.ParseNetwork(s.Text(key))
	if err != nil {
		return policy.Network{} // checked when it was said
	}
	return n
}

// Span returns a time; 0 where there is none.
func (s Settings) Span(key string) time.Duration {
	d, _ := time.ParseDuration(s.Text(key)) // checked when it was said
	return d
}

// EnvPrefix is how the name of a variable that sets a key begins.
const EnvPrefix = "AGENTS_CFG_"

// EnvName is the variable that sets a key: dots are two underscores, and a
// hyphen is one.
func EnvName(key string) string {
	return EnvPrefix + strings.NewReplacer(".", "__", "-", "_").Replace(key)
}

// FromEnv returns what the environment says. Getenv reads the variables that
// keys have of their own, which are stronger; vars are all that begin with
// EnvPrefix. An empty variable says nothing.
func FromEnv(getenv func(string) string, vars map[string]string) ([]Entry, []error) {
	var out []Entry
	var errs []error
	byVar := map[string]Key{}
	say := func(k Key, name, value string) {
		checked, err := k.Check(value)
		if err == nil && !k.May(Env) {
			err = k.refuseLayer(Env)
		}
		if err != nil {
			errs = append(errs, fault.New(fault.Invalid, "environment %s: %w", name, err))
			return
		}
		out = append(out, Entry{k.Name, checked, Origin{Layer: Env, Name: name}})
	}
	for _, k := range Keys() {
		byVar[EnvName(k.Name)] = k
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if vars[name] == "" {
			continue
		}
		k, ok := byVar[EnvPrefix+strings.ToLower(strings.TrimPrefix(name, EnvPrefix))]
		if !ok {
			rest := strings.ReplaceAll(strings.TrimPrefix(name, EnvPrefix), "__", ".")
			errs = append(errs, fault.New(fault.Invalid, "environment %s: %w", clip(name), Unknown(rest)))
			continue
		}
		say(k, name, vars[name])
	}
	for _, k := range Keys() {
		if k.Env == "" || getenv == nil {
			continue
		}
		if value := getenv(k.Env); value != "" {
			if k.EnvSays != "" {
				value = k.EnvSays
			}
			say(k, k.Env, value)
		}
	}
	return out, errs
}

// Load returns what the person's file and the environment say. What is wrong is
// in the error, and the settings hold the rest.
func Load(file string, data []byte, getenv func(string) string, vars map[string]string) (Settings, error) {
	entries, err := Parse(file, data, User)
	env, errs := FromEnv(getenv, vars)
	if err == nil && len(errs) > 0 {
		err = errs[0]
	}
	return Settings{}.Over(entries...).Over(env...), err
}
