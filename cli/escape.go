package cli

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// safe is text that can go to a terminal: every control character in it was
// put there by styles.go. Everything else is a string and is escaped on the
// way out.
type safe string

const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

// hidden reports whether r can move, recolour, reorder or hide what a terminal
// shows: control characters, directional and other invisible format characters,
// and the line separators of Unicode. The two joiners stay, since scripts and
// emoji need them.
func hidden(r rune) bool {
	if r < 0x7f {
		return r < 0x20
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) &&
		r != zeroWidthJoiner && r != zeroWidthNonJoiner
}

// escapeText makes s harmless and keeps its lines and tabs: what is hidden is
// spelled out, such as \x1b or \u202e, and a byte that is no UTF-8 as \xff.
func escapeText(s string) safe { return escape(s, true) }

// escapeLine makes s harmless and one line: any run of white space becomes one
// space.
func escapeLine(s string) safe {
	if strings.ContainsAny(s, "\n\t") {
		s = strings.Join(strings.FieldsFunc(s, func(r rune) bool {
			return r == ' ' || r == '\n' || r == '\t'
		}), " ")
	}
	return escape(s, false)
}

func escape(s string, lines bool) safe {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case lines && (r == '\n' || r == '\t'):
			b.WriteByte(byte(r))
		case !hidden(r):
			b.WriteString(s[i : i+n])
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += n
	}
	return safe(b.String())
}

// escapeQuoted spells out what is hidden in a text whose hidden characters all
// stand inside double-quoted strings, as JSON has them: the value of every
// string stays the same. Line breaks between the strings stay.
func escapeQuoted(text []byte) []byte {
	if !strings.ContainsFunc(string(text), func(r rune) bool { return r != '\n' && (r >= 0x7f && hidden(r)) }) {
		return text
	}
	var b strings.Builder
	for _, r := range string(text) {
		switch {
		case r < 0x7f || !hidden(r):
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return []byte(b.String())
}
