package provider

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The letters of names. They are looked at by hand: compiled patterns with
// counts would cost every start of the program half a millisecond.
const (
	lower = "abcdefghijklmnopqrstuvwxyz"
	upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digit = "0123456789"
)

// made reports whether s is not empty and of these letters only.
func made(s, letters string) bool {
	return s != "" && strings.Trim(s, letters) == ""
}

func isProvider(s string) bool {
	return made(s, lower+digit+"-") && len(s) <= 40 && strings.Contains(lower, s[:1]) && !strings.HasSuffix(s, "-")
}

func isVariable(s string) bool {
	return made(s, lower+upper+digit+"_") && len(s) <= 128 && !strings.Contains(digit, s[:1])
}

// isRegion takes names such as eu-central-1 and us-gov-west-1.
func isRegion(s string) bool {
	parts := strings.Split(s, "-")
	n := len(parts)
	if n < 3 || n > 5 || len(parts[0]) < 2 || len(parts[0]) > 3 || len(parts[n-1]) > 2 || !made(parts[n-1], digit) {
		return false
	}
	for _, p := range parts[:n-1] {
		if !made(p, lower) {
			return false
		}
	}
	return len(s) <= 40
}

func isControl(r rune) bool { return unicode.IsControl(r) || r == utf8.RuneError }

// quote returns s in quotes, cut where nobody reads on.
func quote(s string) string { return strconv.Quote(cut(s)) }

func cut(s string) string {
	if len(s) > 80 {
		return strings.ToValidUTF8(s[:80], "") + "…"
	}
	return s
}
