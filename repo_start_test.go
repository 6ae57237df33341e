package agents_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestPatternsAreCompiledWhenNeeded keeps patterns out of the start of the
// program: each command would pay for all of them, and one with letters of all
// scripts took 9 ms. sync.OnceValue compiles a pattern at its first use.
func TestPatternsAreCompiledWhenNeeded(t *testing.T) {
	seen := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		seen++
		for _, name := range compiledAtStart(f) {
			t.Errorf("%s: %s is compiled at the start of the program: use sync.OnceValue", path, name)
		}
		return nil
	})
	if err != nil || seen < 100 {
		t.Errorf("read %d files: %v", seen, err)
	}
	bad, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nvar (\n\ta = 1\n\tp = regexp.MustCompile(`a`)\n)\nvar q = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`b`) })\n", 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := compiledAtStart(bad); len(got) != 1 || got[0] != "p" {
		t.Errorf("found %v, want p", got)
	}
}

// compiledAtStart returns the package variables that are a compiled pattern.
func compiledAtStart(f *ast.File) (names []string) {
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, s := range g.Specs {
			v, ok := s.(*ast.ValueSpec)
			if !ok {
				continue
			}
			for i, value := range v.Values {
				call, ok := value.(*ast.CallExpr)
				if !ok {
					continue
				}
				if sel, ok := call.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "MustCompile" && i < len(v.Names) {
					names = append(names, v.Names[i].Name)
				}
			}
		}
	}
	return names
}
