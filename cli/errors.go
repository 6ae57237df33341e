package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cleveragents/agents/fault"
)

// ErrorBody is an error as programs read it.
type ErrorBody struct {
	Code    string         `json:"code"`
	Message string         `json:"message"`
	Details map[string]any `json:"details,omitempty"`
	Hint    string         `json:"hint,omitempty"`
	Exit    int            `json:"exit"`
}

func errorBody(err error) *ErrorBody {
	e := fault.As(err)
	return &ErrorBody{fault.CodeOf(err), e.Msg, e.Details, e.Hint, fault.Exit(err)}
}

// writeError tells a person or a program what went wrong and how to go on.
// With jsonl the error is part of the last line of the result.
func (a *app) writeError(err error) {
	switch {
	case a.format == JSONL:
		return
	case a.format == JSON || a.format == YAML:
		if err == nil {
			return
		}
		body := map[string]*ErrorBody{"error": errorBody(err)}
		b, eerr := encodeJSON(body, false)
		if a.format == YAML {
			b, eerr = encodeYAML(body)
		}
		if eerr == nil {
			_, _ = a.env.Stderr.Write(b)
		}
		return
	}
	st := styles{on: a.color(a.env.StderrTTY)}
	for _, w := range a.out.warnings {
		a.say("%s %s", st.warn("warning:"), w)
	}
	if err != nil {
		e := fault.As(err)
		_, _ = fmt.Fprintf(a.env.Stderr, "%s %s\n", st.bad("error:"), a.onTerminal(string(escapeText(e.Msg)), len("error: ")))
		if a.flags.verbose > 0 {
			for _, k := range slices.Sorted(maps.Keys(e.Details)) {
				a.say("  %s: %v", k, e.Details[k])
			}
		}
		if e.Hint != "" && !slices.Contains(a.out.next, e.Hint) {
			_, _ = fmt.Fprintf(a.env.Stderr, "%s %s\n", st.warn("hint:"), escapeText(strings.TrimSpace(e.Hint)))
		}
	}
	if a.flags.quiet && err == nil {
		return
	}
	for _, n := range a.out.next {
		a.say("%s %s", st.note("next:"), n)
	}
}

// onTerminal wraps a text that goes to standard error where that is a terminal;
// the first line begins at a column. Commands are not wrapped: a person copies
// them.
func (a *app) onTerminal(text string, column int) string {
	if !a.env.StderrTTY || strings.Contains(text, "\n") {
		return text
	}
	return strings.Join(wrap(text, max(a.width()-column, leastColumn)), "\n"+strings.Repeat(" ", column))
}

// usage makes an error about how the command was written.
func usage(command, format string, args ...any) error {
	return fault.New(fault.Invalid, format, args...).WithCode("Usage").WithHint("see: %s --help", command)
}
