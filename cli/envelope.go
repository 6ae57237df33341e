package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cleveragents/agents/fault"
)

// output is what a command has to say: data for programs and a drawing of it
// for people. Next are commands with which a person goes on, best first.
type output struct {
	schema   string
	data     any
	warnings []string
	next     []string
	human    func(p *printer)
}

// Envelope is the one form in which results are written for programs. Fields
// are added to it and to data, never renamed.
type Envelope struct {
	Schema   string   `json:"schema"`
	Data     any      `json:"data"`
	Warnings []string `json:"warnings"`
	Next     []string `json:"next"`
}

// ResultLine is the last line of jsonl output, whatever happened.
type ResultLine struct {
	Type string `json:"type"` // result
	Exit int    `json:"exit"`
	Envelope
	Error *ErrorBody `json:"error,omitempty"`
}

// put keeps what the command has to say; finish writes it.
func (a *app) put(o output) {
	o.next = slices.Clone(o.next)
	for i, c := range o.next {
		o.next[i] = a.pasted(c)
	}
	a.out = &o
}

// pasted is a command that finds the same data when a person pastes it.
func (a *app) pasted(command string) string {
	if a.flags.dataDir == "" {
		return command
	}
	return strings.ReplaceAll(command, "agents ", "agents --data-dir "+quoted(a.abs(a.flags.dataDir))+" ")
}

// quoted is a word as a shell takes it.
func quoted(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune(plainLetters, r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

const plainLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:@%"

// finish writes the result and the error and returns the exit status.
func (a *app) finish(ctx context.Context, err error) int {
	if werr := a.writeResult(ctx, err); werr != nil && err == nil {
		err = werr
	}
	a.writeError(err)
	return a.status(err)
}

// status is the exit status of the process: that of the error, or of the program
// that was run.
func (a *app) status(err error) int {
	if err == nil {
		return a.exit
	}
	return fault.Exit(err)
}

func (a *app) writeResult(ctx context.Context, err error) error {
	if a.out == nil {
		a.out = &output{}
	}
	o := a.out
	env := Envelope{o.schema, o.data, o.warnings, o.next}
	var b []byte
	var eerr error
	switch {
	case a.format == JSONL && (o.schema != "" || err != nil):
		line := ResultLine{Type: "result", Exit: a.status(err), Envelope: env}
		if err != nil {
			line.Error = errorBody(err)
		}
		b, eerr = encodeJSON(line, false)
	case o.schema == "":
		return nil
	case a.pick != nil:
		return a.writePicked(ctx, env)
	case a.format == JSON:
		b, eerr = encodeJSON(env, true)
	case a.format == YAML:
		b, eerr = encodeYAML(env)
	default:
		p := a.printer()
		o.human(p)
		b = p.Bytes()
	}
	if eerr != nil {
		return eerr
	}
	return a.writeBytes(a.env.Stdout, b)
}

// printer returns a printer for the result. Rich is laid out for the terminal,
// a table where there is one.
func (a *app) printer() *printer {
	p := &printer{format: a.format, wide: a.flags.wide, all: a.flags.wide || a.flags.verbose > 0, styles: styles{on: a.format == Rich && a.color(a.env.StdoutTTY)}}
	if a.env.Now != nil {
		p.now = a.env.Now()
	}
	if !a.flags.wide && (a.format == Rich || a.format == Table && a.env.StdoutTTY) {
		p.width = a.width()
	}
	return p
}

// say writes one line for a person to standard error. A terminal that is gone
// is no reason to fail.
func (a *app) say(format string, args ...any) {
	_, _ = fmt.Fprintf(a.env.Stderr, format+"\n", safeArgs(args)...)
}

// writeBytes is for what is written outside a result, such as help.
func (a *app) writeBytes(w io.Writer, b []byte) error {
	if _, err := w.Write(b); err != nil {
		return fault.New(fault.Internal, "write the result: %w", err)
	}
	return nil
}
