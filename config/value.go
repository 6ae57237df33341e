package config

import (
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/policy"
)

// maxValue is the longest value, in bytes.
const maxValue = 4096

// Check returns the value of a text as a person or a variable writes it. The
// error does not repeat a text that looks like a secret.
func (k Key) Check(text string) (string, error) {
	if looksSecret(text) {
		return "", secretFault(k.Name)
	}
	if len(text) > maxValue || strings.ContainsFunc(text, unicode.IsControl) || strings.ContainsRune(text, unicode.ReplacementChar) {
		return "", fault.New(fault.Invalid, "%s: the value is longer than %d bytes, not UTF-8 or has control characters", k.Name, maxValue)
	}
	if k.None && text == None {
		return None, nil
	}
	switch k.Type {
	case Choice:
		if slices.Contains(k.Values, text) {
			return text, nil
		}
	case Word:
		if strings.TrimSpace(text) != "" {
			return text, nil
		}
	case Path:
		if slices.Contains(k.Values, text) || path.IsAbs(text) && path.Clean(text) == text && text != "/" {
			return text, nil
		}
	case Paths:
		ok := func(p string) bool { return path.IsAbs(p) && path.Clean(p) == p && p != "/" }
		if all := strings.Split(text, ":"); !slices.ContainsFunc(all, func(p string) bool { return !ok(p) }) {
			return text, nil
		}
	case Hosts:
		n, err := policy.ParseNetwork(text)
		if err == nil {
			return n.String(), nil
		}
	case Whole:
		n, err := strconv.ParseInt(text, 10, 64)
		if err == nil && k.within(float64(n)) {
			return strconv.FormatInt(n, 10), nil
		}
	case Money:
		n, err := strconv.ParseFloat(text, 64)
		if err == nil && k.within(n) {
			return strconv.FormatFloat(n+0, 'f', -1, 64), nil // + 0 makes -0 a 0
		}
	case Span:
		d, err := time.ParseDuration(text)
		if err == nil && k.within(d.Seconds()) && d%time.Second == 0 {
			return text, nil
		}
	}
	return "", fault.New(fault.Invalid, "%s: %q is not %s", k.Name, text, k.Wants())
}

// within is false for what is not a number, too.
func (k Key) within(n float64) bool { return n >= k.Least && n <= k.Most }

// Wants says what the key takes.
func (k Key) Wants() string {
	number := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
	var s string
	switch k.Type {
	case Choice:
		return "one of " + strings.Join(k.Values, ", ")
	case Word:
		return "a word"
	case Path:
		s = "an absolute path"
		for _, v := range k.Values {
			s += " or " + v
		}
	case Paths:
		s = "absolute paths with colons between them"
	case Hosts:
		s = "none, any, or hosts such as example.org, *.example.org or 192.0.2.1:5432 with commas between them"
	case Whole, Money:
		s = "a whole number"
		if k.Type == Money {
			s = "a number of dollars"
		}
		s += " from " + number(k.Least) + " to " + number(k.Most)
	case Span:
		seconds := func(n float64) string { return shortSpan(time.Duration(n) * time.Second) }
		s = "a time in whole seconds such as 90s or 5m, from " + seconds(k.Least) + " to " + seconds(k.Most)
	}
	if k.None {
		s += " or " + None
	}
	return s
}

// shortSpan is a time without the units that are nothing.
func shortSpan(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// number is a checked value as a number; no limit is more than any.
func (k Key) number(value string) float64 {
	if k.None && value == None {
		return math.Inf(1)
	}
	n, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return math.NaN()
	}
	return n
}

// toml writes a checked value as a file has it.
func (k Key) toml(value string) string {
	if (k.Type == Whole || k.Type == Money) && value != None {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}
