package builtin

import (
	"bytes"
	"context"
	"fmt"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/tool"
)

type editArgs struct {
	Path       string `json:"path"`
	Old        string `json:"old"`
	New        string `json:"new"`
	ReplaceAll bool   `json:"replace_all"`
}

const editSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["path", "old", "new"],
  "properties": {
    "path": {"type": "string", "description": "file, relative to the project's root"},
    "old": {"type": "string", "description": "the text to replace, without line numbers; must be in exactly one place"},
    "new": {"type": "string", "description": "the text to put there; empty to delete old"},
    "replace_all": {"type": "boolean", "description": "replace every place where old is found as it is"}
  }
}`

func editTool() entry { return working("edit", editSchema, edit) }

func edit(_ context.Context, w *work, a editArgs) (tool.Result, error) {
	p, err := clean(a.Path)
	if err != nil {
		return tool.Result{}, err
	}
	if a.Old == "" {
		return tool.Result{}, fault.New(fault.Invalid, "old is empty").
			WithHint("use write to make a file or to replace all of it")
	}
	was, info, err := w.read(p)
	if err != nil {
		return tool.Result{}, err
	}
	if err := w.fresh(p, was); err != nil {
		return tool.Result{}, err
	}
	text, enc, ok, err := textOf(p, was)
	if err != nil {
		return tool.Result{}, err
	}
	if !ok {
		return tool.Result{}, fault.New(fault.Invalid, "%s is binary (%d bytes), so it has no text to edit", show(p), len(was))
	}
	regions, loose, err := replacement(text, a.Old, a.New, a.ReplaceAll)
	if err != nil {
		return tool.Result{}, err
	}
	if size := resultSize(text, regions); size > maxFile {
		return tool.Result{}, fault.New(fault.Exhausted, "%s would have %d bytes; file tools take at most %d", show(p), size, maxFile)
	}
	after := splice(text, regions)
	now := enc.encode(after)
	if bytes.Equal(was, now) {
		return tool.Result{}, fault.New(fault.Invalid, "old and new are the same, so nothing would change")
	}
	if err := w.write(p, now, info.Mode()); err != nil {
		return tool.Result{}, err
	}
	w.in.Seen.Note(p, hash(now))
	return done(edited(p, after, regions, loose), p)
}

// fresh refuses to change a file that the caller does not know as it is now.
func (w *work) fresh(p string, now []byte) error {
	last, ok := w.in.Seen.Last(p)
	switch {
	case !ok:
		return fault.New(fault.Conflict, "%s was not read yet", show(p)).WithHint("read it first")
	case last != hash(now):
		return fault.New(fault.Conflict, "%s changed since it was read", show(p)).WithHint("read it again")
	}
	return nil
}

func resultSize(text string, regions []region) int {
	n := len(text)
	for _, r := range regions {
		n += len(r.text) - (r.end - r.start)
	}
	return n
}

// edited tells what was done and shows the first place as it is now.
func edited(p, after string, regions []region, loose bool) string {
	out := fmt.Sprintf("edited %s", show(p))
	if len(regions) > 1 {
		out += fmt.Sprintf(" in %d places, the first", len(regions))
	}
	if loose {
		out += "; old differed from the file in white space, so look at the result"
	}
	lines := linesOf(after)
	first := lineAt(after, regions[0].start)
	last := lineAt(after, regions[0].start+len(regions[0].text))
	from := max(1, first-2)
	to := min(last+2, from+39)
	return out + ":\n" + numbered(after, lines, from, to)
}
