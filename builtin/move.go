package builtin

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/tool"
)

type moveArgs struct {
	From string `json:"from"`
	To   string `json:"to"`
}

const moveSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["from", "to"],
  "properties": {
    "from": {"type": "string", "description": "file or directory, relative to the project's root"},
    "to": {"type": "string", "description": "its new path; must not exist; missing directories are made"}
  }
}`

func moveTool() entry { return working("move", moveSchema, move) }

func move(ctx context.Context, w *work, a moveArgs) (tool.Result, error) {
	from, err := clean(a.From)
	if err != nil {
		return tool.Result{}, err
	}
	to, err := clean(a.To)
	if err != nil {
		return tool.Result{}, err
	}
	if from == "." || to == "." {
		return tool.Result{}, fault.New(fault.Denied, "the project's root cannot be moved")
	}
	if strings.HasPrefix(to+"/", from+"/") {
		return tool.Result{}, fault.New(fault.Invalid, "%s cannot be moved to %s, which is itself or inside it", show(from), show(to))
	}
	info, err := w.lookup(from)
	if err != nil {
		return tool.Result{}, err
	}
	there, err := w.lookup(to)
	switch {
	case err == nil:
		return tool.Result{}, fault.New(fault.Exists, "%s exists already (a %s)", show(to), kind(there.Mode())).
			WithHint("delete it first when it is not needed")
	case !fault.Is(err, fault.NotFound):
		return tool.Result{}, err
	}
	names, err := w.below(ctx, from, info)
	if err != nil {
		return tool.Result{}, err
	}
	if err := w.mkdirs(path.Dir(to)); err != nil {
		return tool.Result{}, err
	}
	if err := w.root.Rename(from, to); err != nil {
		return tool.Result{}, fsFault(from, err)
	}
	var wrote []string
	for _, n := range names {
		old, now := path.Join(from, n), path.Join(to, n)
		wrote = append(wrote, old, now)
		if h, ok := w.in.Seen.Last(old); ok {
			w.in.Seen.Note(now, h) // the caller knows its content still
		}
	}
	return done(fmt.Sprintf("moved %s %s to %s", kind(info.Mode()), show(from), show(to)), wrote...)
}

// below lists what a move takes along, relative to from; "" is from itself.
func (w *work) below(ctx context.Context, from string, info fs.FileInfo) ([]string, error) {
	if !info.IsDir() {
		return []string{""}, nil
	}
	var names []string
	pass := walk{view: w.view}
	err := pass.files(ctx, from, func(p string, _ fs.FileMode) (bool, error) {
		names = append(names, below(from, p))
		return true, nil
	})
	if err == nil && pass.cut != "" {
		err = fault.New(fault.Exhausted, "%s is too large to move: %s", show(from), pass.cut)
	}
	return names, err
}
