package builtin

import (
	"fmt"
	"strings"
)

// The bounds of the look for the nearest region: comparisons of lines, and
// bytes that they look at.
const (
	maxCompare = 4_000_000
	maxBytes   = 256 << 20
)

// nearest shows the lines of text that are most like old, with their numbers.
func nearest(text, old string) string {
	lines, want := linesOf(text), splitOld(old)
	if len(lines) == 0 {
		return "the file is empty"
	}
	best, at := 0.0, 0
	want = want[:min(len(want), max(1, maxCompare/len(lines)), max(1, maxBytes/len(text)))]
	for j := range want {
		want[j] = strings.TrimSpace(want[j])
	}
	have := make([]string, len(lines))
	for i, l := range lines {
		have[i] = strings.TrimSpace(text[l.start:l.end])
	}
	for i := range have {
		score := 0.0
		for j := 0; j < len(want) && i+j < len(have); j++ {
			score += likeness(have[i+j], want[j])
		}
		if score > best {
			best, at = score, i
		}
	}
	if best/float64(len(want)) < 0.3 {
		return "nothing in the file is like it; read the file again"
	}
	first := max(at-1, 0)
	last := min(at+len(want)+1, len(lines), first+30)
	return "the nearest lines are:\n" + numbered(text, lines, first+1, last)
}

// likeness is 1 for equal lines and otherwise the share of them that is the
// same at both ends.
func likeness(a, b string) float64 {
	switch {
	case a == b && a == "":
		return 0.1
	case a == b:
		return 1
	case a == "" || b == "":
		return 0
	}
	short, top, bottom := min(len(a), len(b)), 0, 0
	for top < short && a[top] == b[top] {
		top++
	}
	for bottom < short-top && a[len(a)-1-bottom] == b[len(b)-1-bottom] {
		bottom++
	}
	return float64(top+bottom) / float64(max(len(a), len(b)))
}

// maxLine is the length after which a line is cut when it is shown.
const maxLine = 2000

// numbered shows the lines first to last, counted from 1, the way read does.
func numbered(text string, lines []line, first, last int) string {
	var b strings.Builder
	for n := first; n <= last && n <= len(lines); n++ {
		if n > first {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%6d\t%s", n, shortLine(text[lines[n-1].start:lines[n-1].end], maxLine))
	}
	return b.String()
}

func shortLine(s string, n int) string {
	if len(s) <= n {
		return valid(s)
	}
	cut := runeStart([]byte(s), n)
	return fmt.Sprintf("%s [%d more bytes in this line]", valid(s[:cut]), len(s)-cut)
}
