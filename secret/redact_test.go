package secret_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cleveragents/agents/secret"
)

// T31: a key in text that came from elsewhere, in each of its spellings.
func TestRedact(t *testing.T) {
	const odd = `a+b/c="d<e&f>\g%h`
	r := secret.NewRedactor(key(t, "ONE", canary), key(t, "TWO", odd), key(t, "SAME", canary), key(t, "SHORT", "ollama"))
	j, err := json.Marshal(odd)
	if err != nil {
		t.Fatal(err)
	}
	std, in := base64.StdEncoding.EncodeToString, base64.URLEncoding.WithPadding(base64.NoPadding).EncodeToString
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"nothing to see, sk-canar", "nothing to see, sk-canar"},
		{"the model ollama", "the model ollama"},
		{canary, "[redacted ONE]"},
		{"a" + canary + canary + "b", "a[redacted ONE][redacted ONE]b"},
		{"Bearer " + canary + "\n", "Bearer [redacted ONE]\n"},
		{"sk-sk-canary-0123456789", "sk-[redacted ONE]"},
		{odd, "[redacted TWO]"},
		{"?key=" + url.QueryEscape(odd) + "&a", "?key=[redacted TWO]&a"},
		{"/" + url.PathEscape(odd) + "/", "/[redacted TWO]/"},
		{strings.ToLower(url.QueryEscape(odd)), "[redacted TWO]"},
		{string(j), `"[redacted TWO]"`},
		{`"a+b/c=\"d<e&f>\\g%h"`, `"[redacted TWO]"`},
		{std([]byte(canary)), "[redacted ONE]"},
		{in([]byte(canary)) + ".", "[redacted ONE]."},
	} {
		if got := r.Text(c.text); got != c.want {
			t.Errorf("%q\ngot  %q\nwant %q", c.text, got, c.want)
		}
	}
	r = secret.NewRedactor(key(t, "ONE", "abcdefgh1234"), key(t, "TWO", "1234stuvwxyz"))
	if got := r.Text("<abcdefgh1234stuvwxyz>"); got != "<[redacted ONE]>" {
		t.Errorf("two keys that overlap: %q", got)
	}
	r = secret.NewRedactor()
	if got := r.Text(canary); got != canary {
		t.Errorf("without keys: %q", got)
	}
	var b strings.Builder
	w := r.Writer(&b)
	r.Add(key(t, "LATE", canary))
	write(t, w, canary)
	if err := w.Close(); err != nil || b.String() != "[redacted LATE]" || r.Text(canary) != b.String() {
		t.Errorf("a key that was added: %q, %v", b.String(), err)
	}
}

func write(t interface{ Fatal(...any) }, w *secret.Writer, s string) {
	if n, err := w.Write([]byte(s)); err != nil || n != len(s) {
		t.Fatal(n, err)
	}
}

