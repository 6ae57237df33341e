package agents_test

import (
	"slices"
	"strings"
	"testing"
)

// TestRulesBite gives every rule something to find and something to leave
// alone: a rule that finds nothing here looks at nothing in the repository.
func TestRulesBite(t *testing.T) {
	const doc = "// Package p is here for the rule.\n"
	over := func(rule func([]source, []entry) []string, text string) func([]source) []string {
		return func(files []source) []string { return rule(files, list(text)) }
	}
	access := over(pathAccess, "p/known.go: its own directory\n")
	threat := over(threats, "T01: all of it\n")
	const tested = "package p\n\n// T01: it is refused.\n"

	for _, c := range []struct {
		rule func([]source) []string
		name string
		text string
		want string // a part of the finding; "" for none
	}{
		{notFormatted, "p/p.go", "package p\n\nvar   _ = 1\n", "p/p.go:1: not formatted"},
		{notFormatted, "p/p.go", "package p\n\nvar _ = 1\n", ""},

		{tooLong, "p/p.go", "package p\n" + strings.Repeat("//\n", maxLines), "501 lines"},
		{tooLong, "p/p.go", "package p\n" + strings.Repeat("//\n", maxLines-1), ""},

		{withoutComment, "p/p.go", "package p\n", "package p has no comment"},
		{withoutComment, "p/p.go", "// Something else.\npackage p\n", "package p has no comment"},
		{withoutComment, "cmd/p/p.go", "// Package main is.\npackage main\n", "package main has no comment"},
		{withoutComment, "p/p.go", doc + "package p\n", ""},
		{withoutComment, "cmd/p/p.go", "// Command p does.\npackage main\n", ""},

		{namesOfNothing, "p/p.go", "package utils\n", `"utils" says nothing`},
		{namesOfNothing, "a/common/p.go", "package p\n", `"common" says nothing`},
		{namesOfNothing, "p/p.go", "package based\n", ""},

		{initFuncs, "p/p.go", "package p\n\nfunc init() {}\n", "p/p.go:3: func init"},
		{initFuncs, "p/p.go", "package p\n\nfunc (t) init() {}\n", ""},

		{dotImports, "p/p.go", "package p\n\nimport . \"fmt\"\n", "p/p.go:3: a dot import"},
		{dotImports, "p/p.go", "package p\n\nimport _ \"fmt\"\n", ""},

		{keptElsewhere, "p/p.go", "package p\n\nimport \"os\"\n\nvar _ = os.Environ()\n", "os.Environ outside proc"},
		{keptElsewhere, "p/p.go", "package p\n\nimport x \"os/exec\"\n\nvar _ = x.Command\n", "os/exec.Command outside proc"},
		{keptElsewhere, "p/p.go", "package p\n\nimport \"os/exec\"\n\nvar _ = exec.CommandContext\n", "exec.CommandContext outside"},
		{keptElsewhere, "p/p.go", "package p\n\nimport \"os/exec\"\n\nvar _ = exec.Cmd{}\n", "exec.Cmd outside"},
		{keptElsewhere, "p/p.go", "package p\n\nimport \"syscall\"\n\nvar _ = syscall.ForkExec\n", "syscall.ForkExec outside"},
		{keptElsewhere, "p/p.go", "package p\n\nimport \"time\"\n\nvar now = time.Now\n", "time.Now outside cmd/agents"},
		{keptElsewhere, "proc/p.go", "package p\n\nimport \"time\"\n\nvar d = time.Since(t)\n", "time.Since outside cmd/agents"},
		{keptElsewhere, "proc2/p.go", "package p\n\nimport \"os\"\n\nvar _ = os.Environ\n", "os.Environ outside proc"},
		{keptElsewhere, "proc/p.go", "package p\n\nimport \"os\"\n\nvar _ = os.Environ()\n", ""},
		{keptElsewhere, "cmd/agents/p.go", "package p\n\nimport \"time\"\n\nvar _ = time.Now()\n", ""},
		{keptElsewhere, "p/p_test.go", "package p\n\nimport \"time\"\n\nvar _ = time.Now()\n", ""},
		{keptElsewhere, "p/ptest/p.go", "package p\n\nimport \"time\"\n\nvar _ = time.Now()\n", ""},
		{keptElsewhere, "p/p.go", "package p\n\nimport \"time\"\n\nfunc f() { time := x{}; time.Now(); _ = y.Now }\n", ""},

		{access, "p/p.go", "package p\n\nimport \"os\"\n\nvar _, _ = os.ReadFile(\"x\")\n", "p/p.go:5: os.ReadFile takes a path"},
		{access, "p/p.go", "package p\n\nimport \"path/filepath\"\n\nvar _ = filepath.WalkDir\n", "filepath.WalkDir takes a path"},
		{access, "p/p.go", "package p\n\nimport \"os\"\n\nvar _, _ = os.OpenRoot(\"x\")\n", "docs/access.txt:1: p/known.go needs no entry"},
		{access, "p/known.go", "package p\n\nimport \"os\"\n\nvar _, _ = os.ReadFile(\"x\")\n", ""},
		{over(pathAccess, "p/p.go\n"), "p/p.go", "package p\n\nimport \"os\"\n\nvar _, _ = os.Open(\"x\")\n", "os.Open takes a path"},

		{mutableVars, "p/p.go", "package p\n\nvar cache = map[string]int{}\n", "package state cache"},
		{mutableVars, "p/p.go", "package p\n\nvar n int\n", "package state n"},
		{mutableVars, "p/p.go", "package p\n\nvar f = func() {}\n", "package state f"},
		{mutableVars, "p/p.go", "package p\n\nvar f = g()\n", "package state f"},
		{mutableVars, "p/p.go", "package p\n\nvar f = x.New(1)\n", "package state f"},
		{mutableVars, "p/p.go", "package p\n\nvar a, b = 1, 2\n", "package state b"},
		{mutableVars, "p/p.go", "package p\n\nimport \"regexp\"\n\nvar r = regexp.MustCompile(`x`)\n\nvar _ I = T{}\n", ""},
		{mutableVars, "p/p.go", "package p\n\nimport (\n\t\"errors\"\n\t\"reflect\"\n)\n\nvar (\n\terrX = errors.New(\"x\")\n\tt = reflect.TypeFor[int]()\n)\n", ""},
		{mutableVars, "p/p.go", "package p\n\nimport \"embed\"\n\n//go:embed x\nvar files embed.FS\n", ""},
		{mutableVars, "p/p_test.go", "package p\n\nvar n int\n", ""},

		{threat, "p/p_test.go", tested + "\n// T02, T03 and T66\nvar x int\n", "p/p_test.go: T66 has a test and is not in"},
		{threat, "p/p_test.go", "package p\n\n// about T01\n", "T01 has lost its test"},
		{threat, "p/p.go", tested, "T01 has lost its test"},
		{over(threats, "T01\nT67\n"), "p/p_test.go", tested + "\n// T67\nvar x int\n", `"T67" is not one of`},
		{threat, "p/p_test.go", tested, ""},
		{threat, "p/ptest/p.go", tested, ""},
		{threat, "e2e/script/a_b.txtar", "# T01: it is refused.\n", ""},

		{scriptsNotRun, "e2e/script/plan_use.txtar", "# Why.\n", "no test runs the scripts of e2e/script"},
		{forbiddenWords, "README.md", "see /wo" + "rk/main\n", "have no place"},
		{forbiddenWords, "x.md", "GOPROXY=https://proxy.gol" + "ang.org\n", "have no place"},
		{forbiddenWords, "p/p.go", "package p\n\n// TO" + "DO: more\n", "p/p.go:3: the words"},
		{forbiddenWords, "p/p.go", "package p\n\n// for n" + "ow it does\n", "p/p.go:3: the words"},
		{forbiddenWords, "p/p.go", "package p\n\n// a mastodon, $WORK/x, network/x\n", ""},
		{forbiddenWords, "x.md", "the to" + "do list\n", ""},
	} {
		var f source
		if strings.HasSuffix(c.name, ".go") {
			f = goFile(t, c.name, c.text)
		} else {
			f = source{path: c.name, text: []byte(c.text)}
		}
		got := c.rule([]source{f})
		found := slices.ContainsFunc(got, func(g string) bool { return strings.Contains(g, c.want) })
		if c.want == "" && len(got) > 0 || c.want != "" && !found {
			t.Errorf("%s:\n%s\ngot %q, want %q", c.name, c.text, got, c.want)
		}
	}
}

