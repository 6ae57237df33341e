package actor

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/tool"
)

// Limits of a graph.
const (
	maxNodes = 500
	maxID    = 64
)

var stateKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`) })

func reservedKeys() []string { return []string{KeyVisits, KeyInput, KeyPerson} }

func toolStatuses() []string {
	return []string{string(tool.OK), string(tool.Failed), string(tool.Refused), string(tool.Exceeded)}
}

// checker looks over the graph of one actor.
type checker struct {
	Config
	ids    map[string]int
	shapes map[string]shape
}

func (c Config) checkGraph() ([]string, error) {
	k := &checker{Config: c, ids: map[string]int{}}
	if key, err := k.checkState(); err != nil {
		return key, err
	}
	if len(c.Graph) > maxNodes {
		return []string{"graph"}, k.bad("%d nodes, at most %d", len(c.Graph), maxNodes)
	}
	for i, n := range c.Graph {
		if key, err := k.checkNode(i, n); err != nil {
			return append([]string{"graph", strconv.Itoa(i)}, key...), err
		}
		k.ids[n.ID] = i
	}
	k.shapes = k.saved()
	for i, n := range c.Graph {
		if key, err := k.checkLinks(n); err != nil {
			return append([]string{"graph", strconv.Itoa(i)}, key...), err
		}
	}
	return k.checkReach()
}

func (k *checker) bad(format string, args ...any) *fault.Error {
	err := fault.New(fault.Invalid, "actor %s: %w", k.Name, fault.New(fault.Invalid, format, args...))
	for _, a := range args {
		if e, ok := a.(error); ok && fault.As(e).Hint != "" {
			err = err.WithHint("%s", fault.As(e).Hint)
		}
	}
	return err
}

func (k *checker) checkState() ([]string, error) {
	for name, key := range k.State {
		switch {
		case slices.Contains(reservedKeys(), name):
			return []string{"state", name}, k.bad("state.%s is there by itself and cannot be declared", name)
		case !stateKey().MatchString(name):
			return []string{"state", name}, k.bad("state %q: a key is a-z, 0-9 and _, starting with a letter", name)
		case key.Reducer != "" && !slices.Contains(Reducers(), key.Reducer):
			return []string{"state", name, "reducer"}, k.bad("state.%s: no reducer %q", name, key.Reducer).WithHint("there are: %v", Reducers())
		}
	}
	return nil, nil
}

// checkNode looks at what a node says of itself.
func (k *checker) checkNode(i int, n Node) ([]string, error) {
	does := 0
	for _, has := range []bool{n.Tool != "", n.Model != nil, n.Actor != ""} {
		if has {
			does++
		}
	}
	if n.ID == "" || n.ID == End || does == 0 {
		return nil, k.bad("node %d needs an id (not %q) and a tool, a model or an actor", i+1, End)
	}
	if first, ok := k.ids[n.ID]; ok {
		return []string{"id"}, k.bad("nodes %d and %d are both called %q", first+1, i+1, n.ID)
	}
	if len(n.ID) > maxID || strings.ContainsAny(n.ID, "/") || strings.ContainsFunc(n.ID, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return []string{"id"}, k.bad("node %q: an id has at most %d characters, none of them / or a control character", n.ID, maxID)
	}
	if does > 1 {
		return []string{"id"}, k.bad("node %s: give one of tool, model and actor", n.ID)
	}
	if n.Model != nil {
		if key, err := n.Model.check(); err != nil {
			return append([]string{"model"}, key...), k.bad("node %s: %w", n.ID, err)
		}
	}
	_, declared := k.State[n.Save]
	switch {
	case n.With != nil && n.Tool == "":
		return []string{"with"}, k.bad("node %s: with belongs to a tool", n.ID)
	case n.Input != "" && n.Tool != "":
		return []string{"input"}, k.bad("node %s: input belongs to a model or an actor; a tool takes with", n.ID)
	case n.OnError != "" && n.Actor != "":
		return []string{"on_error"}, k.bad("node %s: on_error belongs to a tool or a model", n.ID)
	case n.Interrupt != "" && n.Interrupt != Before && n.Interrupt != After:
		return []string{"interrupt"}, k.bad("node %s: interrupt %q is not before or after", n.ID, n.Interrupt)
	case n.OnReject != "" && n.Interrupt == "":
		return []string{"on_reject"}, k.bad("node %s: on_reject needs an interrupt", n.ID)
	case n.Save != "" && !declared:
		return []string{"save"}, k.bad("node %s saves state.%s, which is not declared", n.ID, n.Save).
			WithHint("add it: state: {%s: {reducer: last}}", n.Save)
	}
	return nil, nil
}

// saved is what each key of the state can hold, as its nodes and its reducer
// make it.
func (k *checker) saved() map[string]shape {
	out := map[string]shape{KeyInput: textual, KeyPerson: textual}
	for name := range k.State {
		out[name] = anything
	}
	first := map[string]bool{}
	for _, n := range k.Graph {
		if n.Save == "" {
			continue
		}
		s := anything // of another actor, which may be anything
		switch {
		case n.Tool != "":
			s = outcome
		case n.Model != nil:
			s = textual
		}
		if first[n.Save] && out[n.Save] != s {
			s = anything
		}
		out[n.Save], first[n.Save] = s, true
	}
	for name, key := range k.State {
		switch {
		case key.Reducer == Append:
			out[name] = list
		case key.Reducer == Merge:
			out[name] = mapping
		case key.Reducer.isNumber():
			out[name] = numeric
		}
	}
	return out
}

// checkLinks looks at where a node leads to and what it looks at.
func (k *checker) checkLinks(n Node) ([]string, error) {
	for _, to := range []struct{ key, node string }{{"next", n.Next}, {"on_error", n.OnError}, {"on_reject", n.OnReject}} {
		if to.node != "" && !k.isTarget(to.node) {
			return []string{to.key}, k.gone(n, to.node)
		}
	}
	for i, e := range n.Edges {
		key := []string{"edges", strconv.Itoa(i)}
		last := i == len(n.Edges)-1
		switch {
		case e.To == "":
			return key, k.bad("node %s: edge %d leads nowhere: it needs a to", n.ID, i+1)
		case !k.isTarget(e.To):
			return append(key, "to"), k.gone(n, e.To)
		case len(e.When) == 0 && !last:
			return key, k.bad("node %s: edge %d always holds, so what comes after it never counts", n.ID, i+1)
		case len(e.When) == 0 && n.Next != "":
			return []string{"next"}, k.bad("node %s: its last edge always holds, so next never counts", n.ID)
		case len(e.When) > 0 && last && n.Next == "":
			return key, k.bad("node %s gets stuck where no edge holds: end the edges with one that has no when, or add next", n.ID)
		}
		for path, cond := range e.When {
			s, err := k.shapeOf(path)
			if err == nil {
				err = checkCondition(cond, s)
			}
			if err != nil {
				return append(key, "when", path), k.bad("node %s: %s: %w", n.ID, path, err)
			}
		}
	}
	for _, text := range []struct {
		key string
		v   any
	}{{"input", n.Input}, {"with", mapOrNil(n.With)}} {
		var wrong error
		err := names(text.v, func(name string) {
			if _, err := k.shapeOf(name); strings.HasPrefix(name, pathPrefix) && err != nil && wrong == nil {
				wrong = fault.New(fault.Invalid, "{{%s}}: %w", name, err)
			}
		})
		if err == nil {
			err = wrong
		}
		if err != nil {
			return []string{text.key}, k.bad("node %s: %w", n.ID, err)
		}
	}
	return nil, nil
}

func mapOrNil(m map[string]any) any {
	if m == nil {
		return nil
	}
	return m
}

func (k *checker) isTarget(id string) bool {
	_, ok := k.ids[id]
	return ok || id == End
}

func (k *checker) gone(n Node, to string) error {
	var have []string
	for _, n := range k.Graph {
		have = append(have, n.ID)
	}
	return k.bad("node %s goes to %q, which is not a node", n.ID, to).WithHint("nodes: %s, %s", strings.Join(have, ", "), End)
}

// shapeOf returns what a path leads to; one that leads nowhere is an error.
func (k *checker) shapeOf(path string) (shape, error) {
	rest, ok := strings.CutPrefix(path, pathPrefix)
	if !ok {
		return 0, fault.New(fault.Invalid, "a path begins with %s", pathPrefix)
	}
	key, field, deeper := strings.Cut(rest, ".")
	if key == KeyVisits {
		if _, ok := k.ids[field]; !ok {
			return 0, fault.New(fault.Invalid, "there is no node %q", field)
		}
		return numeric, nil
	}
	s, ok := k.shapes[key]
	if !ok {
		have := reservedKeys()
		for name := range k.State {
			have = append(have, name)
		}
		slices.Sort(have)
		return 0, fault.New(fault.Invalid, "the state has no %q", key).WithHint("it has: %s", strings.Join(have, ", "))
	}
	if !deeper || s == anything {
		return s, nil
	}
	switch s {
	case mapping:
		return anything, nil
	case outcome:
		switch field {
		case FieldStatus:
			return statuses, nil
		case FieldExit:
			return numeric, nil
		case FieldOutput, FieldBlob:
			return textual, nil
		}
		return 0, fault.New(fault.Invalid, "what a tool saves has no %q", field).
			WithHint("it has: %s, %s, %s, %s", FieldStatus, FieldExit, FieldOutput, FieldBlob)
	}
	return 0, fault.New(fault.Invalid, "state.%s is %s and has no %q", key, s, field)
}

// Arrow is one way from a node to another; Why says when it is taken.
type Arrow struct {
	From, To, Why string
}

// Arrows returns every way through the graph, in the order of its nodes.
func (c Config) Arrows() []Arrow {
	var out []Arrow
	for i, n := range c.Graph {
		add := func(to, why string) { out = append(out, Arrow{n.ID, to, why}) }
		if n.Enter != "" {
			add(n.Enter, "")
			if n.OnReject != "" {
				add(n.OnReject, "rejected")
			}
			continue
		}
		for _, e := range n.Edges {
			add(e.To, e.text())
		}
		always := len(n.Edges) > 0 && len(n.Edges[len(n.Edges)-1].When) == 0
		why := ""
		if len(n.Edges) > 0 {
			why = "else"
		}
		switch {
		case always:
		case n.Next != "":
			add(n.Next, why)
		case i+1 < len(c.Graph):
			add(c.Graph[i+1].ID, why)
		default:
			add(End, why)
		}
		if n.OnError != "" {
			add(n.OnError, "error")
		}
		if n.OnReject != "" {
			add(n.OnReject, "rejected")
		}
	}
	return out
}

// checkReach refuses nodes that no way leads to, and nodes from which no way
// leads to the end.
func (k *checker) checkReach() ([]string, error) {
	next, back := map[string][]string{}, map[string][]string{}
	for _, a := range k.Arrows() {
		next[a.From] = append(next[a.From], a.To)
		back[a.To] = append(back[a.To], a.From)
	}
	reached, ending := spread(k.Graph[0].ID, next), spread(End, back)
	for i, n := range k.Graph {
		key := []string{"graph", strconv.Itoa(i)}
		if !reached[n.ID] {
			return key, k.bad("node %s is never reached", n.ID)
		}
	}
	for _, n := range k.Graph {
		if !ending[n.ID] {
			way := circle(n.ID, next)
			return []string{"graph", strconv.Itoa(k.ids[way[0]])},
				k.bad("a cycle without exit: %s", strings.Join(way, " -> ")).
					WithHint("lead one of its nodes to %s, with a condition such as state.visits.%s: {at_least: 5}", End, way[0])
		}
	}
	return nil, nil
}

func spread(from string, next map[string][]string) map[string]bool {
	seen, queue := map[string]bool{from: true}, []string{from}
	for i := 0; i < len(queue); i++ {
		for _, to := range next[queue[i]] {
			if !seen[to] {
				seen[to] = true
				queue = append(queue, to)
			}
		}
	}
	return seen
}

// circle is a way from a node that comes back to one of its own.
func circle(from string, next map[string][]string) []string {
	path := []string{from}
	for {
		to := next[path[len(path)-1]][0]
		if i := slices.Index(path, to); i >= 0 {
			return append(path[i:], to)
		}
		path = append(path, to)
	}
}
