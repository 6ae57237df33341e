package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

func TestEscape(t *testing.T) {
	for _, c := range []struct{ in, text, line string }{
		{"plain ünïcode 漢字 👩‍🚀", "plain ünïcode 漢字 👩‍🚀", "plain ünïcode 漢字 👩‍🚀"},
		{"a\nb\tc", "a\nb\tc", "a b c"},
		{"\x1b[31mred\x1b]8;;http://x\a", `\x1b[31mred\x1b]8;;http://x\x07`, `\x1b[31mred\x1b]8;;http://x\x07`},
		{"safe\rEVIL", `safe\rEVIL`, `safe\rEVIL`},
		{"\u009b31m", `\u009b31m`, `\u009b31m`},
		{"a\u202eb\u2066c\u200bd\ufeff", `a\u202eb\u2066c\u200bd\ufeff`, `a\u202eb\u2066c\u200bd\ufeff`},
		{"tag \U000e0041", `tag \U000e0041`, `tag \U000e0041`},
		{"x\u2028y\x7f\x00", `x\u2028y\x7f\x00`, `x\u2028y\x7f\x00`},
		{"bad \xff\xfe", `bad \xff\xfe`, `bad \xff\xfe`},
	} {
		if got := string(escapeText(c.in)); got != c.text {
			t.Errorf("escapeText(%q) = %q, want %q", c.in, got, c.text)
		}
		if got := string(escapeLine(c.in)); got != c.line {
			t.Errorf("escapeLine(%q) = %q, want %q", c.in, got, c.line)
		}
	}
}

// harmful reports the first thing in s that a terminal would act on.
func harmful(s string, allowed string) (rune, bool) {
	for _, r := range s {
		if strings.ContainsRune(allowed, r) {
			continue
		}
		if unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) ||
			unicode.Is(unicode.Cf, r) && r != 0x200c && r != 0x200d {
			return r, true
		}
	}
	return 0, false
}

func FuzzEscape(f *testing.F) {
	for _, s := range []string{"", "plain", "\x1b]52;c;aGk=\a", "a\r\nb", "\u202e\u2069", "\xff\x9b1A", "\U000e0001", "\\x1b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text, line := string(escapeText(s)), string(escapeLine(s))
		if r, bad := harmful(text, "\n\t"); bad || !utf8.ValidString(text) {
			t.Errorf("escapeText(%q) = %q leaves %U", s, text, r)
		}
		if r, bad := harmful(line, ""); bad || !utf8.ValidString(line) {
			t.Errorf("escapeLine(%q) = %q leaves %U", s, line, r)
		}
		if again := string(escapeText(text)); again != text {
			t.Errorf("escaping %q twice gives %q", s, again)
		}
		if got := strings.Count(text, "\n"); got != strings.Count(s, "\n") {
			t.Errorf("escapeText(%q) has %d line breaks", s, got)
		}
		wire, err := encodeJSON(map[string]string{"k": s}, true)
		if err != nil {
			t.Fatal(err)
		}
		if r, bad := harmful(string(wire), "\n"); bad {
			t.Errorf("JSON of %q holds %U", s, r)
		}
		var back map[string]string
		if err := json.Unmarshal(wire, &back); err != nil || back["k"] != strings.ToValidUTF8(s, "\ufffd") && utf8.ValidString(s) {
			t.Errorf("JSON of %q reads back as %q, %v", s, back["k"], err)
		}
		doc, err := encodeYAML(map[string]string{"k": s})
		if err != nil {
			t.Fatal(err)
		}
		if r, bad := harmful(string(doc), "\n"); bad {
			t.Errorf("YAML of %q holds %U: %q", s, r, doc)
		}
		back = nil
		if err := yaml.Unmarshal(doc, &back); err != nil || back["k"] != s && utf8.ValidString(s) {
			t.Errorf("YAML of %q reads back as %q, %v\n%s", s, back["k"], err, doc)
		}
	})
}

// A number of no fixed type comes from the store digit by digit, and stays one.
func TestNumbersOfRecordsStayNumbers(t *testing.T) {
	got, err := encodeJSON(map[string]any{"n": json.Number("12345678901234567890.5")}, false)
	if err != nil || string(got) != `{"n":12345678901234567890.5}`+"\n" {
		t.Errorf("got %s, %v", got, err)
	}
	if got, err = encodeYAML(map[string]any{"n": json.Number("3")}); err != nil || string(got) != "n: 3\n" {
		t.Errorf("got %s, %v", got, err)
	}
}
