package cli

import (
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
)

const (
	columnGap = 2
	// wordWidth is the longest word that a column is kept wide enough for, as long
	// as others have room to give.
	wordWidth = 24
	// leastColumn is how narrow a column may become before the rows of a table
	// are written one below the other.
	leastColumn = 10
	// cellLines is how many lines a cell may take where not all is asked for.
	cellLines = 3
)

// rows writes a list. Plain has one record a line, the cells separated by tabs;
// table and rich have aligned columns under a header. Where they do not fit the
// terminal, the widest columns become narrower and their cells are wrapped, and
// where even that is not enough every record is written as a block of fields.
func (p *printer) rows(header []string, rows [][]any) { p.table(header, rows, nil) }

// noted is rows whose last column is a note. Where it does not fit beside the
// others it goes below its row, on one line unless all is asked for.
func (p *printer) noted(header []string, rows [][]any) {
	if p.format == Plain || p.fits(header, rows, len(header), p.width) {
		p.rows(header, rows)
		return
	}
	n := len(header) - 1
	notes := make([]string, len(rows))
	short := make([][]any, len(rows))
	for i, r := range rows {
		short[i] = r[:n]
		notes[i] = string(toSafe(r[n]))
	}
	p.table(header[:n], short, notes)
}

// fits reports whether the first n columns of a table need no wrapping, if none
// is counted as wider than most.
func (p *printer) fits(header []string, rows [][]any, n, most int) bool {
	total := columnGap * (n - 1)
	for i := range n {
		w := lipgloss.Width(header[i])
		for _, r := range rows {
			w = max(w, lipgloss.Width(string(toSafe(r[i]))))
		}
		total += min(w, max(most, 0))
	}
	return p.width < 1 || total <= p.width
}

// table writes rows, with a note below each where there are notes.
func (p *printer) table(header []string, rows [][]any, notes []string) {
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
	natural := make([]int, len(header))
	for i, h := range header {
		h = strings.ToUpper(h)
		natural[i] = lipgloss.Width(h)
		lines[0] = append(lines[0], string(p.dim(h)))
	}
	least, words := make([]int, len(header)), make([]int, len(header))
	for i, n := range natural {
		least[i], words[i] = max(n, leastColumn), max(n, leastColumn)
	}
	for _, r := range rows {
		c := cells(r)
		for i := range c {
			natural[i] = max(natural[i], lipgloss.Width(c[i]))
			for word := range strings.FieldsSeq(c[i]) {
				for seg := range segments(word) {
					words[i] = max(words[i], min(lipgloss.Width(seg), wordWidth))
				}
			}
		}
		lines = append(lines, c)
	}
	widths, ok := shrink(natural, words, p.width)
	if !ok {
		widths, ok = shrink(natural, least, p.width)
	}
	if !ok {
		if notes != nil {
			header = append(slices.Clone(header), "note")
			for i := range lines[1:] {
				lines[i+1] = append(lines[i+1], notes[i])
			}
		}
		p.records(header, lines[1:])
		return
	}
	p.row(lines[0], widths)
	if p.format == Rich {
		p.rule(widths)
	}
	for i, l := range lines[1:] {
		p.row(l, widths)
		if notes != nil {
			p.below(notes[i])
		}
	}
}

// below writes the note of a row below it.
func (p *printer) below(text string) {
	if text == "" {
		return
	}
	const indent = "    "
	room := max(p.width-len(indent), leastColumn)
	if !p.all && lipgloss.Width(text) > room {
		text = lipgloss.NewStyle().MaxWidth(room-1).Render(text) + "…"
	}
	p.flow(indent, indent, string(p.dim(safe(text))))
}

// shrink makes the widest columns narrower until all fit into width; 0 is no
// limit. A column that is wider than its least does not get narrower than that;
// the heading, which is never wrapped, is part of it.
func shrink(natural, least []int, width int) (widths []int, ok bool) {
	widths = slices.Clone(natural)
	total := columnGap * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	for ; width > 0 && total > width; total-- {
		widest := -1
		for i, w := range widths {
			if w > least[i] && (widest < 0 || w >= widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return nil, false
		}
		widths[widest]--
	}
	return widths, true
}

// row writes the cells of one record, each wrapped within its column.
func (p *printer) row(cells []string, widths []int) {
	wrapped := make([][]string, len(cells))
	height := 1
	for i, c := range cells {
		wrapped[i] = p.clip(wrap(c, widths[i]), widths[i])
		height = max(height, len(wrapped[i]))
	}
	for y := range height {
		var b strings.Builder
		at := 0
		for i, w := range wrapped {
			if y < len(w) && w[y] != "" {
				b.WriteString(strings.Repeat(" ", at-lipgloss.Width(b.String())) + w[y])
			}
			at += widths[i] + columnGap
		}
		p.WriteString(strings.TrimRight(b.String(), " ") + "\n")
	}
}

// clip keeps the first lines of a cell and says that there were more.
func (p *printer) clip(lines []string, width int) []string {
	if p.all || len(lines) <= cellLines {
		return lines
	}
	lines = lines[:cellLines]
	last := lines[cellLines-1]
	if lipgloss.Width(last) >= width {
		last = lipgloss.NewStyle().MaxWidth(width - 1).Render(last)
	}
	lines[cellLines-1] = last + "…"
	return lines
}

// rule draws a line below each heading.
func (p *printer) rule(widths []int) {
	var parts []string
	for _, w := range widths {
		parts = append(parts, strings.Repeat("─", w))
	}
	p.WriteString(string(p.dim(safe(strings.Join(parts, strings.Repeat(" ", columnGap))))) + "\n")
}

// records writes every record as a block of fields.
func (p *printer) records(header []string, rows [][]string) {
	for i, r := range rows {
		if i > 0 {
			p.printf("")
		}
		for j, c := range r {
			p.field(header[j], safe(c))
		}
	}
}

func cells(row []any) []string {
	out := make([]string, len(row))
	for i, v := range row {
		out[i] = string(toSafe(v))
	}
	return out
}
