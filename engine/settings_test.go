package engine_test

import (
	"testing"

	"github.com/cleveragents/agents/action"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/policy"
)

// The profile is the first that is set of plan, action, project and global, and
// the plan says which it was.
func TestWhereTheProfileComesFrom(t *testing.T) {
	base := action.Action{
		Name: "local/a", Description: "d", DefinitionOfDone: "d", State: action.Available,
		StrategyActor: "builtin/command-strategy", ExecutionActor: "builtin/command-execution",
		Args: []action.Arg{{Name: "command", Type: action.Text}},
	}
	own := base
	own.Name, own.AutomationProfile = "local/own", "review"
	w := newWorld(t, t.TempDir(), t.TempDir(), noModel{}, []action.Action{base, own}, nil)
	for _, c := range []struct{ action, asked, ofProject, global, want, by string }{
		{"local/own", "auto", "trusted", "ci", "auto", "plan"},
		{"local/own", "", "trusted", "ci", "review", "action"},
		{"local/a", "", "trusted", "ci", "trusted", "project"},
		{"local/a", "", "", "ci", "ci", "global"},
		{"local/a", "", "", "", policy.DefaultProfile, "default"},
	} {
		must(t, w.Store.Update(t.Context(), func(tx engine.Tx) error {
			p, err := tx.Project("local/p")
			if err != nil {
				return err
			}
			p.AutomationProfile = c.ofProject
			return tx.UpdateProject(p)
		}))
		p := w.use(engine.UseInput{
			Action: c.action, Args: map[string]string{"command": "true"}, Profile: c.asked,
			Settings: engine.Settings{Profile: c.global},
		})
		if p = w.plan(p.ID); p.Profile.Name != c.want || p.ProfileBy != c.by {
			t.Errorf("%+v: %s by %s", c, p.Profile.Name, p.ProfileBy)
		}
	}
}

// The limits of the configuration can lower those of the profile and of the
// action, never lift them.
func TestLimitsOfTheConfiguration(t *testing.T) {
	cost := func(f float64) *float64 { return &f }
	calls := func(n int) *int { return &n }
	a := action.Action{
		Name: "local/a", Description: "d", DefinitionOfDone: "d", State: action.Available,
		StrategyActor: "builtin/command-strategy", ExecutionActor: "builtin/command-execution",
		Args:   []action.Arg{{Name: "command", Type: action.Text}},
		Safety: &policy.Safety{RequireSandbox: true, RequireCheckpoints: true, MaxCostPerPlan: cost(5), MaxRetriesPerStep: 1},
	}
	free := a
	free.Name, free.Safety = "local/free", nil
	w := newWorld(t, t.TempDir(), t.TempDir(), noModel{}, []action.Action{a, free}, nil)
	for _, c := range []struct {
		action string
		set    engine.Settings
		cost   *float64
		calls  *int
	}{
		{"local/a", engine.Settings{}, cost(5), nil},
		{"local/a", engine.Settings{MaxCost: cost(2)}, cost(2), nil},
		{"local/a", engine.Settings{MaxCost: cost(9), MaxToolCalls: calls(4)}, cost(5), calls(4)},
		{"local/free", engine.Settings{MaxCost: cost(0)}, cost(0), nil},
		{"local/free", engine.Settings{}, nil, nil},
	} {
		p := w.use(engine.UseInput{Action: c.action, Args: map[string]string{"command": "true"}, Settings: c.set})
		p = w.plan(p.ID)
		got := p.Profile
		if !equal(got.Safety.MaxCostPerPlan, c.cost) || !equal(got.Guard.MaxToolCallsPerStep, c.calls) {
			t.Errorf("%s with %+v: %v, %v", c.action, c.set, got.Safety.MaxCostPerPlan, got.Guard.MaxToolCallsPerStep)
		}
	}
}

func equal[N comparable](a, b *N) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}
