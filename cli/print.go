package cli

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"
)

// printer writes a result for people. Whatever it is given is escaped unless
// it is of type safe.
type printer struct {
	bytes.Buffer
	styles
	format Format // Rich, Plain or Table
	width  int
}

// printf writes one line. Only %s, %v and number verbs make sense: arguments
// other than numbers are turned into safe text first.
func (p *printer) printf(format string, args ...any) {
	p.WriteString(strings.TrimRight(fmt.Sprintf(format, safeArgs(args)...), " ") + "\n")
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

// field writes "name: value" and leaves out an empty value.
func (p *printer) field(name string, value any) {
	if v := toSafe(value); v != "" {
		p.printf("%s %s", p.dim(fmt.Sprintf("%-14s", name+":")), v)
	}
}

// block writes a text of several lines under a title.
func (p *printer) block(title, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	p.printf("%s", p.dim(title+":"))
	for line := range strings.Lines(string(escapeText(text))) {
		p.WriteString("  " + strings.TrimSuffix(line, "\n") + "\n")
	}
}

// rows writes a list. Plain has one record a line, the cells separated by tabs;
// table and rich have aligned columns under a header.
func (p *printer) rows(header []string, rows [][]any) {
	if p.format == Plain {
		for _, r := range rows {
			p.WriteString(strings.Join(cells(r), "\t") + "\n")
		}
		return
	}
	if len(rows) == 0 {
		p.printf("%s", p.dim("none"))
		return
	}
	lines := [][]string{nil}
	for _, h := range header {
		lines[0] = append(lines[0], string(p.dim(strings.ToUpper(h))))
	}
	for _, r := range rows {
		lines = append(lines, cells(r))
	}
	widths := make([]int, len(header))
	for _, l := range lines {
		for i, c := range l {
			widths[i] = max(widths[i], lipgloss.Width(c))
		}
	}
	for _, l := range lines {
		var b strings.Builder
		for i, c := range l {
			if i == len(l)-1 {
				b.WriteString(p.fit(c, lipgloss.Width(b.String())))
				break
			}
			b.WriteString(c + strings.Repeat(" ", widths[i]-lipgloss.Width(c)+2))
		}
		p.WriteString(strings.TrimRight(b.String(), " ") + "\n")
	}
}

// fit cuts the last cell of a line at the edge of a terminal.
func (p *printer) fit(c string, used int) string {
	room := p.width - used
	if p.format != Rich || room < 8 || lipgloss.Width(c) <= room {
		return c
	}
	return lipgloss.NewStyle().MaxWidth(room-1).Render(c) + "…"
}

func cells(row []any) []string {
	out := make([]string, len(row))
	for i, v := range row {
		out[i] = string(toSafe(v))
	}
	return out
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
