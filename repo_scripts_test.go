package agents_test

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var scriptName = regexp.MustCompile(`^[a-z0-9]+(_[a-z0-9]+)+\.txtar$`)

// scriptsNotRun finds test scripts below e2e that no test runs, that do not say
// why they exist, or whose name does not begin with a noun. A folder is run when
// a test beside or above it passes its relative path as Dir of
// testscript.Params, and nothing but Dir selects scripts.
func scriptsNotRun(files []source) (bad []string) {
	ran := map[string]bool{}
	for _, f := range files {
		if !f.isGo() || !strings.HasSuffix(f.path, "_test.go") {
			continue
		}
		ast.Inspect(f.file, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			if sel, ok := lit.Type.(*ast.SelectorExpr); !ok || sel.Sel.Name != "Params" {
				return true
			}
			if dir, whole := scriptDir(lit); whole {
				ran[path.Join(f.dir(), dir)] = true
			}
			return true
		})
	}
	folders := map[string]bool{}
	for _, f := range files {
		if path.Ext(f.path) != ".txtar" || !strings.HasPrefix(f.path, "e2e/") || strings.Contains(f.path, "/testdata/") {
			continue
		}
		folders[f.dir()] = true
		if !ran[f.dir()] {
			bad = append(bad, f.path+":1: no test runs the scripts of "+f.dir())
		}
		if !scriptName.MatchString(path.Base(f.path)) {
			bad = append(bad, f.path+":1: call it noun_behaviour.txtar")
		}
		if !strings.HasPrefix(string(f.text), "# ") {
			bad = append(bad, f.path+":1: open with a comment that says why")
		}
	}
	for dir := range ran {
		if strings.HasPrefix(dir, "e2e/") && !folders[dir] {
			bad = append(bad, fmt.Sprintf("%s: a test runs this folder and it has no scripts", dir))
		}
	}
	slices.Sort(bad)
	return bad
}

// scriptDir returns the Dir of a testscript.Params literal and whether all of
// its scripts run.
func scriptDir(lit *ast.CompositeLit) (dir string, whole bool) {
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return "", false
		}
		switch kv.Key.(*ast.Ident).Name {
		case "Dir":
			if b, ok := kv.Value.(*ast.BasicLit); ok {
				dir, _ = strconv.Unquote(b.Value)
			}
		case "Files":
			return "", false
		}
	}
	return dir, dir != ""
}
