package cli

import (
	"slices"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"pgregory.net/rapid"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"", 10, ""},
		{"one two", 0, "one two"},
		{"one two three", 7, "one two|three"},
		{"one  two three", 8, "one  two|three"},
		{"a verylongword b", 6, "a|verylo|ngword|b"},
		{"verylongword", 5, "veryl|ongwo|rd"},
		{"don't break --no-input here", 14, "don't break|--no-input|here"},
		{"local/a-name of", 8, "local/a-|name of"},
		{"a/verylongword/b", 6, "a/|verylo|ngword|/b"},
		{"世界 世界", 5, "世界|世界"},
	} {
		if got := strings.Join(wrap(c.text, c.width), "|"); got != c.want {
			t.Errorf("wrap(%q, %d) = %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

// A colour never reaches over the end of a line: what stands before the next
// line must not be painted.
func TestWrapColours(t *testing.T) {
	st := styles{on: true}
	lines := wrap(string(st.bad("one two three four")), 9)
	if len(lines) != 3 {
		t.Fatalf("%q", lines)
	}
	for _, l := range lines {
		if !strings.HasPrefix(l, "\x1b[") || !strings.HasSuffix(l, "m") || strings.HasSuffix(l, "31m") {
			t.Errorf("%q is not painted on its own", l)
		}
	}
}

// TestWrapKeepsEverything: no line is too long and no letter is lost.
func TestWrapKeepsEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-zé世/ -]{0,80}`).Draw(t, "text")
		width := rapid.IntRange(2, 40).Draw(t, "width")
		lines := wrap(text, width)
		for _, l := range lines {
			if lipgloss.Width(l) > width {
				t.Fatalf("%q is wider than %d", l, width)
			}
		}
		squeeze := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if got := squeeze(strings.Join(lines, "")); got != squeeze(text) {
			t.Fatalf("%q became %q", text, lines)
		}
	})
}

func TestReflow(t *testing.T) {
	const text = "One two\nthree.\n\n  as it is here\nFour five\nsix."
	if got, want := reflow(text, 11), "One two\nthree.\n\n  as it is here\nFour five\nsix."; got != want {
		t.Errorf("%q", got)
	}
	if got, want := reflow(text, 40), "One two three.\n\n  as it is here\nFour five six."; got != want {
		t.Errorf("%q", got)
	}
}

// long makes every word of the samples longer than it would be.
const long = "a rather long sentence about something that was found, and a/path/that/goes/on/and/on.go"

// TestEverythingFits: what is drawn for a terminal fits it, but for what a
// person copies and the lines of a diff.
func TestEverythingFits(t *testing.T) {
	for method, args := range readers() {
		if slices.Contains([]string{"plan/diff", "approval/show", "checkpoint/show", "checkpoint/diff"}, method) {
			continue // the lines of a diff stay as they are
		}
		list := answers()
		for m, a := range list {
			list[m] = poisoned(a, long)
		}
		for _, width := range []int{44, 80, 120} {
			w := newWorld(list).terminal()
			w.env.Width = width
			w.run(args...)
			for line := range strings.Lines(w.out.String()) {
				if n := lipgloss.Width(strings.TrimSuffix(line, "\n")); n > width && !strings.Contains(line, "next:") && !strings.Contains(line, "fix:") {
					t.Errorf("%s: %d columns of %d: %q", method, n, width, line)
				}
			}
		}
	}
}

// TestHelpFits: so do the pages of help, but for the examples.
func TestHelpFits(t *testing.T) {
	pages := [][]string{{"help"}, {"plan"}}
	for _, c := range leaves(t) {
		pages = append(pages, append(strings.Fields(c.CommandPath())[1:], "--help"))
	}
	for _, topic := range topics() {
		pages = append(pages, []string{"help", topic.name})
	}
	for _, args := range pages {
		for _, width := range []int{80, 120} {
			w := newWorld(nil).terminal()
			w.env.Width = width
			w.want(t, 0, args...)
			for line := range strings.Lines(w.out.String()) {
				if n := lipgloss.Width(strings.TrimSuffix(line, "\n")); n > width && !strings.HasPrefix(line, "  agents ") {
					t.Errorf("%v: %d columns of %d: %q", args, n, width, line)
				}
			}
		}
	}
}

func TestTableNarrow(t *testing.T) {
	list := answers()
	list["plan/list"] = poisoned(list["plan/list"], long)
	w := newWorld(list).terminal()
	var all strings.Builder
	for _, width := range []int{100, 50} {
		w.env.Width = width
		w.want(t, 0, "--color=never", "plan", "list")
		all.WriteString(w.out.String() + "\n")
	}
	w.want(t, 0, "--color=never", "plan", "list", "--wide")
	if strings.Contains(w.out.String(), "…") || strings.Count(w.out.String(), "\n") != 4 {
		t.Errorf("--wide cuts or wraps:\n%s", &w.out)
	}
	golden(t, "table_narrow", all.String())
}
