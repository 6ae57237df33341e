package actor

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/cleveragents/agents/fault"
)

// Conditions are data. Under a path stands a value, which means that it equals,
// or a mapping of matchers, all of which have to hold:
//
//	state.test.status: ok
//	state.visits.code: {at_least: 2, at_most: 4}
//	state.test.output: {matches: "(?m)^FAIL"}
//
// What is not there equals nothing and matches nothing.

// The matchers.
const (
	matchEquals  = "equals"
	matchIn      = "in"
	matchNot     = "not"
	matchLeast   = "at_least"
	matchMost    = "at_most"
	matchMatches = "matches"
	matchExists  = "exists"
)

func matchers() []string {
	return []string{matchEquals, matchIn, matchNot, matchLeast, matchMost, matchMatches, matchExists}
}

// holds reports whether every condition of the edge holds.
func (e Edge) holds(s State, scope string) bool {
	for path, cond := range e.When {
		v, ok := s.Lookup(scope, path)
		if !holds(cond, v, ok) {
			return false
		}
	}
	return true
}

func holds(cond, v any, has bool) bool {
	m, ok := cond.(map[string]any)
	if !ok {
		return has && same(cond, v)
	}
	for name, arg := range m {
		if !matcherHolds(name, arg, v, has) {
			return false
		}
	}
	return true
}

func matcherHolds(name string, arg, v any, has bool) bool {
	switch name {
	case matchEquals:
		return has && same(arg, v)
	case matchIn:
		return has && among(arg, v)
	case matchNot:
		if _, list := arg.([]any); list {
			return !has || !among(arg, v)
		}
		return !has || !same(arg, v)
	case matchLeast, matchMost:
		bound, ok := number(arg)
		n, is := size(v)
		if !has || !ok || !is {
			return false
		}
		if name == matchLeast {
			return n >= bound
		}
		return n <= bound
	case matchMatches:
		text, ok := v.(string)
		expr, is := arg.(string)
		if !has || !ok || !is {
			return false
		}
		re, err := regexp.Compile(expr)
		return err == nil && re.MatchString(text)
	case matchExists:
		return arg == has
	}
	return false
}

// size is a number, or how many entries a list has.
func size(v any) (float64, bool) {
	if list, ok := v.([]any); ok {
		return float64(len(list)), true
	}
	return number(v)
}

// same compares a value of the configuration with one of the state: numbers by
// value, however they were written.
func same(a, b any) bool {
	x, isX := number(a)
	y, isY := number(b)
	if isX || isY {
		return isX && isY && x == y
	}
	switch a := a.(type) {
	case string:
		b, ok := b.(string)
		return ok && a == b
	case bool:
		b, ok := b.(bool)
		return ok && a == b
	}
	return false
}

func among(list, v any) bool {
	all, _ := list.([]any)
	return slices.ContainsFunc(all, func(e any) bool { return same(e, v) })
}

// shape is what a path of the state can lead to.
type shape int

const (
	anything shape = iota
	textual
	numeric
	list
	mapping  // of any fields
	outcome  // of a tool
	statuses // of a tool
)

func (s shape) String() string {
	return [...]string{"anything", "a text", "a number", "a list", "a mapping", "what a tool saved", "a status"}[s]
}

// checkCondition says what is wrong with a condition on something of a shape.
func checkCondition(cond any, s shape) error {
	m, ok := cond.(map[string]any)
	if !ok {
		return checkMatcher(matchEquals, cond, s)
	}
	if len(m) == 0 {
		return fault.New(fault.Invalid, "the condition is empty").WithHint("matchers: %s", strings.Join(matchers(), ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(matchers(), name) {
			return fault.New(fault.Invalid, "unknown matcher %q", name).WithHint("matchers: %s", strings.Join(matchers(), ", "))
		}
		if err := checkMatcher(name, m[name], s); err != nil {
			return err
		}
	}
	return nil
}

func checkMatcher(name string, arg any, s shape) error {
	switch name {
	case matchExists:
		if _, ok := arg.(bool); !ok {
			return fault.New(fault.Invalid, "exists takes true or false, not %v", arg)
		}
		return nil
	case matchLeast, matchMost:
		if _, ok := number(arg); !ok {
			return fault.New(fault.Invalid, "%s takes a number, not %v", name, arg)
		}
		return fits(name, s, numeric, list)
	case matchMatches:
		expr, ok := arg.(string)
		if !ok {
			return fault.New(fault.Invalid, "matches takes a regular expression, not %v", arg)
		}
		if _, err := regexp.Compile(expr); err != nil {
			return fault.New(fault.Invalid, "matches: %w", err)
		}
		return fits(name, s, textual, statuses)
	}
	all, isList := arg.([]any)
	switch {
	case name == matchIn && !isList:
		return fault.New(fault.Invalid, "in takes a list, not %v", arg)
	case name == matchEquals && isList:
		return fault.New(fault.Invalid, "a list is not a value to compare with").WithHint("{in: [...]} holds for one of several")
	case !isList:
		all = []any{arg}
	}
	for _, v := range all {
		if err := comparable(name, v, s); err != nil {
			return err
		}
	}
	return nil
}

// fits refuses a matcher on what it can never match.
func fits(name string, s shape, want ...shape) error {
	if s == anything || slices.Contains(want, s) {
		return nil
	}
	return fault.New(fault.Invalid, "%s does not apply to %s", name, s)
}

// comparable refuses a value that what is compared can never equal.
func comparable(name string, v any, s shape) error {
	_, isNumber := number(v)
	text, isText := v.(string)
	_, isBool := v.(bool)
	switch {
	case !isNumber && !isText && !isBool:
		return fault.New(fault.Invalid, "%v is not a text, a number, true or false", v)
	case s == list || s == mapping || s == outcome:
		return fault.New(fault.Invalid, "%s does not apply to %s", name, s)
	case s == numeric && !isNumber, (s == textual || s == statuses) && !isText:
		return fault.New(fault.Invalid, "%v cannot equal %s", v, s)
	case s == statuses && !slices.Contains(toolStatuses(), text):
		return fault.New(fault.Invalid, "no tool ends %q", text).WithHint("it ends %s", fmt.Sprint(strings.Join(toolStatuses(), ", ")))
	}
	return nil
}
