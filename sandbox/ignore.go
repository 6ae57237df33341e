package sandbox

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// maxRules is the largest .gitignore that is read.
const maxRules = 1 << 20

// loadRules reads the .gitignore files of the snapshot. Those that a tool
// writes do not count, so that it cannot hide what it does.
func (s *Sandbox) loadRules(ctx context.Context, p *part) error {
	if p.rules != nil {
		return nil
	}
	var files []*entry
	for _, e := range filesOf(p.entries) {
		if path.Base(e.path) == ".gitignore" && e.size <= maxRules {
			files = append(files, e)
		}
	}
	var rules []gitignore.Pattern
	if len(files) > 0 {
		b, err := s.t.openBase(ctx, p.base.Resource, false)
		if err != nil {
			return err
		}
		defer b.close()
		buf := make([]byte, 32<<10)
		slices.SortStableFunc(files, func(a, b *entry) int { // the rules of a parent give way
			return strings.Count(a.path, "/") - strings.Count(b.path, "/")
		})
		for _, e := range files {
			var text bytes.Buffer
			if err := b.copyTo(ctx, e, &text, buf); err != nil {
				return err
			}
			rules = append(rules, parseRules(text.String(), path.Dir(e.path))...)
		}
	}
	p.rules = gitignore.NewMatcher(rules)
	return nil
}

func parseRules(text, dir string) []gitignore.Pattern {
	var domain []string
	if dir != "." {
		domain = strings.Split(dir, "/")
	}
	var out []gitignore.Pattern
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			out = append(out, gitignore.ParsePattern(line, domain))
		}
	}
	return out
}

// ignores reports whether a path that is new since the snapshot is one that
// the resource's own rules leave out.
func (p *part) ignores(name string, dir bool) bool {
	return p.index[name] == nil && p.rules.Match(strings.Split(name, "/"), dir)
}
