package builtin

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/tool"
)

// The bounds of a pattern: its braces multiply the work of a match.
const (
	maxGlob   = 256
	maxBraces = 3
	maxFound  = 20_000
)

type globArgs struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
}

const globSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["pattern"],
  "properties": {
    "pattern": {"type": "string", "minLength": 1, "maxLength": 256, "description": "such as **/*.go or cmd/*/main.go, relative to path"},
    "path": {"type": "string", "description": "directory to search, relative to the project's root; the root when not given"}
  }
}`

func globTool() entry { return looking("glob", globSchema, glob) }

func glob(ctx context.Context, w *look, a globArgs) (tool.Result, error) {
	if err := checkGlob(a.Pattern); err != nil {
		return tool.Result{}, err
	}
	dir, err := w.directory(a.Path)
	if err != nil {
		return tool.Result{}, err
	}
	var found []string
	pass := walk{view: w.view}
	err = pass.files(ctx, dir, func(p string, _ fs.FileMode) (bool, error) {
		if doublestar.MatchUnvalidated(a.Pattern, below(dir, p)) {
			found = append(found, p)
		}
		if len(found) == maxFound {
			pass.cut = fmt.Sprintf("stopped after %d paths", maxFound)
		}
		return len(found) < maxFound, nil
	})
	if err != nil {
		return tool.Result{}, err
	}
	slices.Sort(found)
	var out strings.Builder
	n := 0
	for ; n < len(found) && n < maxListed && out.Len() < maxOutput; n++ {
		out.WriteString(show(found[n]) + "\n")
	}
	var all []byte
	if n < len(found) {
		at := out.Len()
		all = append(all, out.String()...)
		for _, p := range found[n:] {
			all = append(all, show(p)+"\n"...)
		}
		fmt.Fprintf(&out, "[%d of %d paths; narrow the pattern, or see the others with page, hash=%s offset=%d]\n", n, len(found), hash(all), at)
	}
	if len(found) == 0 {
		out.WriteString("[no file matches]\n")
	}
	if pass.cut != "" {
		fmt.Fprintf(&out, "[%s]\n", pass.cut)
	}
	return tool.Result{Status: tool.OK, Output: out.String(), Spill: all}, nil
}

func checkGlob(pattern string) error {
	switch {
	case len(pattern) > maxGlob:
		return fault.New(fault.Invalid, "the pattern is longer than %d bytes", maxGlob)
	case strings.Count(pattern, "{") > maxBraces:
		return fault.New(fault.Invalid, "the pattern has more than %d alternatives in braces", maxBraces)
	case pattern == "" || !doublestar.ValidatePattern(pattern):
		return fault.New(fault.Invalid, "the pattern %q is not valid", pattern).
			WithHint("* is any part of a name, ** any directories, ? one character, [a-z] one of them, {a,b} a or b")
	}
	return nil
}

// below is p relative to dir, which it is in.
func below(dir, p string) string {
	if dir == "." {
		return p
	}
	return strings.TrimPrefix(p, dir+"/")
}
