package cli

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/itchyny/gojq"

	"github.com/cleveragents/agents/fault"
)

// query is --jq. Texts, numbers and truth values are written bare, null as an
// empty line, lists and objects as JSON, each on a line of its own: as gh does.
// It sees no environment, no file and no input but the result.
type query struct{ code *gojq.Code }

func newQuery(command, text string) (picker, error) {
	q, err := gojq.Parse(text)
	if err != nil {
		offset, token := len(text), ""
		if pe := (*gojq.ParseError)(nil); errors.As(err, &pe) {
			offset, token = pe.Offset, pe.Token
		}
		return nil, badExpression(command, "--jq", text, offset-len(token), err.Error())
	}
	code, err := gojq.Compile(q)
	if err != nil {
		return nil, badExpression(command, "--jq", text, named(text, err.Error()), err.Error())
	}
	return &query{code}, nil
}

// named finds what a message such as "function not defined: foo/1" is about in
// the expression; -1 is nowhere.
func named(text, message string) int {
	_, name, _ := strings.Cut(message, ": ")
	name, _, _ = strings.Cut(name, "/")
	if name == "" {
		return -1
	}
	return strings.Index(text, name)
}

// badExpression is the error for an expression that cannot be read, with the
// line and the column of the letter at an offset, both from 1.
func badExpression(command, flag, text string, offset int, message string) error {
	if offset < 0 || offset > len(text) {
		return usage(command, "%s: %s", flag, message)
	}
	line, column := place(text[:offset])
	return usage(command, "%s: line %d, column %d: %s", flag, line, column, message)
}

// place is the line and the column that follow a text.
func place(before string) (line, column int) {
	line = strings.Count(before, "\n") + 1
	return line, utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
}

// pick implements picker.
func (q *query) pick(ctx context.Context, v any, w *gate) error {
	for values := q.code.RunWithContext(ctx, v); ; {
		got, ok := values.Next()
		if !ok {
			return nil
		}
		if err, bad := got.(error); bad {
			if he := (*gojq.HaltError)(nil); errors.As(err, &he) && he.Value() == nil {
				return nil
			}
			return notForThis("--jq", err.Error())
		}
		if err := w.value(got); err != nil {
			return err
		}
	}
}

// notForThis is the error for an expression that does not fit the result.
func notForThis(flag, message string) error {
	return fault.New(fault.Invalid, "%s: %s", flag, message).WithCode("Expression").
		WithHint("the command itself was done; --format json shows what the expression sees")
}

// value writes one value on a line.
func (g *gate) value(v any) error {
	var line string
	switch v := v.(type) {
	case nil:
	case string:
		line = v
	case map[string]any, []any:
		b, err := encodeJSON(v, g.terminal)
		if err != nil {
			return err
		}
		line = strings.TrimSuffix(string(b), "\n")
	default: // gojq writes numbers as jq does
		b, err := gojq.Marshal(v)
		if err != nil {
			return err
		}
		line = string(b)
	}
	_, err := g.Write([]byte(line + "\n"))
	return err
}
