package builtin

import (
	"bytes"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/cleveragents/agents/fault"
)

// encoding is how the bytes of a text file stand for text.
type encoding int

const (
	plain encoding = iota // UTF-8 or an unknown superset of ASCII; bytes are kept as they are
	utf8Mark
	utf16LE
	utf16BE
)

// String names the encoding where it is worth telling.
func (e encoding) String() string {
	return [...]string{"UTF-8", "UTF-8 with a byte order mark", "UTF-16 little endian", "UTF-16 big endian"}[e]
}

func (e encoding) mark() string { return [...]string{"", "\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"}[e] }

// decodeText returns the text of a file. Not ok means binary: it holds NUL, or
// is UTF-16 that would not come back byte for byte.
func decodeText(b []byte) (text string, enc encoding, ok bool) {
	for _, e := range []encoding{utf8Mark, utf16LE, utf16BE} {
		if rest, found := bytes.CutPrefix(b, []byte(e.mark())); found {
			b, enc = rest, e
			break
		}
	}
	if enc == utf16LE || enc == utf16BE {
		if len(b)%2 != 0 {
			return "", enc, false
		}
		units := make([]uint16, len(b)/2)
		for i := range units {
			units[i] = uint16(b[2*i]) | uint16(b[2*i+1])<<8
			if enc == utf16BE {
				units[i] = bits.ReverseBytes16(units[i])
			}
		}
		runes := utf16.Decode(units)
		if !slices.Equal(utf16.Encode(runes), units) {
			return "", enc, false
		}
		text = string(runes)
	} else {
		text = string(b)
	}
	if strings.ContainsRune(text, 0) {
		return "", enc, false
	}
	return text, enc, true
}

// maxLines is the most lines of a file that is looked at by lines.
const maxLines = 1_000_000

// textOf is decodeText for a file that is worked on by lines; binary is not
// an error.
func textOf(p string, b []byte) (text string, enc encoding, ok bool, err error) {
	text, enc, ok = decodeText(b)
	if n := strings.Count(text, "\n"); n > maxLines {
		return "", enc, false, fault.New(fault.Exhausted, "%s has %d lines; file tools take at most %d", show(p), n, maxLines).
			WithHint("work on it with the shell")
	}
	return text, enc, ok, nil
}

// encode is the inverse of decodeText, mark included.
func (e encoding) encode(text string) []byte {
	if e != utf16LE && e != utf16BE {
		return []byte(e.mark() + text)
	}
	units := utf16.Encode([]rune(text))
	b := make([]byte, 0, 2+2*len(units))
	b = append(b, e.mark()...)
	for _, u := range units {
		b = append16(e, b, u)
	}
	return b
}

func append16(e encoding, b []byte, u uint16) []byte {
	if e == utf16BE {
		return append(b, byte(u>>8), byte(u))
	}
	return append(b, byte(u), byte(u>>8))
}

// line is one line of a text: text[start:end] without its ending, which is
// text[end:next].
type line struct{ start, end, next int }

func linesOf(text string) []line {
	out := make([]line, 0, strings.Count(text, "\n")+1)
	for at := 0; at < len(text); {
		l := line{start: at}
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			l.end, l.next = len(text), len(text)
		} else {
			l.end, l.next = at+i, at+i+1
			if l.end > l.start && text[l.end-1] == '\r' {
				l.end--
			}
		}
		out = append(out, l)
		at = l.next
	}
	return out
}

// endings says which line endings a text has.
func endings(text string) (lf, crlf int) {
	crlf = strings.Count(text, "\r\n")
	return strings.Count(text, "\n") - crlf, crlf
}

// toLF makes every line ending \n.
func toLF(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// withEnding gives every line of s the ending eol.
func withEnding(s, eol string) string { return strings.ReplaceAll(toLF(s), "\n", eol) }

// valid replaces what is not UTF-8, for output that becomes JSON.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// runeStart moves i back to the start of a rune of b.
func runeStart(b []byte, i int) int {
	for back := 0; back < utf8.UTFMax && i-back > 0 && i-back < len(b); back++ {
		if utf8.RuneStart(b[i-back]) {
			return i - back
		}
	}
	return i
}

// clip cuts s to at most n bytes of whole characters and says so.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:runeStart([]byte(s), n)] + "…"
}

// lineAt is the number of the line, from 1, that the byte at is in.
func lineAt(text string, at int) int { return 1 + strings.Count(text[:at], "\n") }
