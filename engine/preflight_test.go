package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cleveragents/agents/action"
	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/llm"
	"github.com/cleveragents/agents/policy"
	"github.com/cleveragents/agents/project"
)

// What cannot run is refused when the plan is made, with the name of the check,
// and nothing is stored.
func TestPreflight(t *testing.T) {
	base := action.Action{
		Name: "local/a", Description: "d", DefinitionOfDone: "d", State: action.Available,
		StrategyActor: "builtin/command-strategy", ExecutionActor: "builtin/command-execution",
		Args: []action.Arg{{Name: "command", Type: action.Text}},
	}
	actors := []actor.Config{
		{Name: "local/model", Provider: "nobody", Model: "m"},
		{Name: "local/tools", Graph: []actor.Node{{ID: "a", Tool: "builtin/nosuch"}}},
	}
	with := func(change func(*action.Action)) action.Action {
		a := base
		change(&a)
		return a
	}
	for name, c := range map[string]struct {
		a       action.Action
		project string
		want    string
	}{
		"archived":    {with(func(a *action.Action) { a.State = action.Archived }), "local/p", "action: local/a is archived"},
		"draft":       {with(func(a *action.Action) { a.State = action.Draft }), "local/p", "action: local/a is draft"},
		"no resource": {base, "local/empty", "resources: project local/empty has no linked resource"},
		"no provider": {with(func(a *action.Action) { a.ExecutionActor = "local/model" }), "local/p", `actors: local/model: no provider "nobody" is set up`},
		"no tool":     {with(func(a *action.Action) { a.ExecutionActor = "local/tools" }), "local/p", "tools: actor local/tools names tool builtin/nosuch"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, t.TempDir(), t.TempDir(), llm.New(llm.Config{}), []action.Action{c.a}, actors)
			must(t, w.Store.Update(context.Background(), func(tx engine.Tx) error {
				return tx.InsertProject(project.Project{Name: "local/empty", Links: []project.Link{}, Created: w.Now()})
			}))
			_, err := w.Use(context.Background(), engine.UseInput{Action: "local/a", Project: c.project, Profile: "ci"})
			if !fault.Is(err, fault.Unavailable) || fault.CodeOf(err) != "PreflightFailed" || !strings.HasPrefix(err.Error(), "preflight: "+c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			w.view(func(tx engine.Tx) error {
				all, err := tx.Plans(engine.PlanFilter{})
				if len(all) > 0 {
					t.Errorf("%d plans are stored", len(all))
				}
				return err
			})
		})
	}
	gone := newWorld(t, t.TempDir(), t.TempDir()+"/gone", noModel{}, nil, nil)
	if _, err := gone.Use(context.Background(), engine.UseInput{
		Action: "builtin/command", Project: "local/p", Args: map[string]string{"command": "true"}, Profile: policy.DefaultProfile,
	}); !fault.Is(err, fault.Unavailable) || !strings.HasPrefix(err.Error(), "preflight: resources: ") {
		t.Errorf("a resource that is gone: %v", err)
	}
}

// T05 (before anything is made): a plan that requires a sandbox is refused where
// nothing confines programs, with the way out.
func TestPreflightAsksForASandbox(t *testing.T) {
	w := newWorld(t, t.TempDir(), t.TempDir(), noModel{}, nil, nil)
	w.Confined = func(context.Context) error {
		return fault.New(fault.Unavailable, "there is none").WithHint("install one")
	}
	use := func(profile string) error {
		_, err := w.Use(context.Background(), engine.UseInput{
			Action: "builtin/command", Project: "local/p", Args: map[string]string{"command": "true"}, Profile: profile,
		})
		return err
	}
	err := use(policy.DefaultProfile)
	if f := fault.As(err); !fault.Is(err, fault.Unavailable) || f.Msg != "preflight: sandbox: there is none" || f.Hint != "install one" || f.Code != "SandboxUnavailable" {
		t.Errorf("got %+v", f)
	}
	if err := use("full-auto"); err != nil {
		t.Errorf("a profile that does not require one: %v", err)
	}
}
