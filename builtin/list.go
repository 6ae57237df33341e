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

// maxListed is how many entries list, glob and grep show at most.
const maxListed = 1000

type listArgs struct {
	Path   string `json:"path"`
	Offset int    `json:"offset"`
}

const listSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": [],
  "properties": {
    "path": {"type": "string", "description": "directory, relative to the project's root; the root when not given"},
    "offset": {"type": "integer", "minimum": 0, "description": "how many entries to skip"}
  }
}`

func listTool() entry { return looking("list", listSchema, list) }

func list(ctx context.Context, w *look, a listArgs) (tool.Result, error) {
	dir, err := w.directory(a.Path)
	if err != nil {
		return tool.Result{}, err
	}
	entries, whole, err := w.entries(dir)
	if err != nil {
		return tool.Result{}, err
	}
	if a.Offset > 0 && a.Offset >= len(entries) {
		return tool.Result{}, fault.New(fault.Invalid, "offset %d is after the end; %s has %d entries", a.Offset, show(dir), len(entries))
	}
	var out strings.Builder
	n := a.Offset
	for ; n < len(entries) && n < a.Offset+maxListed && out.Len() < maxOutput; n++ {
		if err := ctx.Err(); err != nil {
			return tool.Result{}, err
		}
		out.WriteString(w.entry(path.Join(dir, entries[n].Name()), entries[n]))
	}
	switch {
	case len(entries) == 0:
		return done("[the directory is empty]")
	case n < len(entries) && whole:
		fmt.Fprintf(&out, "[%d of %d entries; go on with offset=%d]\n", n, len(entries), n)
	case n < len(entries) || !whole:
		fmt.Fprintf(&out, "[%d of more than %d entries, not all of them sorted; go on with offset=%d]\n", n, maxEntries, n)
	}
	return done(out.String())
}

// directory checks a path that has to be a directory; "" is the root.
func (t view) directory(p string) (string, error) {
	if p == "" {
		p = "."
	}
	dir, err := clean(p)
	if err != nil {
		return "", err
	}
	info, err := t.lookup(dir)
	switch {
	case err != nil:
		return "", err
	case info.Mode()&fs.ModeSymlink != 0:
		return "", t.linkFault(dir)
	case !info.IsDir():
		return "", fault.New(fault.Invalid, "%s is a %s, not a directory", show(dir), kind(info.Mode()))
	}
	return dir, nil
}

// entry is one line: kind, size where it says something, and name.
func (t view) entry(p string, e fs.DirEntry) string {
	name := show(e.Name())
	info, err := t.sight.Lstat(p)
	if err != nil {
		return fmt.Sprintf("%-11s %10s  %s\n", "unreadable", "", name)
	}
	size := ""
	switch m := info.Mode(); {
	case m.IsRegular():
		size = fmt.Sprint(info.Size())
	case m.IsDir():
		name += "/"
	case m&fs.ModeSymlink != 0:
		if target, err := t.sight.Readlink(p); err == nil {
			name += " -> " + show(target)
		}
	}
	return fmt.Sprintf("%-11s %10s  %s\n", kind(info.Mode()), size, name)
}