func TestScriptRule(t *testing.T) {
	runner := func(params string) source {
		return goFile(t, "e2e/e2e_test.go", "package e2e_test\n\nvar p = testscript.Params{"+params+"}\n")
	}
	script := func(name, text string) source { return source{path: name, text: []byte(text)} }
	good := script("e2e/script/plan_use.txtar", "# Why.\nexec agents\n")
	for _, c := range []struct {
		files []source
		want  string
	}{
		{[]source{runner(`Dir: "script"`), good}, ""},
		{[]source{runner(`Dir: "script", Files: some`), good}, "no test runs"},
		{[]source{runner(`Dir: dir`), good}, "no test runs"},
		{[]source{runner(`Dir: "scripts"`), good}, "no test runs"},
		{[]source{runner(`Dir: "script"`)}, "it has no scripts"},
		{[]source{runner(`Dir: "script"`), script("e2e/script/plan.txtar", "# Why.\n")}, "noun_behaviour"},
		{[]source{runner(`Dir: "script"`), script("e2e/script/plan_use.txtar", "exec agents\n")}, "says why"},
	} {
		got := strings.Join(scriptsNotRun(c.files), "\n")
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestOrderRule(t *testing.T) {
	const text = `
low < mid; # a comment; with a semicolon is cut off
mid < HAND < hand, hand/sub;
low < pure < WORDS;
os never in WORDS; net/* never in WORDS;
os/exec only in hand;
x.org/lib only in HANDS;
HAND < more < HANDS;
`
	o, err := parseOrder(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, imports, want string }{
		{"mid", modulePath + "/low", ""},
		{"hand", modulePath + "/low", ""},
		{"hand/sub", modulePath + "/mid", ""},
		{"low", modulePath + "/mid", "low may not import mid"},
		{"hand", modulePath + "/pure", "hand may not import pure"},
		{"hand", modulePath + "/hand/sub", "hand may not import hand/sub"},
		{"other", "fmt", "package other is not in docs/deps.txt"},
		{"pure", "os", "pure may not import os"},
		{"low", "os", "low may not import os"},
		{"low", "net/http", "low may not import net/http"},
		{"low", "strings", ""},
		{"mid", "os", ""},
		{"hand/sub", "os/exec", ""},
		{"mid", "os/exec", "mid may not import os/exec"},
		{"more", "x.org/lib/v2/inner", ""},
		{"pure", "x.org/lib", "pure may not import x.org/lib"},
		{"mid", "x.org/other", "x.org/other is not in docs/deps.txt"},
	} {
		f := goFile(t, c.dir+"/p.go", "package p\n\nimport _ \""+c.imports+"\"\n")
		got := strings.Join(againstOrder([]source{f}, o), "\n")
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s imports %s: got %q, want %q", c.dir, c.imports, got, c.want)
		}
		test := goFile(t, c.dir+"/p_test.go", "package p\n\nimport _ \""+c.imports+"\"\n")
		if got := againstOrder([]source{test}, o); len(got) > 0 {
			t.Errorf("a test of %s imports %s: got %q", c.dir, c.imports, got)
		}
	}
	if _, err := parseOrder("a b < c;"); err == nil {
		t.Error("a name with a space is accepted")
	}
	circle, err := parseOrder("a < b; b < c < a;")
	if err != nil {
		t.Fatal(err)
	}
	if got := againstOrder(nil, circle); len(got) != 3 || !strings.Contains(got[0], "a comes before itself") {
		t.Errorf("circle: got %q", got)
	}
}

// TestOrderOfTheDesign holds docs/deps.txt itself to the design, so that a line
// added in a hurry cannot turn the storeys around.
func TestOrderOfTheDesign(t *testing.T) {
	o, err := parseOrder(read(t, "docs/deps.txt"))
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"fault", "decode", "ident", "policy", "tool", "action", "actor", "project", "resource", "plan", "evidence", "skill", "provider", "config"}
	hands := []string{"blob", "container", "durable", "llm", "lsp", "mcp", "proc", "sandbox", "secret", "store", "store/sqlite", "store/postgres", "builtin", "config/file"}
	doors := []string{"cli", "tui", "web", "server"}
	for name, may := range o.may {
		for above := range may {
			switch {
			case slices.Contains(words, name) && !slices.Contains(words, above):
				t.Errorf("the word %s may import %s", name, above)
			case (name == "engine" || name == "acms" || name == "merge") && slices.Contains(hands, above):
				t.Errorf("%s may import the hand %s", name, above)
			case slices.Contains(hands, name) && slices.Contains(append(doors, "a2a"), above):
				t.Errorf("the hand %s may import %s", name, above)
			case slices.Contains(hands, name) && slices.Contains(hands, above) && above != "proc" && !strings.HasPrefix(name, above+"/"):
				t.Errorf("the hand %s may import the hand %s", name, above)
			case slices.Contains(doors, name) && (slices.Contains(hands, above) || above == "engine" || above == "acms"):
				t.Errorf("the door %s may import %s", name, above)
			}
		}
	}
	for _, w := range append(words, hands...) {
		if o.may[w] == nil {
			t.Errorf("%s is not in docs/deps.txt", w)
		}
	}
}
