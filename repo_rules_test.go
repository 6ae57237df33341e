package agents_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
)

// maxLines is the longest a Go file may be.
const maxLines = 500

func notFormatted(files []source) (bad []string) {
	for _, f := range files {
		if !f.isGo() {
			continue
		}
		want, err := format.Source(f.text)
		if err != nil || !bytes.Equal(want, f.text) {
			bad = append(bad, f.path+":1: not formatted: run gofmt -w "+f.path)
		}
	}
	return bad
}

func tooLong(files []source) (bad []string) {
	for _, f := range files {
		if n := bytes.Count(f.text, []byte("\n")); f.isGo() && n > maxLines {
			bad = append(bad, fmt.Sprintf("%s:%d: %d lines, at most %d: give a part of it a file of its own", f.path, maxLines, n, maxLines))
		}
	}
	return bad
}

// withoutComment finds packages in which no file says what the package is.
func withoutComment(files []source) (bad []string) {
	said := map[string]bool{}
	for _, f := range files {
		if !f.isGo() {
			continue
		}
		key := f.dir() + " " + strings.TrimSuffix(f.file.Name.Name, "_test")
		start := "Package " + f.file.Name.Name + " "
		if f.file.Name.Name == "main" {
			start = "Command "
		}
		said[key] = said[key] || strings.HasPrefix(f.file.Doc.Text(), start)
	}
	for key, ok := range said {
		if dir, name, _ := strings.Cut(key, " "); !ok {
			bad = append(bad, fmt.Sprintf("%s: package %s has no comment that says what it is", dir, name))
		}
	}
	slices.Sort(bad)
	return bad
}

// nothingNames say nothing about what is inside.
var nothingNames = regexp.MustCompile(`^(utils?|common|helpers?|managers?|base|types|misc|shared|internal|pkg)$`)

func namesOfNothing(files []source) (bad []string) {
	for _, f := range files {
		if !f.isGo() {
			continue
		}
		for _, name := range append(strings.Split(f.dir(), "/"), f.file.Name.Name) {
			if nothingNames.MatchString(name) {
				bad = append(bad, fmt.Sprintf("%s:1: the name %q says nothing: name it after what it holds", f.path, name))
			}
		}
	}
	return bad
}

func initFuncs(files []source) (bad []string) {
	for _, f := range files {
		if !f.isGo() {
			continue
		}
		for _, d := range f.file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				bad = append(bad, f.at(fn.Pos(), "func init runs unasked: call it from where it is needed"))
			}
		}
	}
	return bad
}

// keptCall is a name of the standard library that one room keeps to itself.
type keptCall struct {
	pkg, name string
	rooms     []string // directories, with all below them
	instead   string
}

func keptCalls() []keptCall {
	proc, main := []string{"proc"}, []string{"cmd/agents"}
	return []keptCall{
		{"os", "Environ", proc, "the environment of a child is built by proc"},
		{"os", "StartProcess", proc, "children are started by proc"},
		{"os/exec", "Command", proc, "children are started by proc"},
		{"os/exec", "CommandContext", proc, "children are started by proc"},
		{"os/exec", "Cmd", proc, "children are started by proc"},
		{"syscall", "ForkExec", proc, "children are started by proc"},
		{"syscall", "StartProcess", proc, "children are started by proc"},
		{"syscall", "Exec", proc, "children are started by proc"},
		{"golang.org/x/sys/unix", "Exec", proc, "children are started by proc"},
		{"time", "Now", main, "take a now func() time.Time, so that a run can be replayed"},
		{"time", "Since", main, "take a now func() time.Time, so that a run can be replayed"},
		{"time", "Until", main, "take a now func() time.Time, so that a run can be replayed"},
	}
}

// keptElsewhere finds uses of kept names outside their rooms. Tests are free.
func keptElsewhere(files []source) (bad []string) {
	kept := keptCalls()
	for _, f := range files {
		if !f.isGo() || f.isTest() {
			continue
		}
		eachUse(f, func(n *ast.SelectorExpr, pkg string) {
			for _, k := range kept {
				if k.pkg == pkg && k.name == n.Sel.Name && !within(f.dir(), k.rooms) {
					bad = append(bad, f.at(n.Pos(), "%s.%s outside %s: %s", pkg, k.name, strings.Join(k.rooms, ", "), k.instead))
				}
			}
		})
	}
	return bad
}

func within(dir string, rooms []string) bool {
	return slices.ContainsFunc(rooms, func(r string) bool { return dir == r || strings.HasPrefix(dir, r+"/") })
}

// eachUse calls f for every package.Name in a file, called or not.
func eachUse(f source, do func(n *ast.SelectorExpr, pkg string)) {
	ast.Inspect(f.file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		// Obj is set for what the file itself declares under that name.
		if x, ok := sel.X.(*ast.Ident); ok && x.Obj == nil {
			if pkg := f.imported(x.Name); pkg != "" {
				do(sel, pkg)
			}
		}
		return true
	})
}

func dotImports(files []source) (bad []string) {
	for _, f := range files {
		if !f.isGo() {
			continue
		}
		for _, im := range f.file.Imports {
			if im.Name != nil && im.Name.Name == "." {
				bad = append(bad, f.at(im.Pos(), "a dot import hides where names come from"))
			}
		}
	}
	return bad
}

// fileCalls reach a file by a path, around os.Root.
var fileCalls = regexp.MustCompile(`^(Open|OpenFile|Create|CreateTemp|ReadFile|WriteFile|ReadDir|Readlink|Rename|Remove|RemoveAll|Mkdir|MkdirAll|MkdirTemp|Symlink|Link|Truncate|Chmod|Chown|Lchown|Chtimes|DirFS|CopyFS)$`)

