package evidence

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// canonical returns raw as compact JSON with sorted members, its numbers as
// written; ok is false when raw is not one JSON value.
func canonical(raw []byte) (c []byte, ok bool) {
	v := jsontext.Value(append([]byte(nil), raw...))
	err := v.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
	return v, err == nil
}

// sameJSON reports whether two canonical texts are equal but for the notation
// of numbers: 1.50 is 15e-1, but a number that was rounded is another.
func sameJSON(a, b string) bool {
	da, db := jsontext.NewDecoder(bytes.NewBufferString(a)), jsontext.NewDecoder(bytes.NewBufferString(b))
	for {
		ta, erra := da.ReadToken()
		if erra != nil {
			_, errb := db.ReadToken()
			return errb != nil // both ended: they are valid
		}
		kind, text := ta.Kind(), ta.String() // the next read takes it away
		tb, errb := db.ReadToken()
		if errb != nil || tb.Kind() != kind {
			return false
		}
		if text != tb.String() && (kind != '0' || decimal(text) != decimal(tb.String())) {
			return false
		}
	}
}

// number is the decimal value 0.digits × 10^exp, digits without zeros around.
type number struct {
	minus  bool
	digits string
	exp    int
}

// decimal reads a JSON number. One whose exponent is past all reason stays as
// it is written, and so equals itself alone.
func decimal(text string) number {
	n := number{}
	rest, minus := strings.CutPrefix(text, "-")
	n.minus = minus
	mantissa, exp := rest, ""
	if i := strings.IndexAny(rest, "eE"); i >= 0 {
		mantissa, exp = rest[:i], rest[i+1:]
		e, err := strconv.ParseInt(exp, 10, 32)
		if err != nil {
			return number{digits: text}
		}
		n.exp = int(e)
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	n.exp += len(whole)
	digits := whole + fraction
	n.digits = strings.TrimLeft(digits, "0")
	n.exp -= len(digits) - len(n.digits)
	if n.digits = strings.TrimRight(n.digits, "0"); n.digits == "" {
		return number{} // zero has no sign and no exponent
	}
	return n
}
