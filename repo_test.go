// Package agents_test holds the rules of the house as tests: what the whole
// repository keeps to, whoever wrote a part of it and whenever.
//
// Each rule is a function from files to findings and has two tests: this file
// runs it over the repository, repo_rule_test.go over small examples that break
// it, so that a rule that finds nothing is known to look. go vet, staticcheck
// and go mod verify are run by ./test.
package agents_test

import (
	"testing"
)

func TestRules(t *testing.T) {
	files := tree(t)
	o, err := parseOrder(read(t, "docs/deps.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for name, findings := range map[string][]string{
		"formatted":             notFormatted(files),
		"files are short":       tooLong(files),
		"packages say what":     withoutComment(files),
		"names say what":        namesOfNothing(files),
		"no func init":          initFuncs(files),
		"no dot imports":        dotImports(files),
		"kept calls":            keptElsewhere(files),
		"files through os.Root": pathAccess(files, list(read(t, "docs/access.txt"))),
		"no package state":      mutableVars(files),
		"import order":          againstOrder(files, o),
		"threats keep a test":   threats(files, list(read(t, "docs/threats.txt"))),
		"scripts run":           scriptsNotRun(files),
		"forbidden words":       forbiddenWords(files),
	} {
		t.Run(name, func(t *testing.T) {
			for _, f := range findings {
				t.Error(f)
			}
		})
	}
}
