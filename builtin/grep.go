package builtin

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/tool"
)

// The bounds of a search.
const (
	maxPattern  = 1000
	maxMatches  = 200
	maxGrepLine = 300
	maxSearched = 512 << 20 // bytes read in one call
)

type grepArgs struct {
	Pattern    string `json:"pattern"`
	Path       string `json:"path"`
	Glob       string `json:"glob"`
	IgnoreCase bool   `json:"ignore_case"`
}

const grepSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["pattern"],
  "properties": {
    "pattern": {"type": "string", "minLength": 1, "maxLength": 1000, "description": "regular expression in RE2 syntax, matched against each line"},
    "path": {"type": "string", "description": "file or directory to search, relative to the project's root; the root when not given"},
    "glob": {"type": "string", "maxLength": 256, "description": "search only files whose path below path, or whose name, matches, such as *.go or src/**/*.ts"},
    "ignore_case": {"type": "boolean"}
  }
}`

func grepTool() entry { return looking("grep", grepSchema, grep) }

// search is one grep on its way.
type search struct {
	walk
	re      *regexp.Regexp
	out     strings.Builder
	matches int
	read    int
	skipped int
}

func grep(ctx context.Context, w *look, a grepArgs) (tool.Result, error) {
	re, err := compile(a.Pattern, a.IgnoreCase)
	if err != nil {
		return tool.Result{}, err
	}
	if a.Glob != "" {
		if err := checkGlob(a.Glob); err != nil {
			return tool.Result{}, err
		}
	}
	if a.Path == "" {
		a.Path = "."
	}
	p, err := clean(a.Path)
	if err != nil {
		return tool.Result{}, err
	}
	info, err := w.lookup(p)
	if err != nil {
		return tool.Result{}, err
	}
	s := &search{walk: walk{view: w.view}, re: re}
	if !info.IsDir() {
		if _, err := w.regular(p); err != nil {
			return tool.Result{}, err
		}
		_, err = s.file(ctx, p)
	} else {
		err = s.files(ctx, p, func(file string, m fs.FileMode) (bool, error) {
			if !m.IsRegular() || !wanted(a.Glob, below(p, file)) {
				return true, nil
			}
			return s.file(ctx, file)
		})
	}
	if err != nil {
		return tool.Result{}, err
	}
	return done(s.report())
}

// compile is bounded: RE2 runs in linear time, and a program for a pattern of
// this length has a bounded size.
func compile(pattern string, ignoreCase bool) (*regexp.Regexp, error) {
	if len(pattern) > maxPattern {
		return nil, fault.New(fault.Invalid, "the pattern is longer than %d bytes", maxPattern)
	}
	if ignoreCase {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fault.New(fault.Invalid, "the pattern is not valid: %w", err).
			WithHint(`RE2 has no look-around and no back-references; escape a literal with \`)
	}
	return re, nil
}

func wanted(glob, p string) bool {
	return glob == "" || doublestar.MatchUnvalidated(glob, p) || doublestar.MatchUnvalidated(glob, path.Base(p))
}

// file searches one file; one that cannot be read, is binary or too large is
// counted as skipped.
func (s *search) file(ctx context.Context, p string) (bool, error) {
	b, _, err := s.view.read(p)
	if err != nil {
		s.skipped++
		return true, nil
	}
	s.read += len(b)
	text, _, ok := decodeText(b)
	if !ok {
		s.skipped++
		return true, nil
	}
	n := 0
	for l := range strings.Lines(text) {
		if n++; n%4096 == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		l = strings.TrimSuffix(strings.TrimSuffix(l, "\n"), "\r")
		at := s.re.FindStringIndex(l)
		if at == nil {
			continue
		}
		fmt.Fprintf(&s.out, "%s:%d:%s\n", show(p), n, around(l, at[0]))
		if s.matches++; s.matches >= maxMatches || s.out.Len() >= maxOutput {
			s.cut = fmt.Sprintf("stopped after %d matches; narrow the pattern, the path or the glob to see others", s.matches)
			return false, nil
		}
	}
	if s.read > maxSearched {
		s.cut = fmt.Sprintf("stopped after %d bytes", s.read)
		return false, nil
	}
	return true, nil
}

// around cuts a long line to the part where the match is.
func around(l string, at int) string {
	if len(l) <= maxGrepLine {
		return valid(l)
	}
	b := []byte(l)
	from := runeStart(b, max(0, min(at-maxGrepLine/3, len(l)-maxGrepLine)))
	to := runeStart(b, from+min(maxGrepLine, len(l)-from))
	out := valid(l[from:to])
	if from > 0 {
		out = "…" + out
	}
	if to < len(l) {
		out += "…"
	}
	return out
}

func (s *search) report() string {
	if s.matches == 0 {
		s.out.WriteString("[no line matches]\n")
	}
	if s.skipped > 0 {
		fmt.Fprintf(&s.out, "[%d files were skipped: binary, larger than %d bytes, or not readable]\n", s.skipped, maxFile)
	}
	if s.cut != "" {
		fmt.Fprintf(&s.out, "[%s]\n", s.cut)
	}
	return s.out.String()
}
