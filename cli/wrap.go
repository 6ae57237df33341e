package cli

import (
	"iter"
	"strings"

	"charm.land/lipgloss/v2"
)

// wrap cuts a line into lines of at most width columns, between words where it
// can: greedily, keeping the blanks inside a line. A word that is longer than a
// line is cut. Colours end at the end of a line and begin again on the next.
// width < 1 is no limit. The result has at least one line.
func wrap(text string, width int) []string {
	if width < 1 || lipgloss.Width(text) <= width {
		return []string{text}
	}
	var b strings.Builder
	used, gap := 0, ""
	for len(text) > 0 {
		word, rest, _ := strings.Cut(text, " ")
		text = rest
		n := lipgloss.Width(word)
		switch {
		case word == "": // one more blank
		case used+len(gap)+n <= width:
			b.WriteString(gap + word)
			used += len(gap) + n
			gap = ""
		default:
			if b.Len() > 0 {
				b.WriteString("\n")
			}
			used = put(&b, word, n, width)
			gap = ""
		}
		gap += " "
	}
	return strings.Split(closed(b.String()), "\n")
}

// put writes a word at the beginning of a line and returns how many columns of
// the last line it takes.
func put(b *strings.Builder, word string, n, width int) int {
	if n <= width {
		b.WriteString(word)
		return n
	}
	used := 0
	for seg := range segments(word) {
		w := lipgloss.Width(seg)
		switch {
		case used+w <= width:
			b.WriteString(seg)
			used += w
			continue
		case used > 0:
			b.WriteString("\n")
		}
		used = chop(b, seg, width)
	}
	return used
}

// segments are the parts of a word after which it may be cut: names and paths
// are read in such parts.
func segments(word string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(word) > 0 {
			n := strings.IndexAny(word, "/-_,:=") + 1
			if n == 0 {
				n = len(word)
			}
			if !yield(word[:n]) {
				return
			}
			word = word[n:]
		}
	}
}

// chop writes what may be cut anywhere, and returns how many columns of the last
// line it takes.
func chop(b *strings.Builder, word string, width int) int {
	used, paint := 0, false // paint: within a sequence that colours
	for _, r := range word {
		w := 0
		switch {
		case r == '\x1b':
			paint = true
		case paint:
			paint = r != 'm'
		default:
			w = lipgloss.Width(string(r))
		}
		if used+w > width {
			b.WriteString("\n")
			used = 0
		}
		b.WriteRune(r)
		used += w
	}
	return used
}

// closed ends the colours before every line break and begins them again after.
func closed(text string) string {
	if !strings.Contains(text, "\x1b[") {
		return text
	}
	var b strings.Builder
	w := lipgloss.NewWrapWriter(&b)
	_, _ = w.Write([]byte(text)) // a strings.Builder takes everything
	_ = w.Close()
	return b.String()
}

// reflow wraps text of paragraphs. Lines that follow each other become one and
// are wrapped anew; a line that begins with a blank stays as it is.
func reflow(text string, width int) string {
	var out, words []string
	flush := func() {
		if len(words) > 0 {
			out = append(out, wrap(strings.Join(words, " "), width)...)
		}
		words = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || line[0] == ' ' {
			flush()
			out = append(out, line)
			continue
		}
		words = append(words, line)
	}
	flush()
	return strings.Join(out, "\n")
}
