package builtin

import (
	"strings"
)

// rewrite makes the text of a region that was found loosely. Lines at the
// beginning and end that are the same in old and new are left as they are in
// the file, ending included; the others get the file's indentation.
func rewrite(was, old, new, eol string) string {
	if new == "" {
		return ""
	}
	if strings.HasSuffix(old, "\n") {
		new = strings.TrimSuffix(new, "\n")
	}
	before, after := splitOld(old), strings.Split(new, "\n")
	file := linesOf(was)
	for len(file) < len(before) { // empty last lines, which have no ending in was
		file = append(file, line{len(was), len(was), len(was)})
	}
	top, bottom := same(before, after)
	in := newIndents(was, before, file)
	var b strings.Builder
	for i, text := range after {
		ending := eol
		from := i
		if i >= len(after)-bottom {
			from = i - len(after) + len(before)
		}
		if i < top || i >= len(after)-bottom {
			l := file[from]
			text = was[l.start:l.end]
			if l.next > l.end {
				ending = was[l.end:l.next]
			}
		} else {
			text = in.shift(text)
		}
		b.WriteString(text)
		if i < len(after)-1 {
			b.WriteString(ending)
		}
	}
	return b.String()
}

// same counts the equal lines at both ends, not counting one twice.
func same(a, b []string) (top, bottom int) {
	short := min(len(a), len(b))
	for top < short && a[top] == b[top] {
		top++
	}
	for bottom < short-top && a[len(a)-1-bottom] == b[len(b)-1-bottom] {
		bottom++
	}
	return top, bottom
}

// indents is what the file has where the caller wrote something else.
type indents struct {
	known      map[string]string // indentation of a line of old: that of the file's line
	first      string            // the first of them
	from, to   string            // one step of indentation, as written and as the file has it; "" when unknown
	useTabs    bool
	useTabsSet bool
}

func newIndents(was string, old []string, file []line) indents {
	in := indents{known: map[string]string{}}
	seen := false
	last := ""
	for i, o := range old {
		text := was[file[i].start:file[i].end]
		if strings.TrimSpace(o) == "" {
			continue
		}
		w, f := indentOf(o), indentOf(text)
		if _, ok := in.known[w]; !ok {
			in.known[w] = f
		}
		if !seen {
			in.first, seen = w, true
		} else {
			in.learn(last, w)
		}
		last = w
		if f != "" {
			in.useTabs, in.useTabsSet = strings.Trim(f, "\t") == "", true
		}
	}
	return in
}

// learn takes one step of indentation from two neighbouring depths.
func (in *indents) learn(a, b string) {
	if len(a) > len(b) {
		a, b = b, a
	}
	fa, fb := in.known[a], in.known[b]
	if in.from == "" && len(b) > len(a) && strings.HasPrefix(b, a) && len(fb) > len(fa) && strings.HasPrefix(fb, fa) {
		in.from, in.to = b[len(a):], fb[len(fa):]
	}
}

// shift gives a new line the file's indentation: that of the longest known
// indentation it begins with, and the rest of its own in the file's steps.
func (in indents) shift(text string) string {
	w := indentOf(text)
	if strings.TrimSpace(text) == "" {
		return text
	}
	rest := text[len(w):]
	best, ok := "", false
	for k := range in.known {
		if strings.HasPrefix(w, k) && (!ok || len(k) > len(best)) {
			best, ok = k, true
		}
	}
	if ok {
		return in.known[best] + in.steps(w[len(best):]) + rest
	}
	// Less deep than every line of old: keep the distance to its first line.
	have := in.known[in.first]
	switch {
	case strings.HasSuffix(have, in.first):
		return have[:len(have)-len(in.first)] + w + rest
	case strings.HasPrefix(in.first, w):
		less := in.steps(in.first[len(w):])
		return strings.TrimSuffix(have, less) + rest
	}
	return text
}

// steps writes extra indentation the way the file does.
func (in indents) steps(extra string) string {
	if extra == "" {
		return ""
	}
	if in.from != "" {
		out := ""
		for strings.HasPrefix(extra, in.from) {
			out, extra = out+in.to, extra[len(in.from):]
		}
		return out + extra
	}
	switch {
	case in.useTabsSet && in.useTabs && strings.Trim(extra, " ") == "":
		step := 4
		if len(extra)%4 != 0 && len(extra)%2 == 0 {
			step = 2
		}
		return strings.Repeat("\t", len(extra)/step) + extra[:len(extra)%step]
	case in.useTabsSet && !in.useTabs && strings.Trim(extra, "\t") == "":
		return strings.Repeat("    ", len(extra))
	}
	return extra
}

func indentOf(s string) string { return s[:len(s)-len(strings.TrimLeft(s, " \t"))] }
