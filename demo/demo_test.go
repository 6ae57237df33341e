package demo_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cleveragents/agents/action"
	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/demo"
)

func TestProjectHasTheBugAndTheTestThatFindsIt(t *testing.T) {
	dir := t.TempDir()
	if err := demo.Write(dir); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "test.sh")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("the demo project has no bug:\n%s", out)
	}
	for _, want := range []string{"FAIL  price of 10000", "FAIL  price of 10005", "ok    price of 9999"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if runs := exec.Command(filepath.Join(dir, "price.sh"), "9999"); runs.Run() != nil {
		t.Error("price.sh is not executable")
	}
}

func TestConfigurationIsRead(t *testing.T) {
	b, err := demo.Read(demo.ActionFile)
	if err != nil {
		t.Fatal(err)
	}
	a, err := action.Parse(demo.ActionFile, b)
	if err != nil {
		t.Fatal(err)
	}
	if a.Name != demo.Action {
		t.Errorf("the action is called %s, not %s", a.Name, demo.Action)
	}
	names := map[string]bool{}
	for _, f := range demo.ActorFiles() {
		if b, err = demo.Read(f); err != nil {
			t.Fatal(err)
		}
		c, err := actor.Parse(f, b)
		if err != nil {
			t.Fatal(err)
		}
		names[c.Name] = true
		if c.Model != demo.Model {
			t.Errorf("%s asks for model %s", c.Name, c.Model)
		}
	}
	if !names[a.StrategyActor] || !names[a.ExecutionActor] {
		t.Errorf("the action names actors that are not there: %v", names)
	}
}
