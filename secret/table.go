package secret

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
)

// table holds every spelling of the known keys, sorted, so that a search walks
// along the text and narrows a range of lines.
type table struct {
	lines []spelling
	first [256]bool // how a spelling can begin
}

type spelling struct{ text, name string }

func newTable(keys []Key) *table {
	t := &table{}
	for _, k := range keys {
		v := k.Reveal()
		if len(v) < MinRedacted {
			continue
		}
		for _, f := range forms(v) {
			t.lines = append(t.lines, spelling{f, k.Name()})
			t.first[f[0]] = true
		}
	}
	slices.SortStableFunc(t.lines, func(a, b spelling) int { return cmp.Compare(a.text, b.text) })
	t.lines = slices.CompactFunc(t.lines, func(a, b spelling) bool { return a.text == b.text })
	return t
}

var percent = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`%[0-9A-F]{2}`) })

// forms returns the spellings of a key.
func forms(v string) []string {
	out := []string{v}
	for _, u := range []string{url.QueryEscape(v), url.PathEscape(v)} {
		out = append(out, u, percent().ReplaceAllStringFunc(u, strings.ToLower))
	}
	if j, err := json.Marshal(v); err == nil {
		html := string(j[1 : len(j)-1])
		plain := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(html)
		out = append(out, html, plain)
	}
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		whole := e.EncodeToString([]byte(v))
		out = append(out, whole, strings.TrimRight(whole, "="))
		// In a longer text three bytes make four letters, and which three depends
		// on what stands before: what is the same in all is in the middle.
		for skip := range 3 {
			inner := v[skip:]
			out = append(out, e.EncodeToString([]byte(inner[:len(inner)/3*3])))
		}
	}
	return out
}

// touches reports whether any letter of s can begin a key.
func (t *table) touches(s string) bool {
	for i := range len(s) {
		if t.first[s[i]] {
			return true
		}
	}
	return false
}

// scan returns b with the keys replaced and how many bytes of b it decided on:
// all when final, else all but an end that may be the beginning of a key. Cover
// is how many of the first bytes belong to a key that was replaced before; the
// one that is returned counts from the undecided bytes on.
func (t *table) scan(b []byte, cover int, final bool) (out []byte, used, left int) {
	out = make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if t.first[b[i]] {
			n, name, more := t.longest(b[i:])
			if more && !final {
				return out, i, cover
			}
			if n > 0 && cover == 0 {
				out = append(out, mark(name)...)
			}
			cover = max(cover, n)
		}
		if cover > 0 {
			cover--
			continue
		}
		out = append(out, b[i])
	}
	return out, len(b), cover
}

// longest returns the longest spelling that b begins with, and whether b is too
// short to tell.
func (t *table) longest(b []byte) (n int, name string, more bool) {
	lo, hi := 0, len(t.lines)
	for at := 0; lo < hi; at++ {
		if len(t.lines[lo].text) == at { // the shortest of a range comes first
			n, name = at, t.lines[lo].name
			if lo++; lo == hi {
				break
			}
		}
		if at == len(b) {
			return n, name, true
		}
		part := t.lines[lo:hi]
		from := sort.Search(len(part), func(i int) bool { return part[i].text[at] >= b[at] })
		to := sort.Search(len(part), func(i int) bool { return part[i].text[at] > b[at] })
		lo, hi = lo+from, lo+to
	}
	return n, name, false
}