// pathAccess finds calls that reach a file by a path in files that allowed does
// not name, and entries of allowed that have become needless. Tests are free.
func pathAccess(files []source, allowed []entry) (bad []string) {
	used := map[string]bool{}
	for _, f := range files {
		if !f.isGo() || f.isTest() {
			continue
		}
		eachUse(f, func(n *ast.SelectorExpr, pkg string) {
			walks := pkg == "path/filepath" && strings.HasPrefix(n.Sel.Name, "Walk")
			if !walks && (pkg != "os" || !fileCalls.MatchString(n.Sel.Name)) {
				return
			}
			if slices.ContainsFunc(allowed, func(e entry) bool { return e.name == f.path && e.reason != "" }) {
				used[f.path] = true
				return
			}
			bad = append(bad, f.at(n.Pos(), "%s.%s takes a path: go through os.Root, or give the reason in docs/access.txt", pkg, n.Sel.Name))
		})
	}
	for _, e := range allowed {
		if !used[e.name] {
			bad = append(bad, fmt.Sprintf("docs/access.txt:%d: %s needs no entry, or its reason is missing", e.line, e.name))
		}
	}
	return bad
}

// mutableVars finds package-level variables that are not constants in all but
// name: compiled patterns, error values, embedded files, reflected types, the
// once-computed, and checks that a type implements an interface.
func mutableVars(files []source) (bad []string) {
	for _, f := range files {
		if !f.isGo() || f.isTest() {
			continue
		}
		for _, d := range f.file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, spec := range g.Specs {
				v := spec.(*ast.ValueSpec)
				embedded := strings.Contains(comments(g.Doc, v.Doc), "//go:embed ")
				for i, name := range v.Names {
					if name.Name == "_" || embedded || i < len(v.Values) && fixedValue(f, v.Values[i]) {
						continue
					}
					bad = append(bad, f.at(name.Pos(), "package state %s: make it a constant, a function's result or a field", name.Name))
				}
			}
		}
	}
	return bad
}

func comments(groups ...*ast.CommentGroup) string {
	var b strings.Builder
	for _, g := range groups {
		if g == nil {
			continue
		}
		for _, c := range g.List {
			b.WriteString(c.Text + "\n")
		}
	}
	return b.String()
}

func fixedValue(f source, v ast.Expr) bool {
	call, ok := v.(*ast.CallExpr)
	if !ok {
		return false
	}
	fun := call.Fun
	if ix, ok := fun.(*ast.IndexExpr); ok { // reflect.TypeFor[T]()
		fun = ix.X
	}
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	if !ok {
		return false
	}
	switch f.imported(x.Name) + "." + sel.Sel.Name {
	case "regexp.MustCompile", "errors.New", "fmt.Errorf", modulePath + "/fault.New",
		"reflect.TypeFor", "reflect.TypeOf", "sync.OnceValue", "sync.OnceValues":
		return true
	}
	return false
}

// forbiddenWords never stand in the repository: addresses of one machine or
// registry, and words that mark unfinished work. They are put together here so
// that this file does not hold them itself.
func forbiddenWords(files []source) (bad []string) {
	everywhere := regexp.MustCompile(`(?i)` + strings.Join([]string{
		`(?-i:/wo` + `rk/)`, `/tmp/ba` + `sh_`, `proxy\.gol` + `ang\.org`, `sum\.gol` + `ang\.org`, `registry\.np` + `mjs`,
		`py` + `pi\.org`, `deb\.deb` + `ian\.org`, `co-auth` + `ored-by`, `generated wi` + `th \[`,
	}, "|"))
	inGo := regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X|HA` + `CK)\b|(?i)\b(for n` + `ow|not implemented y` + `et|simpl` + `ified)\b`)
	for _, f := range files {
		for i, l := range strings.Split(string(f.text), "\n") {
			word := everywhere.FindString(l)
			if word == "" && f.isGo() && !f.isTest() {
				word = inGo.FindString(l)
			}
			if word != "" {
				bad = append(bad, fmt.Sprintf("%s:%d: the words %q have no place here", f.path, i+1, word))
			}
		}
	}
	return bad
}

var (
	threatComment = regexp.MustCompile(`(?m)^\s*(?://|#)\s*(T\d\d(?:(?:,| and) T\d\d)*)\b`)
	threatID      = regexp.MustCompile(`^T(0[1-9]|[1-5]\d|6[0-6])$`)
)

// threats compares the list of ids that have a test with the comments that
// begin with an id, in tests, suites and scripts.
func threats(files []source, listed []entry) (bad []string) {
	where := map[string]string{}
	for _, f := range files {
		if !(f.isGo() && f.isTest()) && path.Ext(f.path) != ".txtar" {
			continue
		}
		for _, m := range threatComment.FindAllStringSubmatch(string(f.text), -1) {
			for _, id := range regexp.MustCompile(`T\d\d`).FindAllString(m[1], -1) {
				where[id] = f.path
			}
		}
	}
	for _, e := range listed {
		if !threatID.MatchString(e.name) {
			bad = append(bad, fmt.Sprintf("docs/threats.txt:%d: %q is not one of T01 to T66", e.line, e.name))
		}
		if where[e.name] == "" {
			bad = append(bad, fmt.Sprintf("docs/threats.txt:%d: %s has lost its test: the list only grows", e.line, e.name))
		}
		delete(where, e.name)
	}
	for id, p := range where {
		bad = append(bad, fmt.Sprintf("%s: %s has a test and is not in docs/threats.txt", p, id))
	}
	slices.Sort(bad)
	return bad
}
