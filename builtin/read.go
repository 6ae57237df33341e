package builtin

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/tool"
)

// maxOutput is the most text that one call returns.
const maxOutput = 64 << 10

type readArgs struct {
	Path   string `json:"path"`
	Offset int    `json:"offset"`
	Limit  int    `json:"limit"`
}

const readSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["path"],
  "properties": {
    "path": {"type": "string", "description": "file, relative to the project's root"},
    "offset": {"type": "integer", "minimum": 1, "description": "first line to show, from 1"},
    "limit": {"type": "integer", "minimum": 1, "maximum": 10000, "description": "how many lines, 2000 when not given"}
  }
}`

func readTool() entry { return looking("read", readSchema, read) }

func read(_ context.Context, w *look, a readArgs) (tool.Result, error) {
	p, err := clean(a.Path)
	if err != nil {
		return tool.Result{}, err
	}
	b, _, err := w.read(p)
	if err != nil {
		return tool.Result{}, err
	}
	w.seen.Note(p, hash(b))
	text, enc, ok, err := textOf(p, b)
	if err != nil {
		return tool.Result{}, err
	}
	if !ok {
		return done(fmt.Sprintf("[%s is binary: %d bytes, %s]", show(p), len(b), http.DetectContentType(b)))
	}
	if text == "" {
		return done("[the file is empty]")
	}
	lines := linesOf(text)
	first := max(a.Offset, 1)
	if first > len(lines) {
		return tool.Result{}, fault.New(fault.Invalid, "offset %d is after the end; %s has %d lines", first, show(p), len(lines))
	}
	limit := a.Limit
	if limit <= 0 {
		limit = 2000
	}
	return done(page(text, lines, first, limit) + remarks(text, enc))
}

// page shows lines from first on and, when those are not all, how to go on.
func page(text string, lines []line, first, limit int) string {
	var out strings.Builder
	n := first
	for ; n <= len(lines) && n < first+limit; n++ {
		one := numbered(text, lines, n, n) + "\n"
		if out.Len()+len(one) > maxOutput {
			break
		}
		out.WriteString(one)
	}
	if n <= len(lines) {
		fmt.Fprintf(&out, "[lines %d to %d of %d; go on with offset=%d]\n", first, n-1, len(lines), n)
	}
	return out.String()
}

// remarks says what the lines do not show.
func remarks(text string, enc encoding) string {
	var notes []string
	if enc != plain {
		notes = append(notes, enc.String())
	}
	switch lf, crlf := endings(text); {
	case crlf > 0 && lf > 0:
		notes = append(notes, fmt.Sprintf("mixed line endings, %d CRLF and %d LF", crlf, lf))
	case crlf > 0:
		notes = append(notes, "CRLF line endings")
	}
	if !strings.HasSuffix(text, "\n") {
		notes = append(notes, "no line break at the end")
	}
	if valid(text) != text {
		notes = append(notes, "some bytes are not UTF-8 and are shown as \uFFFD")
	}
	if len(notes) == 0 {
		return ""
	}
	return "[" + strings.Join(notes, "; ") + "]\n"
}
