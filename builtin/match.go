package builtin

import (
	"sort"
	"strings"

	"github.com/cleveragents/agents/fault"
)

// region is the bytes start to end of a text and what takes their place.
type region struct {
	start, end int
	text       string
}

// maxRegions bounds what replace_all replaces.
const maxRegions = 100_000

// replacement finds where old is in text and says what to put there. First it
// is looked for as it is, with line endings alike; when it is not there, by
// lines without the white space around them, and then it must be in exactly
// one place. Loose tells that the second way found it.
func replacement(text, old, new string, all bool) (regions []region, loose bool, err error) {
	spans := exact(text, old, all)
	switch {
	case len(spans) > maxRegions:
		return nil, false, fault.New(fault.Exhausted, "old is found more than %d times", maxRegions)
	case len(spans) > 1 && !all:
		return nil, false, ambiguous(text, spans, "old is found in more than one place")
	case len(spans) > 0:
		for i := range spans {
			spans[i].text = withEnding(new, endingAt(text, spans[i].start, spans[i].end))
		}
		return spans, false, nil
	}
	spans = loosely(text, old)
	switch len(spans) {
	case 0:
		return nil, false, fault.New(fault.NotFound, "old is not in the file").WithHint("%s", nearest(text, old))
	case 1:
		r := spans[0]
		r.text = rewrite(text[r.start:r.end], toLF(old), toLF(new), endingAt(text, r.start, r.end))
		if toLF(new) == "" {
			r.end = endOfLine(text, r.end)
		}
		return []region{r}, true, nil
	}
	return nil, false, ambiguous(text, spans, "old is not in the file as it is; with other white space it is found in more than one place")
}

// exact finds old in text where \r\n counts as \n. For all the places do not
// overlap; otherwise overlapping ones are counted too, since either could be
// meant.
func exact(text, old string, all bool) []region {
	old = toLF(old)
	flat, cuts := flatten(text)
	var found []region
	for at := 0; at <= len(flat) && len(found) <= maxRegions; {
		i := strings.Index(flat[at:], old)
		if i < 0 {
			break
		}
		start := at + i
		found = append(found, region{start: unflat(cuts, start), end: unflat(cuts, start+len(old))})
		at = start + 1
		if all {
			at = start + len(old)
		}
	}
	return found
}

// flatten makes every ending of text \n and returns where in the result an \r
// was taken out.
func flatten(text string) (string, []int) {
	var cuts []int
	for from := 0; ; {
		i := strings.Index(text[from:], "\r\n")
		if i < 0 {
			break
		}
		cuts = append(cuts, from+i-len(cuts))
		from += i + 2
	}
	return toLF(text), cuts
}

// unflat turns an offset of the flat text into one of the text. An offset in
// front of \n is in front of its \r.
func unflat(cuts []int, at int) int { return at + sort.SearchInts(cuts, at) }

// endingAt is the line ending that new lines take: that of the first line of
// the region, else of the line it is in, else of the line before.
func endingAt(text string, start, end int) string {
	i := strings.IndexByte(text[start:], '\n')
	if i >= 0 {
		i += start
	} else {
		i = strings.LastIndexByte(text[:start], '\n')
	}
	if i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// endOfLine is the offset after the ending of the line that ends at.
func endOfLine(text string, at int) int {
	switch {
	case strings.HasPrefix(text[at:], "\r\n"):
		return at + 2
	case strings.HasPrefix(text[at:], "\n"):
		return at + 1
	}
	return at
}

// loosely finds runs of whole lines that equal those of old without the white
// space around each. A region ends before the ending of its last line. More
// than six are not looked for.
func loosely(text, old string) []region {
	want := trimLines(splitOld(old))
	if strings.Trim(want, "\n") == "" {
		return nil
	}
	lines := linesOf(text)
	parts := make([]string, len(lines))
	for i, l := range lines {
		parts[i] = text[l.start:l.end]
	}
	hay := trimLines(parts)
	count := strings.Count(want, "\n") - 1
	var found []region
	for at, n := 0, 0; len(found) < 6; {
		i := strings.Index(hay[at:], want)
		if i < 0 {
			break
		}
		n += strings.Count(hay[at:at+i], "\n")
		found = append(found, region{start: lines[n].start, end: lines[n+count-1].end})
		at += i + 1
		n++
	}
	return found
}

// splitOld returns the lines of an old text; one line break at its end ends
// the last line and begins no other.
func splitOld(old string) []string {
	return strings.Split(strings.TrimSuffix(toLF(old), "\n"), "\n")
}

// trimLines joins the trimmed lines so that whole lines can be searched for:
// one \n before each and one at the end.
func trimLines(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteByte('\n')
		b.WriteString(strings.TrimSpace(l))
	}
	b.WriteByte('\n')
	return b.String()
}

// ambiguous names the places, so that the caller can add context to one.
func ambiguous(text string, spans []region, msg string) error {
	lines := linesOf(text)
	var b strings.Builder
	for i, s := range spans {
		if i == 5 {
			b.WriteString("\n… and more")
			break
		}
		n := lineAt(text, s.start)
		b.WriteString("\n" + numbered(text, lines, n, n))
	}
	return fault.New(fault.Conflict, "%s", msg).
		WithHint("add lines around it to old until it is only one of these, or set replace_all:%s", b.String())
}

// splice puts the regions, in order and apart, into text.
func splice(text string, regions []region) string {
	var b strings.Builder
	at := 0
	for _, r := range regions {
		b.WriteString(text[at:r.start])
		b.WriteString(r.text)
		at = r.end
	}
	b.WriteString(text[at:])
	return b.String()
}
