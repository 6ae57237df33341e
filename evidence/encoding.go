package evidence

import (
	"bytes"
	"unicode/utf8"
)

// Encoding is how the bytes of a span come from the text of its part.
type Encoding string

// The encodings. Each is what some JSON writer does with every string it
// writes; a span whose bytes follow none of them carries its bytes.
const (
	EncodedJSON Encoding = "json"      // only what RFC 8259 asks to be escaped
	EncodedJS   Encoding = "json+js"   // U+2028 and U+2029 too
	EncodedHTML Encoding = "json+html" // and <, > and & too, as encoding/json does by default
	EncodedText Encoding = "text"      // the text itself, which is JSON
	EncodedRaw  Encoding = "raw"       // the bytes are in the span
)

const hexDigits = "0123456789abcdef"

// append adds text in the encoding to dst. A text that is not UTF-8 is added
// as it is where JSON cannot say it. ok is false for an unknown encoding and
// for EncodedRaw.
func (e Encoding) append(dst []byte, text string) (out []byte, ok bool) {
	switch e {
	case EncodedText:
		return append(dst, text...), true
	case EncodedJSON, EncodedJS, EncodedHTML:
	default:
		return dst, false
	}
	js, html := e != EncodedJSON, e == EncodedHTML
	done := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(text[i:])
			if js && (r == '\u2028' || r == '\u2029') {
				dst = append(dst, text[done:i]...)
				dst = append(dst, `\u202`...)
				dst = append(dst, hexDigits[r&0xf])
				done = i + n
			}
			i += n
			continue
		}
		if c >= 0x20 && c != '"' && c != '\\' && (!html || c != '<' && c != '>' && c != '&') {
			i++
			continue
		}
		dst = append(dst, text[done:i]...)
		dst = appendEscape(dst, c)
		i++
		done = i
	}
	return append(dst, text[done:]...), true
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
}

// encodingOf returns the encoding by which text starts raw, the inside of a
// JSON string that decodes to a string starting with text, and how many bytes
// of raw that is. First is tried first: one body has one writer. Buf is
// scratch space.
func encodingOf(raw []byte, text string, first Encoding, buf *[]byte) (Encoding, int) {
	for _, e := range [...]Encoding{first, EncodedJSON, EncodedJS, EncodedHTML} {
		var ok bool
		if *buf, ok = e.append((*buf)[:0], text); ok && bytes.HasPrefix(raw, *buf) {
			return e, len(*buf)
		}
	}
	return EncodedRaw, rawLen(raw, len(text))
}

// rawLen returns how many bytes of raw, the inside of a valid JSON string,
// decode to its first n bytes; n is at the end of a character.
func rawLen(raw []byte, n int) int {
	at := 0
	for n > 0 && at < len(raw) {
		if raw[at] != '\\' {
			at++
			n--
			continue
		}
		if raw[at+1] != 'u' {
			at += 2
			n--
			continue
		}
		r := hex4(raw[at+2:])
		at += 6
		if r >= 0xd800 && r < 0xdc00 { // the low half follows: the string is valid
			at += 6
			r = 0x10000
		}
		n -= utf8.RuneLen(r)
	}
	return at
}

func hex4(b []byte) (r rune) {
	for _, c := range b[:4] {
		r <<= 4
		switch {
		case c >= 'a':
			r |= rune(c - 'a' + 10)
		case c >= 'A':
			r |= rune(c - 'A' + 10)
		default:
			r |= rune(c - '0')
		}
	}
	return r
}
