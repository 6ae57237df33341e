package builtin

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/tool"
)

type writeArgs struct {
	Path       string `json:"path"`
	Content    string `json:"content"`
	Executable bool   `json:"executable"`
}

const writeSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["path", "content"],
  "properties": {
    "path": {"type": "string", "description": "file, relative to the project's root; missing directories are made"},
    "content": {"type": "string", "description": "the whole content"},
    "executable": {"type": "boolean", "description": "make it executable"}
  }
}`

func writeTool() entry { return working("write", writeSchema, write) }

func write(_ context.Context, w *work, a writeArgs) (tool.Result, error) {
	p, err := clean(a.Path)
	if err != nil {
		return tool.Result{}, err
	}
	if p == "." {
		return tool.Result{}, fault.New(fault.Invalid, "%s is a directory", show(a.Path))
	}
	if len(a.Content) > maxFile {
		return tool.Result{}, fault.New(fault.Exhausted, "the content has %d bytes; file tools take at most %d", len(a.Content), maxFile)
	}
	content, mode, verb := []byte(a.Content), fs.FileMode(0o644), "wrote new file"
	was, info, err := w.read(p)
	switch {
	case err == nil:
		mode, verb = info.Mode(), "overwrote"
		if hash(was) != hash(content) {
			if err := w.fresh(p, was); err != nil {
				return tool.Result{}, err
			}
			content = asBefore(was, a.Content)
		}
	case !fault.Is(err, fault.NotFound):
		return tool.Result{}, err
	}
	if a.Executable {
		mode |= (mode & 0o444) >> 2 // whoever may read it may run it
	}
	if info != nil && hash(was) == hash(content) && mode == info.Mode() {
		w.in.Seen.Note(p, hash(was))
		return done(fmt.Sprintf("%s has this content already", show(p)))
	}
	if err := w.write(p, content, mode); err != nil {
		return tool.Result{}, err
	}
	w.in.Seen.Note(p, hash(content))
	return done(fmt.Sprintf("%s %s, %d bytes", verb, show(p), len(content)), p)
}

// asBefore gives new content the conventions of the old: encoding and byte
// order mark, and CRLF where every line had it and the content has none.
func asBefore(was []byte, content string) []byte {
	text, enc, ok := decodeText(was)
	if !ok {
		return []byte(content)
	}
	if lf, crlf := endings(text); crlf > 0 && lf == 0 && !strings.Contains(content, "\r") {
		content = withEnding(content, "\r\n")
	}
	return enc.encode(strings.TrimPrefix(content, "\uFEFF"))
}
