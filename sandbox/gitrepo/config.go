package gitrepo

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/cleveragents/agents/fault"
)

// Config is values of git's configuration by section.subsection.key, the last
// one of each. Section and key are in lower case.
type Config struct {
	values   map[string]string
	includes []include
}

type include struct{ condition, path string }

// Get returns a value, "" when it is not set.
func (c Config) Get(key string) string { return c.values[key] }

// parseConfig reads a file of git's configuration. What it does not understand
// it leaves out: nothing here is obeyed but names and yes or no.
func parseConfig(b []byte) Config {
	c := Config{values: map[string]string{}}
	section := ""
	text := strings.ReplaceAll(strings.ReplaceAll(string(b), "\r\n", "\n"), "\\\n", "")
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "["); ok {
			head, after, ok := strings.Cut(rest, "]")
			if !ok {
				continue
			}
			name, sub, quoted := strings.Cut(head, ` "`)
			section = strings.ToLower(strings.TrimSpace(name))
			if quoted {
				section += "." + strings.ReplaceAll(strings.TrimSuffix(strings.TrimSpace(sub), `"`), `\`, "")
			}
			line = strings.TrimSpace(after)
		}
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		key = strings.ToLower(strings.TrimSpace(key))
		value = unquote(strings.TrimSpace(value))
		if !ok {
			value = "true"
		}
		condition, ok := strings.CutPrefix(section, "includeif.")
		if section == "include" {
			condition, ok = "", true
		}
		if ok && key == "path" {
			c.includes = append(c.includes, include{condition, value})
		}
		c.values[section+"."+key] = value
	}
	return c
}

// unquote takes the quotes and a comment off a value.
func unquote(s string) string {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && i+1 < len(s):
			i++
			switch s[i] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			default:
				b.WriteByte(s[i])
			}
		case (c == '#' || c == ';') && !quoted:
			return strings.TrimSpace(b.String())
		default:
			b.WriteByte(c)
		}
	}
	return strings.TrimRight(b.String(), " \t")
}

// Own is where the person's own configuration is.
type Own struct {
	Home string                      // "" for none
	Env  func(string) (string, bool) // nil for an empty environment
}

func (o Own) env(name string) string {
	if o.Env == nil {
		return ""
	}
	if v, ok := o.Env(name); ok {
		return v
	}
	return ""
}

// configs are the configurations that count, the weakest first: the person's
// own with what they include, and the repository's.
func (r *Repo) configs(o Own) (out []Config) {
	if o.Home != "" {
		xdg := o.env("XDG_CONFIG_HOME")
		if !filepath.IsAbs(xdg) {
			xdg = filepath.Join(o.Home, ".config")
		}
		for _, f := range []string{filepath.Join(xdg, "git", "config"), filepath.Join(o.Home, ".gitconfig")} {
			out = append(out, r.own(o, f, 0)...)
		}
	}
	return append(out, r.config)
}

// maxIncludes bounds files that include each other.
const maxIncludes = 8

// own reads a configuration of the person's, by its path, which only they name.
func (r *Repo) own(o Own, file string, depth int) []Config {
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil || depth > maxIncludes {
		return nil
	}
	defer root.Close()
	b, err := small(root, filepath.Base(file))
	if err != nil {
		return nil
	}
	c := parseConfig(b)
	out := []Config{c}
	for _, i := range c.includes {
		p := o.path(i.path)
		if !filepath.IsAbs(p) {
			p = filepath.Join(filepath.Dir(file), p)
		}
		if i.condition == "" || r.meets(o, i.condition) {
			out = append(out, r.own(o, p, depth+1)...)
		}
	}
	return out
}

func (o Own) path(p string) string {
	if rest, ok := strings.CutPrefix(p, "~/"); ok {
		return strings.TrimSuffix(o.Home, "/") + "/" + rest // a slash at the end says something
	}
	return p
}

// meets reports whether the repository lies where an include wants it to.
func (r *Repo) meets(o Own, condition string) bool {
	where, ok := strings.CutPrefix(condition, "gitdir:")
	dir := r.Dir
	if !ok {
		if where, ok = strings.CutPrefix(condition, "gitdir/i:"); !ok {
			return false
		}
		where, dir = strings.ToLower(where), strings.ToLower(dir)
	}
	where = strings.TrimSuffix(o.path(where), "**")
	if !filepath.IsAbs(where) {
		return strings.Contains(dir+"/", "/"+where)
	}
	return dir == where || strings.HasSuffix(where, "/") && strings.HasPrefix(dir+"/", where)
}

// People returns who the author and the committer of a commit are.
func (r *Repo) People(o Own) (author, committer Person, err error) {
	all := r.configs(o)
	get := func(env string, keys ...string) string {
		if v := o.env(env); v != "" {
			return v
		}
		for _, k := range keys {
			for i := len(all) - 1; i >= 0; i-- {
				if v := all[i].Get(k); v != "" {
					return v
				}
			}
		}
		return ""
	}
	author = Person{get("GIT_AUTHOR_NAME", "author.name", "user.name"), get("GIT_AUTHOR_EMAIL", "author.email", "user.email")}
	committer = Person{get("GIT_COMMITTER_NAME", "committer.name", "user.name"), get("GIT_COMMITTER_EMAIL", "committer.email", "user.email")}
	for _, p := range []Person{author, committer} {
		if p.Name == "" || p.Email == "" {
			return author, committer, fault.New(fault.Invalid, "git does not know who you are, so no commit can be made").
				WithHint("git config --global user.name 'Your Name' && git config --global user.email you@example.org")
		}
	}
	return author, committer, nil
}

// Signs reports whether the person wants commits signed, which needs a program.
func (r *Repo) Signs(o Own) bool { return r.yes(o, "commit.gpgsign") }

func (r *Repo) yes(o Own, key string) bool {
	all := r.configs(o)
	for i := len(all) - 1; i >= 0; i-- {
		switch strings.ToLower(all[i].Get(key)) {
		case "true", "yes", "on", "1", "input":
			return true
		case "false", "no", "off", "0":
			return false
		}
	}
	return false
}

// Converts tells what git would do to the bytes of a file on their way into the
// repository, "" for nothing. The attributes are those of the work tree and of
// the person.
func (r *Repo) Converts(o Own, p string, content []byte) (string, error) {
	root, err := os.OpenRoot(r.Top)
	if err != nil {
		return "", unusable(r.Dir, err)
	}
	defer root.Close()
	cr := strings.Contains(string(content), "\r")
	if cr && r.yes(o, "core.autocrlf") {
		return "core.autocrlf changes its line endings", nil
	}
	var lines []attribute
	add := func(b []byte, dir string) { lines = append(lines, parseAttributes(b, dir)...) }
	if o.Home != "" {
		if own, err := os.OpenRoot(filepath.Join(o.Home, ".config", "git")); err == nil {
			b, err := small(own, "attributes")
			if own.Close(); err == nil {
				add(b, "")
			}
		}
	}
	dirs := []string{""}
	for d := path.Dir(p); d != "."; d = path.Dir(d) {
		dirs = append(dirs[:1], append([]string{d}, dirs[1:]...)...)
	}
	for _, d := range dirs {
		b, err := small(root, path.Join(d, ".gitattributes"))
		if err == nil {
			add(b, d)
		} else if !absent(err) && !errors.Is(err, os.ErrNotExist) {
			return "", unusable(r.Dir, err)
		}
	}
	if b, err := small(r.common, "info/attributes"); err == nil {
		add(b, "")
	}
	set := map[string]string{}
	for _, a := range lines {
		if a.matches(p) {
			for k, v := range a.set {
				set[k] = v
			}
		}
	}
	if f := set["filter"]; f != "" && f != "unset" {
		return "the filter " + f + " changes it", nil
	}
	if v := set["ident"]; v == "set" {
		return "ident changes it", nil
	}
	if v := set["working-tree-encoding"]; v != "" && v != "unset" {
		return "it is stored in another encoding", nil
	}
	if _, ok := set["eol"]; ok && cr || cr && set["text"] != "" && set["text"] != "unset" || cr && set["crlf"] != "" && set["crlf"] != "unset" {
		return "its line endings are changed", nil
	}
	return "", nil
}
