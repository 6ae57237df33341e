package actor_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/builtin"
	"github.com/cleveragents/agents/fault"
)

// What people copy from has to be right: it is read, its graphs are put
// together, and its tools exist.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../examples/actors/*.yaml")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	tools := map[string]bool{}
	for _, s := range builtin.New(builtin.Config{}).Specs() {
		tools[s.Name] = true
	}
	all := map[string]actor.Config{}
	texts := map[string][]byte{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		c, err := actor.Parse(f, text)
		if err != nil {
			t.Error(err)
			continue
		}
		all[c.Name], texts[c.Name] = c, text
		if want := "local/" + strings.TrimSuffix(filepath.Base(f), ".yaml"); c.Name != want || c.Description == "" {
			t.Errorf("%s is called %s and described as %q", f, c.Name, c.Description)
		}
		for _, name := range c.ToolNames() {
			if !tools[name] {
				t.Errorf("%s names the tool %s, which does not exist", f, name)
			}
		}
	}
	for name, c := range all {
		err := c.Check(name, texts[name], func(name string) (actor.Config, error) {
			if c, ok := all[name]; ok {
				return c, nil
			}
			return actor.Config{}, fault.New(fault.NotFound, "no actor %s", name)
		})
		if err != nil {
			t.Error(err)
		}
	}
}
