package decode

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/cleveragents/agents/fault"
)

// The bounds of a YAML text beside its size. The library needs some 200 bytes
// for a node and compares every key of a mapping with every other one, so the
// size alone bounds neither memory nor time.
const (
	MaxMarks = 40_000    // bytes that can begin a node
	MaxNodes = 100_000   // nodes, an alias counted as often as it is used
	MaxDepth = 1_000     // nesting
	maxPairs = 4_000_000 // comparisons of keys
)

// checkText refuses what is wrong with the bytes: encoding, control characters,
// directives, and more entries than memory should hold.
func checkText(file string, data []byte) error {
	line, marks, start := 1, 0, true
	refuse := func(text string) error { return fault.New(fault.Invalid, "%s:%d: %s", file, line, text) }
	for i := 0; i < len(data); {
		c, size := utf8.DecodeRune(data[i:])
		switch {
		case c == utf8.RuneError && size == 1:
			return refuse("the text is not UTF-8")
		case c < ' ' && c != '\n' && c != '\r' && c != '\t', c >= 0x7f && c < 0xa0 && c != 0x85:
			return refuse("control characters are not accepted")
		case c == '%' && start:
			return refuse("YAML directives are not accepted")
		case c == '[', c == '{', c == ',', c == ':', c == '-', c == '?':
			marks++
		case c == '\n':
			line++
			marks++
		}
		if marks > MaxMarks {
			return fault.New(fault.Invalid, "%s:%d: more than %d entries", file, line, MaxMarks)
		}
		start = c == '\n'
		i += size
	}
	return nil
}

// walk visits the nodes before they are decoded.
type walk struct {
	file         string
	nodes, pairs int
}

func (w *walk) refuse(n *yaml.Node, format string, args ...any) *fault.Error {
	return fault.New(fault.Invalid, "%s:%d: %w", w.file, n.Line, fault.New(fault.Invalid, format, args...))
}

// cost adds up what the decoder will have to do, through aliases, and refuses
// too much of it; and explicit tags, since what a value is follows from its key.
func (w *walk) cost(n *yaml.Node, depth int) error {
	w.nodes++
	if n.Kind == yaml.MappingNode {
		w.pairs += len(n.Content) * len(n.Content) / 8 // half of the square of the keys
	}
	switch {
	case depth > MaxDepth:
		return w.refuse(n, "nested deeper than %d, or an alias inside its own anchor", MaxDepth)
	case w.nodes > MaxNodes:
		return w.refuse(n, "aliases and entries make more than %d values", MaxNodes)
	case w.pairs > maxPairs:
		return w.refuse(n, "too many keys in one mapping")
	case n.Style&yaml.TaggedStyle != 0:
		return w.refuse(n, "the tag %s is not accepted", n.Tag)
	case n.Kind == yaml.AliasNode:
		return w.cost(n.Alias, depth+1)
	}
	for i, c := range n.Content {
		if isMerge(n, i) && !mergeable(n.Content[i+1]) {
			return w.refuse(c, "the key << takes an alias of a mapping, or a list of them")
		}
		if err := w.cost(c, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// fits refuses what the decoder would take although it does not fit: a key that
// the struct does not have, a number with a fraction for a whole one.
func (w *walk) fits(n *yaml.Node, t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Interface {
		return nil
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[ownForm]()) && n.Kind != yaml.DocumentNode {
		return w.own(n, t)
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return w.fits(n.Content[0], t)
	case yaml.AliasNode:
		return w.fits(n.Alias, t)
	case yaml.ScalarNode:
		if t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64 && n.ShortTag() == "!!float" {
			return w.refuse(n, "`%s` is not a whole number", n.Value)
		}
	case yaml.SequenceNode:
		if t.Kind() != reflect.Slice {
			return nil
		}
		for _, c := range n.Content {
			if err := w.fits(c, t.Elem()); err != nil {
				return err
			}
		}
	case yaml.MappingNode:
		return w.mapping(n, t)
	}
	return nil
}

// ownForm is a type that reads its value itself. Its errors name no line, so it
// is tried where the line is known.
type ownForm interface {
	UnmarshalYAML(decode func(any) error) error
}

func (w *walk) own(n *yaml.Node, t reflect.Type) error {
	err := reflect.New(t).Interface().(ownForm).UnmarshalYAML(n.Decode)
	if err == nil {
		return nil
	}
	refused := w.refuse(n, "%s", err.Error())
	if hint := fault.As(err).Hint; hint != "" {
		refused = refused.WithHint("%s", hint)
	}
	return refused
}

func (w *walk) mapping(n *yaml.Node, t reflect.Type) error {
	var fields map[string]reflect.Type
	if t.Kind() == reflect.Struct {
		fields = fieldsOf(t)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		to, known := fields[key.Value]
		switch {
		case isMerge(n, i):
			if err := w.merged(value, t); err != nil {
				return err
			}
			continue
		case t.Kind() == reflect.Map:
			to = t.Elem()
		case fields == nil:
			return nil
		case !known:
			return w.refuse(key, "unknown key %s", quote(key.Value)).
				WithHint("known keys: %s", strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
		}
		if err := w.fits(value, to); err != nil {
			return err
		}
	}
	return nil
}

// merged checks the value of <<: a mapping or a list of them.
func (w *walk) merged(value *yaml.Node, t reflect.Type) error {
	if value.Kind != yaml.SequenceNode {
		return w.fits(value, t)
	}
	for _, c := range value.Content {
		if err := w.fits(c, t); err != nil {
			return err
		}
	}
	return nil
}

// fieldsOf returns the keys of a struct with their types.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if f.IsExported() && name != "-" {
			if name == "" {
				name = strings.ToLower(f.Name)
			}
			out[name] = f.Type
		}
	}
	return out
}

// isMerge reports whether child i of n is the key <<.
func isMerge(n *yaml.Node, i int) bool {
	return n.Kind == yaml.MappingNode && i%2 == 0 && n.Content[i].Tag == "!!merge"
}

// mergeable reports whether the decoder accepts n as the value of <<.
func mergeable(n *yaml.Node) bool {
	if n.Kind == yaml.AliasNode {
		return n.Alias.Kind == yaml.MappingNode
	}
	if n.Kind == yaml.SequenceNode {
		for _, c := range n.Content {
			if c.Kind == yaml.SequenceNode || !mergeable(c) {
				return false
			}
		}
		return true
	}
	return n.Kind == yaml.MappingNode
}
