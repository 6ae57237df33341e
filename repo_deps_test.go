package agents_test

import (
	"fmt"
	"go/ast"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// order is docs/deps.txt: which package may import which, and what of the
// outside world is kept to whom.
type order struct {
	may  map[string]map[string]bool // package or GROUP -> what it may import
	only []keep
}

// keep is one line "PATH only in ROOM, …" or "PATH never in ROOM, …".
type keep struct {
	path  string // of a module with all below it, or of a std package; * matches one element
	never bool
	rooms []string
}

var (
	keepLine = regexp.MustCompile(`^(\S+) (only|never) in (.+)$`)
	nodeName = regexp.MustCompile(`^([a-z0-9/]+|[A-Z]+)$`)
)

// parseOrder reads the text. A statement ends with ";" and is either a chain
// "a, b < c, d < e" (every name may import those before it in the chain and
// what those may import) or a keep. A name in capitals is a group.
func parseOrder(text string) (order, error) {
	o := order{may: map[string]map[string]bool{}}
	var clean strings.Builder
	for _, l := range strings.Split(text, "\n") {
		l, _, _ = strings.Cut(l, "#")
		clean.WriteString(l + " ")
	}
	for _, s := range strings.Split(clean.String(), ";") {
		s = strings.Join(strings.Fields(s), " ")
		if s == "" {
			continue
		}
		if m := keepLine.FindStringSubmatch(s); m != nil {
			o.only = append(o.only, keep{m[1], m[2] == "never", names(m[3])})
			continue
		}
		if err := o.chain(s); err != nil {
			return order{}, err
		}
	}
	for name := range o.may {
		o.close(name, map[string]bool{})
	}
	return o, nil
}

func names(s string) []string {
	var out []string
	for _, n := range strings.Split(s, ",") {
		out = append(out, strings.TrimSpace(n))
	}
	return out
}

func (o order) chain(s string) error {
	var before []string
	for _, set := range strings.Split(s, "<") {
		here := names(set)
		for _, n := range here {
			if !nodeName.MatchString(n) {
				return fmt.Errorf("%q: %q is not a package or a GROUP", s, n)
			}
			if o.may[n] == nil {
				o.may[n] = map[string]bool{}
			}
			for _, b := range before {
				o.may[n][b] = true
			}
		}
		before = append(before, here...)
	}
	return nil
}

// close adds what is reachable, in place.
func (o order) close(name string, onPath map[string]bool) {
	if onPath[name] {
		return
	}
	onPath[name] = true
	for _, b := range slices.Collect(maps.Keys(o.may[name])) {
		o.close(b, onPath)
		maps.Copy(o.may[name], o.may[b])
	}
	delete(onPath, name)
}

// againstOrder finds imports that the order does not allow, packages that it
// does not know, and circles in it. Tests may import what they like.
func againstOrder(files []source, o order) (bad []string) {
	for name, may := range o.may {
		if may[name] {
			bad = append(bad, fmt.Sprintf("docs/deps.txt: %s comes before itself", name))
		}
	}
	for _, f := range files {
		if !f.isGo() || f.isTest() {
			continue
		}
		if o.may[f.dir()] == nil {
			bad = append(bad, fmt.Sprintf("%s:1: package %s is not in docs/deps.txt", f.path, f.dir()))
			continue
		}
		for _, im := range f.file.Imports {
			if text := o.refuses(f.dir(), im); text != "" {
				bad = append(bad, f.at(im.Pos(), "%s", text))
			}
		}
	}
	slices.Sort(bad)
	return bad
}

func (o order) refuses(dir string, im *ast.ImportSpec) string {
	p := strings.Trim(im.Path.Value, `"`)
	if ours, ok := strings.CutPrefix(p, modulePath+"/"); ok {
		if !o.may[dir][ours] {
			return fmt.Sprintf("%s may not import %s (docs/deps.txt)", dir, ours)
		}
		return ""
	}
	listed := false
	for _, k := range o.only {
		module := strings.Contains(k.path, ".") && strings.HasPrefix(p, k.path+"/")
		if ok, _ := path.Match(k.path, p); !ok && !module {
			continue
		}
		listed = listed || !k.never
		if in := o.isOneOf(dir, k.rooms); in == k.never {
			return fmt.Sprintf("%s may not import %s (docs/deps.txt)", dir, p)
		}
	}
	if first, _, _ := strings.Cut(p, "/"); strings.Contains(first, ".") && !listed {
		return fmt.Sprintf("%s is not in docs/deps.txt: say which package keeps it", p)
	}
	return ""
}

// isOneOf reports whether dir is a room or belongs to a group among rooms.
func (o order) isOneOf(dir string, rooms []string) bool {
	return slices.ContainsFunc(rooms, func(r string) bool {
		group := r == strings.ToUpper(r)
		return !group && (dir == r || strings.HasPrefix(dir, r+"/")) || group && o.may[r][dir]
	})
}
