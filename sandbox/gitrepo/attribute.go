package gitrepo

import (
	"path"
	"strings"
)

// attribute is one line of a file of attributes: a pattern, in the directory of
// the file, and what it sets.
type attribute struct {
	dir, pattern string
	set          map[string]string
}

// parseAttributes reads a file of attributes. A macro of one's own is taken for
// a filter, since it may set one.
func parseAttributes(b []byte, dir string) (out []attribute) {
	macros := map[string]map[string]string{"binary": {"text": "unset", "crlf": "unset"}}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		var pattern string
		if line[0] == '"' {
			end := strings.Index(line[1:], `"`)
			if end < 0 {
				continue
			}
			pattern, line = line[1:end+1], line[end+2:]
		} else {
			pattern, line, _ = strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
		}
		set := map[string]string{}
		for _, word := range strings.Fields(line) {
			key, value, ok := strings.Cut(word, "=")
			switch {
			case ok:
				set[key] = value
			case strings.HasPrefix(word, "-"), strings.HasPrefix(word, "!"):
				set[word[1:]] = "unset"
			default:
				set[word] = "set"
				for k, v := range macros[word] {
					set[k] = v
				}
			}
		}
		if name, ok := strings.CutPrefix(pattern, "[attr]"); ok {
			macros[name] = set
			continue
		}
		out = append(out, attribute{dir, pattern, set})
	}
	return out
}

// matches reports whether the line is about a path. A pattern that is not
// understood is taken to be.
func (a attribute) matches(p string) bool {
	if a.dir != "" {
		rest, ok := strings.CutPrefix(p, a.dir+"/")
		if !ok {
			return false
		}
		p = rest
	}
	pattern := a.pattern
	if !strings.Contains(strings.TrimPrefix(pattern, "/"), "/") && !strings.HasPrefix(pattern, "/") {
		p = path.Base(p)
	}
	return glob(strings.Split(strings.TrimPrefix(pattern, "/"), "/"), strings.Split(p, "/"))
}

func glob(pattern, name []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			if len(pattern) == 1 {
				return true
			}
			for i := range name {
				if glob(pattern[1:], name[i:]) {
					return true
				}
			}
			return false
		}
		if len(name) == 0 {
			return false
		}
		ok, err := path.Match(pattern[0], name[0])
		if err != nil {
			return true
		}
		if !ok {
			return false
		}
		pattern, name = pattern[1:], name[1:]
	}
	return len(name) == 0
}
