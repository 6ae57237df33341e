package cli

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
)

// printer writes a result for people. Whatever it is given is escaped unless
// it is of type safe.
type printer struct {
	bytes.Buffer
	styles
	format Format    // Rich, Plain or Table
	width  int       // lines are wrapped at; 0 is nowhere
	wide   bool      // whole ids and the columns that are seldom wanted
	all    bool      // long lists and long cells are shown whole
	now    time.Time // zero: moments are shown as they are
}

// printf writes one line and wraps it. Only %s, %v and number verbs make sense:
// arguments other than numbers are turned into safe text first.
func (p *printer) printf(format string, args ...any) {
	text := strings.TrimRight(fmt.Sprintf(format, safeArgs(args)...), " ")
	rest := strings.TrimLeft(text, " ")
	indent := text[:len(text)-len(rest)]
	p.flow(indent, indent+"  ", rest)
}

// exact is printf for what a person copies: it is never wrapped.
func (p *printer) exact(format string, args ...any) {
	p.WriteString(strings.TrimRight(fmt.Sprintf(format, safeArgs(args)...), " ") + "\n")
}

// flow writes a text that may take several lines: what stands before the first
// of them and before the others does not count as text.
func (p *printer) flow(first, others, text string) {
	if p.width < 1 {
		p.WriteString(strings.TrimRight(first+text, " ") + "\n")
		return
	}
	room := max(p.width-max(lipgloss.Width(first), lipgloss.Width(others)), leastColumn)
	for i, line := range wrap(text, room) {
		if i > 0 {
			first = others
		}
		p.WriteString(strings.TrimRight(first+line, " ") + "\n")
	}
}

func safeArgs(args []any) []any {
	out := make([]any, len(args))
	for i, v := range args {
		switch v.(type) {
		case int, int64, float64:
			out[i] = v
		default:
			out[i] = string(toSafe(v))
		}
	}
	return out
}

// fieldWidth is where the values of fields begin.
const fieldWidth = 15

// field writes "name: value" and leaves out an empty value.
func (p *printer) field(name string, value any) {
	v := toSafe(value)
	if v == "" {
		return
	}
	if name != "" {
		name += ":"
	}
	head := string(p.dim(fmt.Sprintf("%-*s", fieldWidth-1, name)))
	if p.width > 0 && lipgloss.Width(head) >= fieldWidth {
		p.flow("", "", head)
		head = strings.Repeat(" ", fieldWidth-1)
	}
	p.flow(head+" ", strings.Repeat(" ", fieldWidth), string(v))
}

// block writes a text of several lines under a title.
func (p *printer) block(title, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	p.printf("%s", p.dim(title+":"))
	for line := range strings.Lines(string(escapeText(text))) {
		p.flow("  ", "  ", strings.TrimSuffix(line, "\n"))
	}
}

// shownFiles is how many files of a long list are shown where not all are asked
// for.
const shownFiles = 20

// shown is how many of so many files to show. Plain is for pipes and shows all.
func (p *printer) shown(files int) int {
	if p.all || p.format == Plain {
		return files
	}
	return min(files, shownFiles)
}

// moreFiles says how many files are not shown.
func (p *printer) moreFiles(n int) {
	if n > 0 {
		p.printf("%s", p.dim(fmt.Sprintf("… and %s (-v or --wide shows all)", plural(n, "more file"))))
	}
}

// short is an id beside a name: its end, or with --wide all of it.
func (p *printer) short(id string) string {
	if p.wide {
		return id
	}
	return shortID(id)
}

// timeForm is how people are shown a moment.
const timeForm = "2006-01-02 15:04:05Z"

// when is a moment as it is shown: how long ago on a terminal.
func (p *printer) when(t time.Time) string {
	if p.format != Rich || p.wide || p.now.IsZero() || t.IsZero() {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format(timeForm)
	}
	return ago(p.now.Sub(t))
}

// ago is a length of time for people.
func ago(d time.Duration) string {
	switch {
	case d < -time.Minute:
		return "later" // the clock went back
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	case d < 60*24*time.Hour:
		return fmt.Sprintf("%dd ago", int(d.Hours()/24))
	}
	return fmt.Sprintf("%d months ago", int(d.Hours()/24/30))
}

// moment reads a moment of an answer; one that is none is the zero time.
func moment(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}
	}
	return t
}

// shortID returns the end of a ULID, which is what tells ids apart and is
// accepted wherever an id is.
func shortID[T ~string](id T) string {
	const letters = 8
	if len(id) <= letters {
		return string(id)
	}
	return string(id[len(id)-letters:])
}

// plural returns "1 file" or "3 files".
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func itoa(n int) string { return strconv.Itoa(n) }

// padded fills s with blanks to n letters.
func padded(s string, n int) string { return s + strings.Repeat(" ", max(n-len(s), 0)) }
