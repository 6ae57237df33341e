package cli

import (
	"fmt"

	"charm.land/lipgloss/v2"
)

// styles paint. Every method escapes what it is given, so that its result is
// safe whatever came in. The zero value paints nothing.
type styles struct{ on bool }

func (s styles) paint(st lipgloss.Style, v any) safe {
	text := toSafe(v)
	if !s.on || text == "" {
		return text
	}
	return safe(st.TabWidth(lipgloss.NoTabConversion).Render(string(text)))
}

func ink(color string) lipgloss.Style { return lipgloss.NewStyle().Foreground(lipgloss.Color(color)) }

func (s styles) bold(v any) safe { return s.paint(lipgloss.NewStyle().Bold(true), v) }
func (s styles) dim(v any) safe  { return s.paint(lipgloss.NewStyle().Faint(true), v) }
func (s styles) good(v any) safe { return s.paint(ink("2"), v) }
func (s styles) bad(v any) safe  { return s.paint(ink("1").Bold(true), v) }
func (s styles) warn(v any) safe { return s.paint(ink("3"), v) }
func (s styles) note(v any) safe { return s.paint(ink("6"), v) }

// toSafe returns v as one harmless line; what is safe already stays as it is.
func toSafe(v any) safe {
	switch v := v.(type) {
	case safe:
		return v
	case nil:
		return ""
	case int, int64, bool:
		return safe(fmt.Sprint(v))
	}
	return escapeLine(fmt.Sprint(v))
}
