package actor

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cleveragents/agents/fault"
)

// Key declares one part of a graph's state and how a new value is put to the
// one that is there.
type Key struct {
	Reducer Reducer `json:"reducer" yaml:"reducer,omitempty"` // absent means Last
}

// Reducer makes one value of an old and a new one.
type Reducer string

// The reducers.
const (
	Last   Reducer = "last"   // the new one
	Append Reducer = "append" // a list, the new one at its end
	Merge  Reducer = "merge"  // a mapping: what the new one names is replaced
	Sum    Reducer = "sum"
	Max    Reducer = "max"
	Min    Reducer = "min"
)

// Reducers returns all of them.
func Reducers() []Reducer { return []Reducer{Last, Append, Merge, Sum, Max, Min} }

func (r Reducer) isNumber() bool { return r == Sum || r == Max || r == Min }

// The keys of the state that every graph has.
const (
	KeyVisits = "visits" // how often each node was entered
	KeyInput  = "input"  // what the actor was told when it was entered
	KeyPerson = "person" // the last guidance of a person
)

// State is what the nodes of a graph saved, and how often each was entered.
type State struct {
	Visits map[string]int `json:"visits"`
	Vars   map[string]any `json:"vars"`
}

// maxList bounds the entries of an Append key.
const maxList = 1000

// Reduce returns the state with v saved under scope+key. The state itself is
// left as it is. A value that the reducer cannot take is fault.Invalid.
func (s State) Reduce(scope, key string, r Reducer, v any) (State, error) {
	old, has := s.Vars[scope+key]
	out, err := reduce(r, old, has, v)
	if err != nil {
		return s, fault.New(fault.Invalid, "state.%s: %w", key, err)
	}
	return s.Set(scope+key, out), nil
}

// Set returns the state with v under the full key.
func (s State) Set(key string, v any) State {
	vars := maps.Clone(s.Vars)
	if vars == nil {
		vars = map[string]any{}
	}
	vars[key] = v
	return State{Visits: s.Visits, Vars: vars}
}

// Forget returns the state without what belongs to that scope.
func (s State) Forget(scope string) State {
	out := State{Visits: maps.Clone(s.Visits), Vars: maps.Clone(s.Vars)}
	maps.DeleteFunc(out.Visits, func(k string, _ int) bool { return strings.HasPrefix(k, scope) })
	maps.DeleteFunc(out.Vars, func(k string, _ any) bool { return strings.HasPrefix(k, scope) })
	return out
}

// Of returns what is saved in a scope itself, without the actors inlined in it.
func (s State) Of(scope string) map[string]any {
	out := map[string]any{}
	for k, v := range s.Vars {
		if name, ok := strings.CutPrefix(k, scope); ok && !strings.Contains(name, "/") && name != KeyInput {
			out[name] = v
		}
	}
	return out
}

func reduce(r Reducer, old any, has bool, v any) (any, error) {
	switch r {
	case "", Last:
		return v, nil
	case Append:
		list, _ := old.([]any)
		if len(list) >= maxList {
			return nil, fault.New(fault.Exhausted, "it holds %d entries already", maxList)
		}
		return append(slices.Clone(list), v), nil
	case Merge:
		add, err := object(v)
		if err != nil {
			return nil, err
		}
		out := map[string]any{}
		if was, ok := old.(map[string]any); ok {
			maps.Copy(out, was)
		}
		maps.Copy(out, add)
		return out, nil
	}
	n, err := parseNumber(v)
	if err != nil {
		return nil, err
	}
	was, ok := number(old)
	switch {
	case !has || !ok:
		return n, nil
	case r == Sum:
		return was + n, nil
	case r == Max:
		return max(was, n), nil
	case r == Min:
		return min(was, n), nil
	}
	return nil, fault.New(fault.Invalid, "no reducer %q", r)
}

// object takes a mapping, or a text that is a JSON object, as a model answers.
func object(v any) (map[string]any, error) {
	switch v := v.(type) {
	case map[string]any:
		return v, nil
	case string:
		var out map[string]any
		d := json.NewDecoder(strings.NewReader(v))
		d.UseNumber()
		if err := d.Decode(&out); err == nil && out != nil && !d.More() {
			return out, nil
		}
		return nil, fault.New(fault.Invalid, "%.80q is not a JSON object, which merge takes", v)
	}
	return nil, fault.New(fault.Invalid, "%.80v is not a mapping, which merge takes", v)
}

// parseNumber takes a number, a text that is one, or what a tool that printed
// one saved.
func parseNumber(v any) (float64, error) {
	if m, ok := v.(map[string]any); ok {
		v = m[FieldOutput]
	}
	if n, ok := number(v); ok {
		return n, nil
	}
	if s, ok := v.(string); ok {
		if n, err := strconv.ParseFloat(strings.TrimSpace(s), 64); err == nil && n-n == 0 {
			return n, nil
		}
	}
	return 0, fault.New(fault.Invalid, "%.80q is not a number", fmt.Sprint(v))
}

// number reads what YAML, JSON and this package make of a number.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	case float64:
		return v, v-v == 0
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	}
	return 0, false
}

// The fields of what a tool saves.
const (
	FieldStatus = "status"
	FieldExit   = "exit"
	FieldOutput = "output" // clipped
	FieldBlob   = "blob"   // the hash of the whole output
)

// pathPrefix begins a path into the state.
const pathPrefix = "state."

// Lookup returns what a path such as state.test.status leads to in a scope.
func (s State) Lookup(scope, path string) (any, bool) {
	rest, ok := strings.CutPrefix(path, pathPrefix)
	if !ok {
		return nil, false
	}
	key, field, deeper := strings.Cut(rest, ".")
	if key == KeyVisits {
		n := s.Visits[scope+field]
		return n, deeper
	}
	v, ok := s.Vars[scope+key]
	for ok && deeper {
		key, field, deeper = strings.Cut(field, ".")
		var m map[string]any
		if m, ok = v.(map[string]any); ok {
			v, ok = m[key]
		}
	}
	return v, ok && v != nil
}

// Text returns what a path leads to as a text: "" where there is nothing, JSON
// where it is neither a text nor a number.
func (s State) Text(scope, path string) string {
	v, ok := s.Lookup(scope, path)
	if !ok {
		return ""
	}
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case int, bool, json.Number:
		return fmt.Sprint(v)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// Values adds the paths of the state, as a scope sees it, to other values.
func (s State) Values(scope string, others map[string]string) Values {
	return func(name string) (string, bool) {
		if strings.HasPrefix(name, pathPrefix) {
			return s.Text(scope, name), true
		}
		v, ok := others[name]
		return v, ok
	}
}
