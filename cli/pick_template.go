package cli

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"text/template"
	"time"

	"charm.land/lipgloss/v2"
)

// goTemplate is --template, with those functions of gh that make sense without a
// clock and colours: join, pluck, truncate, timefmt, tablerow and tablerender.
type goTemplate struct{ t *template.Template }

// templateName stands in the messages of package template, before the position.
const templateName = "text"

func newTemplate(command, text string) (picker, error) {
	t, err := template.New(templateName).Funcs((&tableOf{}).functions()).Parse(text)
	if err != nil {
		message, offset := templateError(text, err)
		return nil, badExpression(command, "--template", text, offset, message)
	}
	return &goTemplate{t}, nil
}

var templatePlace = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^template: ` + templateName + `:(\d+)(?::(\d+))?: (?s:(.*))$`)
})

// templateError takes the place out of a message of package template: the
// beginning of its line where the message names nothing that stands in it.
func templateError(text string, err error) (message string, offset int) {
	m := templatePlace().FindStringSubmatch(err.Error())
	if m == nil {
		return err.Error(), -1
	}
	line, _ := strconv.Atoi(m[1]) // digits
	for range line - 1 {
		n := strings.IndexByte(text[offset:], '\n')
		if n < 0 {
			return m[3], -1
		}
		offset += n + 1
	}
	if column, cerr := strconv.Atoi(m[2]); cerr == nil {
		return m[3], min(offset+column, len(text))
	}
	if _, rest, ok := strings.Cut(m[3], `"`); ok {
		word, _, _ := strings.Cut(rest, `"`)
		if at := strings.Index(text[offset:], word); at >= 0 {
			offset += at
		}
	}
	return m[3], offset
}

// pick implements picker. A template cannot be told to stop: it ends with the
// next thing that it writes after its time.
func (g *goTemplate) pick(ctx context.Context, v any, w *gate) error {
	table := &tableOf{}
	t, err := g.t.Clone()
	if err != nil {
		return err
	}
	out := &untilDone{ctx, w, nil}
	err = t.Funcs(table.functions()).Execute(out, v)
	switch {
	case out.failed != nil:
		return out.failed
	case err != nil:
		message := err.Error()
		if m := templatePlace().FindStringSubmatch(message); m != nil {
			message = fmt.Sprintf("line %s: %s", m[1], m[3])
		}
		return notForThis("--template", message)
	}
	_, err = io.WriteString(out, table.render())
	return err
}

// untilDone is a writer that refuses after a context has ended.
type untilDone struct {
	ctx    context.Context
	w      io.Writer
	failed error
}

// Write implements io.Writer.
func (u *untilDone) Write(b []byte) (n int, err error) {
	if u.failed = u.ctx.Err(); u.failed == nil {
		n, u.failed = u.w.Write(b)
	}
	return n, u.failed
}

// tableOf collects the rows of tablerow.
type tableOf struct{ rows [][]string }

func (t *tableOf) functions() template.FuncMap {
	return template.FuncMap{
		"join": func(between string, list []any) string {
			var words []string
			for _, v := range list {
				words = append(words, fmt.Sprint(v))
			}
			return strings.Join(words, between)
		},
		"pluck": func(field string, list []any) (out []any) {
			for _, v := range list {
				if m, ok := v.(map[string]any); ok {
					out = append(out, m[field])
				}
			}
			return out
		},
		"truncate": func(width int, v any) string {
			text := fmt.Sprint(v)
			if v == nil {
				text = ""
			}
			if width < 1 || lipgloss.Width(text) <= width {
				return text
			}
			return lipgloss.NewStyle().MaxWidth(width-1).Render(text) + "…"
		},
		"timefmt": func(form, moment string) (string, error) {
			at, err := time.Parse(time.RFC3339, moment)
			return at.Format(form), err
		},
		"tablerow": func(cells ...any) string {
			var row []string
			for _, c := range cells {
				if c == nil {
					c = ""
				}
				row = append(row, string(escapeLine(fmt.Sprint(c))))
			}
			t.rows = append(t.rows, row)
			return ""
		},
		"tablerender": t.render,
	}
}

// render returns the rows so far in aligned columns and forgets them.
func (t *tableOf) render() string {
	var widths []int
	for _, r := range t.rows {
		for i, c := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], lipgloss.Width(c))
		}
	}
	p := &printer{all: true}
	for _, r := range t.rows {
		p.row(r, widths[:len(r)])
	}
	t.rows = nil
	return p.String()
}