// What cannot be part of a key is not held back.
func TestWriterPassesOn(t *testing.T) {
	var b strings.Builder
	w := secret.NewRedactor(key(t, "ONE", canary)).Writer(&b)
	for _, step := range []struct{ in, want string }{
		{"hello, ", "hello, "},
		{"it is sk-canary-01234", "hello, it is "},
		{"56", "hello, it is "},
		{"x", "hello, it is sk-canary-0123456x"},
		{"sk-canary-0123456789", "hello, it is sk-canary-0123456x[redacted ONE]"},
		{"sk-", "hello, it is sk-canary-0123456x[redacted ONE]"},
	} {
		write(t, w, step.in)
		if b.String() != step.want {
			t.Fatalf("after %q: got %q, want %q", step.in, b.String(), step.want)
		}
	}
	if err := w.Close(); err != nil || !strings.HasSuffix(b.String(), "sk-") {
		t.Errorf("at the end: %q, %v", b.String(), err)
	}
	bad := secret.NewRedactor().Writer(full{})
	if _, err := bad.Write([]byte("x")); err == nil {
		t.Error("the error of the writer below is lost")
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space") }

// T31: no key is in what comes out, however keys overlap and wherever the text
// is cut; what holds no key comes out as it was.
func TestRedactProperty(t *testing.T) {
	base64Run := regexp.MustCompile(`[A-Za-z0-9+/_-]{8,}`)
	rapid.Check(t, func(rt *rapid.T) {
		letters := rapid.SampledFrom([]string{"[ab]{8,12}", "[a-d%+]{8,20}", `[A-Za-z0-9_/+="\\<-]{8,40}`}).Draw(rt, "letters")
		values := rapid.SliceOfN(rapid.StringMatching(letters), 1, 4).Draw(rt, "keys")
		var keys []secret.Key
		for _, v := range values {
			keys = append(keys, key(t, "K", v))
		}
		r := secret.NewRedactor(keys...)

		var text strings.Builder
		for range rapid.IntRange(0, 12).Draw(rt, "parts") {
			v := rapid.SampledFrom(values).Draw(rt, "v")
			switch rapid.IntRange(0, 6).Draw(rt, "what") {
			case 0:
				text.WriteString(v)
			case 1:
				text.WriteString(v[:rapid.IntRange(0, len(v)).Draw(rt, "cut")])
			case 2:
				text.WriteString(v[rapid.IntRange(0, len(v)).Draw(rt, "cut"):])
			case 3:
				text.WriteString(url.QueryEscape(v))
			case 4:
				before, after := rapid.StringN(0, 4, 4).Draw(rt, "before"), rapid.StringN(0, 4, 4).Draw(rt, "after")
				e := rapid.SampledFrom([]*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding}).Draw(rt, "e")
				text.WriteString(" " + e.EncodeToString([]byte(before+v+after)) + " ")
			case 5:
				text.WriteString(rapid.StringMatching(letters).Draw(rt, "like"))
			default:
				text.WriteString(rapid.StringMatching(`[ a-z\n]{0,9}`).Draw(rt, "other"))
			}
		}
		s := text.String()
		got := r.Text(s)
		for _, v := range values {
			for _, f := range []string{v, url.QueryEscape(v), base64.StdEncoding.EncodeToString([]byte(v))} {
				if strings.Contains(got, f) {
					rt.Fatalf("%q holds the key %q", got, f)
				}
			}
			for _, run := range base64Run.FindAllString(strings.NewReplacer("-", "+", "_", "/").Replace(got), -1) {
				for skip := range 4 {
					part := run[min(skip, len(run)):]
					b, err := base64.RawStdEncoding.DecodeString(part[:len(part)/4*4])
					if err == nil && strings.Contains(string(b), v) {
						rt.Fatalf("%q holds the key %q in base64", got, v)
					}
				}
			}
		}
		if !strings.Contains(got, "[redacted K]") && got != s {
			rt.Fatalf("nothing was redacted, yet %q became %q", s, got)
		}

		var b strings.Builder
		w := r.Writer(&b)
		for rest := s; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(rt, "n")
			write(rt, w, rest[:n])
			rest = rest[n:]
			for _, v := range values {
				if strings.Contains(b.String(), v) {
					rt.Fatalf("the writer let %q through: %q", v, b.String())
				}
			}
		}
		if err := w.Close(); err != nil || b.String() != got {
			rt.Fatalf("in pieces %q, whole %q, %v", b.String(), got, err)
		}
	})
}

func FuzzRedact(f *testing.F) {
	f.Add(canary, "a"+canary, 3)
	f.Add("abababab", "abababababababababababab", 5)
	f.Fuzz(func(t *testing.T, value, text string, cut int) {
		if len(value) < secret.MinRedacted || len(value) > 200 || strings.ContainsAny(value, "[]") || strings.Contains("redacted", value) ||
			strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
			t.Skip()
		}
		r := secret.NewRedactor(key(t, "K", value))
		got := r.Text(text)
		if strings.Contains(got, value) {
			t.Errorf("%q holds %q", got, value)
		}
		var b strings.Builder
		w := r.Writer(&b)
		at := max(0, min(cut, len(text)))
		write(t, w, text[:at])
		write(t, w, text[at:])
		if err := w.Close(); err != nil || b.String() != got {
			t.Errorf("in pieces %q, whole %q, %v", b.String(), got, err)
		}
	})
}

func BenchmarkRedact(b *testing.B) {
	r := secret.NewRedactor(key(b, "ONE", canary), key(b, "TWO", "AIzaSyCanary0123456789abcdefghijklmnopq"))
	text := strings.Repeat("some output of a tool, with its lines and words\n", 2000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if len(r.Text(text)) != len(text) {
			b.Fatal("changed")
		}
	}
}
