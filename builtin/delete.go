package builtin

import (
	"context"
	"fmt"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/tool"
)

type deleteArgs struct {
	Path string `json:"path"`
}

const deleteSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["path"],
  "properties": {
    "path": {"type": "string", "description": "file, link or empty directory, relative to the project's root"}
  }
}`

func deleteTool() entry { return working("delete", deleteSchema, remove) }

func remove(_ context.Context, w *work, a deleteArgs) (tool.Result, error) {
	p, err := clean(a.Path)
	if err != nil {
		return tool.Result{}, err
	}
	if p == "." {
		return tool.Result{}, fault.New(fault.Denied, "the project's root cannot be deleted")
	}
	info, err := w.lookup(p)
	if err != nil {
		return tool.Result{}, err
	}
	if info.IsDir() {
		entries, _, err := w.entries(p)
		if err != nil {
			return tool.Result{}, err
		}
		if len(entries) > 0 {
			return tool.Result{}, fault.New(fault.Conflict, "%s is a directory with %d entries", show(p), len(entries)).
				WithHint("delete what is in it first")
		}
	}
	if err := w.root.Remove(p); err != nil {
		return tool.Result{}, fsFault(p, err)
	}
	return done(fmt.Sprintf("deleted %s %s", kind(info.Mode()), show(p)), p)
}
