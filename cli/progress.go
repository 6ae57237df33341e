package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"charm.land/lipgloss/v2"

	"github.com/cleveragents/agents/plan"
)

// progress shows the events of a running plan. For people it is one line an
// event on standard error; on a terminal the last line there is what is going
// on right now and is written over. With jsonl every event is a line on
// standard output. Safe for concurrent use.
type progress struct {
	mu      sync.Mutex
	w       io.Writer
	events  io.Writer // jsonl goes here, or nil
	silent  bool
	verbose bool
	live    bool // w is a terminal
	shown   bool // the passing line is on it
	changes int  // changed files told in a row
	width   int
	st      styles
	failed  error // the first error of writing events
}

func (a *app) progress() *progress {
	p := &progress{
		w: a.env.Stderr, verbose: a.flags.verbose > 0, width: a.width(),
		silent: a.flags.quiet || !a.format.human(),
		live:   a.env.StderrTTY && a.env.Getenv("TERM") != "dumb",
		st:     styles{on: a.color(a.env.StderrTTY)},
	}
	if a.format == JSONL {
		p.events = a.env.Stdout
	}
	return p
}

// event shows one event.
func (p *progress) event(e plan.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.events != nil {
		if !json.Valid(e.Data) { // no reason to lose what follows
			e.Data, _ = json.Marshal(string(e.Data))
		}
		b, err := encodeJSON(e, false)
		if err == nil {
			_, err = p.events.Write(b)
		}
		if p.failed == nil {
			p.failed = err
		}
	}
	if p.silent {
		return
	}
	t := tell(e)
	if p.held(e.Type) {
		return
	}
	switch {
	case !t.passing || p.verbose:
		p.line(t)
	case p.live:
		p.pass(t)
	}
}

// held reports whether an event is one more changed file of a long row, which is
// only counted. What comes after such a row is told after the count.
func (p *progress) held(kind string) bool {
	if kind == "change.recorded" {
		p.changes++
		return !p.verbose && p.changes > shownFiles
	}
	p.rest()
	return false
}

// rest tells how many changed files were only counted.
func (p *progress) rest() {
	if n := p.changes - shownFiles; n > 0 && !p.verbose {
		p.line(telling{mark: "±", text: "… and " + plural(n, "more changed file")})
	}
	p.changes = 0
}

// note shows a line of the command line's own.
func (p *progress) note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.silent {
		p.line(telling{mark: "!", text: text, tone: warnTone})
	}
}

// clear removes the passing line.
func (p *progress) clear() {
	if p.shown {
		_, _ = io.WriteString(p.w, "\r\x1b[K")
		p.shown = false
	}
}

func (p *progress) line(t telling) {
	p.clear()
	lines := []string{string(escapeLine(t.text))}
	if p.live {
		lines = wrap(lines[0], max(p.width-2, leastColumn))
	}
	_, _ = fmt.Fprintf(p.w, "%s %s\n", p.paint(t.tone, t.mark), strings.Join(lines, "\n  "))
}

func (p *progress) pass(t telling) {
	p.clear()
	text := string(escapeLine(t.mark + " " + t.text))
	if lipgloss.Width(text) >= p.width {
		text = lipgloss.NewStyle().MaxWidth(p.width-2).Render(text) + "…"
	}
	_, _ = io.WriteString(p.w, string(p.st.dim(safe(text))))
	p.shown = true
}

// close ends the display and returns the first error of writing events.
func (p *progress) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.silent {
		p.rest()
	}
	p.clear()
	return p.failed
}

func (p *progress) paint(t tone, mark string) safe { return p.st.toned(t, mark) }

// toned paints a mark.
func (st styles) toned(t tone, mark string) safe {
	switch t {
	case goodTone:
		return st.good(mark)
	case warnTone:
		return st.warn(mark)
	case badTone:
		return st.bad(mark)
	case noteTone:
		return st.note(mark)
	}
	return st.dim(mark)
}
