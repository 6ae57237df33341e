package agents_test

import (
	"fmt"
	"go/ast"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/cleveragents/agents/config"
)

// keyNames returns the constants of config/keys.go by the key they name.
func keyNames(files []source) map[string]string {
	out := map[string]string{}
	for _, f := range files {
		if f.path != "config/keys.go" {
			continue
		}
		ast.Inspect(f.file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Names) != 1 || len(spec.Values) != 1 {
				return true
			}
			if lit, ok := spec.Values[0].(*ast.BasicLit); ok {
				if key, err := strconv.Unquote(lit.Value); err == nil {
					out[key] = spec.Names[0].Name
				}
			}
			return true
		})
	}
	return out
}

// unread finds keys of the configuration that the program reads nowhere.
func unread(files []source, keys []string) (bad []string) {
	names, read := keyNames(files), map[string]bool{}
	for _, f := range files {
		if !f.isGo() || f.isTest() || f.dir() == "config" {
			continue
		}
		eachUse(f, func(n *ast.SelectorExpr, pkg string) {
			if pkg == modulePath+"/config" {
				read[n.Sel.Name] = true
			}
		})
	}
	for _, k := range keys {
		if names[k] == "" || !read[names[k]] {
			bad = append(bad, fmt.Sprintf("config/keys.go: nothing reads %s: a key that does nothing is a lie", k))
		}
	}
	return bad
}

func TestEveryConfigurationKeyIsRead(t *testing.T) {
	var keys []string
	for _, k := range config.Keys() {
		keys = append(keys, k.Name)
	}
	for _, b := range unread(tree(t), keys) {
		t.Error(b)
	}
	table := goFile(t, "config/keys.go", "package config\n\nconst (\n\tA = \"x.a\"\n\tB = \"x.b\"\n)\n")
	reader := goFile(t, "cli/p.go", "package cli\n\nimport \""+modulePath+"/config\"\n\nvar _ = config.A\n")
	own := goFile(t, "config/p.go", "package config\n\nvar _ = B\n")
	if got := unread([]source{table, reader, own}, []string{"x.a", "x.b", "x.c"}); len(got) != 2 || !strings.Contains(got[0], "x.b") || !strings.Contains(got[1], "x.c") {
		t.Errorf("the rule finds %q", got)
	}
}

// TestConfigurationDocs keeps the table of docs/config.md as the keys are;
// AGENTS_UPDATE=1 renews it.
func TestConfigurationDocs(t *testing.T) {
	const begin, end = "<!-- keys -->\n", "<!-- end of keys -->\n"
	text := read(t, "docs/config.md")
	head, rest, ok := strings.Cut(text, begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("docs/config.md has lost its marks")
	}
	var b strings.Builder
	section := ""
	for _, k := range config.Keys() {
		s, _, _ := strings.Cut(k.Name, ".")
		if s != section {
			section = s
			fmt.Fprintf(&b, "\n### %s\n", s)
		}
		def := "`" + k.Default + "`"
		if k.Default == "" {
			def = "nothing"
		}
		vars := []string{"`" + config.EnvName(k.Name) + "`"}
		if k.Env != "" {
			vars = append([]string{"`" + k.Env + "`"}, vars...)
		}
		var layers []string
		for _, l := range k.Layers {
			layers = append(layers, l.String())
		}
		fmt.Fprintf(&b, "\n**`%s`** — %s\n\n", k.Name, k.Doc)
		fmt.Fprintf(&b, "- takes %s\n- default: %s\n- set by: %s\n- variables: %s\n", k.Wants(), def, strings.Join(layers, ", "), strings.Join(vars, ", "))
		if k.Flag != "" {
			fmt.Fprintf(&b, "- flag: `--%s`\n", k.Flag)
		}
		if k.Instead != "" {
			fmt.Fprintf(&b, "- not in a file: `%s`\n", k.Instead)
		}
	}
	want := head + begin + b.String() + "\n" + end + tail
	if os.Getenv("AGENTS_UPDATE") != "" {
		if err := os.WriteFile("docs/config.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != text {
		t.Error("docs/config.md is not what config/keys.go says; AGENTS_UPDATE=1 go test . renews it")
	}
}
