package agents_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// modulePath is what our own import paths start with.
const modulePath = "github.com/cleveragents/agents"

// source is one text file of the repository.
type source struct {
	path string // slash-separated, from the root
	text []byte
	file *ast.File // of a Go file
	fset *token.FileSet
}

func (s source) dir() string  { return path.Dir(s.path) }
func (s source) isGo() bool   { return s.file != nil }
func (s source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") || testSupport(s.dir()) }

// testSupport reports whether a package exists for tests only: a suite that
// several implementations run.
func testSupport(dir string) bool {
	return strings.HasSuffix(dir, "test") && dir != "." && path.Base(dir) != "test"
}

// at makes a finding at a position.
func (s source) at(pos token.Pos, format string, args ...any) string {
	return fmt.Sprintf("%s:%d: %s", s.path, s.fset.Position(pos).Line, fmt.Sprintf(format, args...))
}

// imported returns the path that a file imports under a name, "" for none.
func (s source) imported(name string) string {
	for _, im := range s.file.Imports {
		p := strings.Trim(im.Path.Value, `"`)
		as := path.Base(p)
		if im.Name != nil {
			as = im.Name.Name
		}
		if as == name {
			return p
		}
	}
	return ""
}

// goFile parses Go text; the rules' own tests use it too.
func goFile(t testing.TB, name, text string) source {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return source{path: name, text: []byte(text), file: f, fset: fset}
}

// tree reads every text file of the repository, in the order of their paths.
// Directories that git ignores and hidden ones but .ci are left out.
func tree(t testing.TB) []source {
	t.Helper()
	var out []source
	root := os.DirFS(".")
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			hidden := strings.HasPrefix(d.Name(), ".") && p != "." && p != ".ci"
			if hidden || p == "bin" || p == "tmp" {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || p == "agents" {
			return nil
		}
		text, err := fs.ReadFile(root, p)
		if err != nil {
			return err
		}
		switch {
		case bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0: // binary
		case strings.HasSuffix(p, ".go") && !slices.Contains(strings.Split(p, "/"), "testdata"):
			out = append(out, goFile(t, p, string(text)))
		default:
			out = append(out, source{path: p, text: text})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) == 0 {
		t.Fatal("no files found")
	}
	return out
}

// entry is one line "name: reason" of a list in docs/.
type entry struct {
	line         int
	name, reason string
}

// list parses such lines; # starts a comment.
func list(text string) []entry {
	var out []entry
	for i, l := range strings.Split(text, "\n") {
		l, _, _ = strings.Cut(l, "#")
		if l = strings.TrimSpace(l); l != "" {
			name, reason, _ := strings.Cut(l, ":")
			out = append(out, entry{i + 1, strings.TrimSpace(name), strings.TrimSpace(reason)})
		}
	}
	return out
}

// read returns a file of the repository.
func read(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
