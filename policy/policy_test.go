package policy_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/policy"
)

// The profiles are the table of the specification, of which testdata holds a
// copy.
func TestBuiltinIsTheTable(t *testing.T) {
	b, err := os.ReadFile("testdata/builtin.md")
	if err != nil {
		t.Fatal(err)
	}
	cell := map[string]map[string]string{} // profile, flag
	var profiles []string
	for _, l := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		cols := strings.Split(strings.Trim(l, "|"), "|")
		for i := range cols {
			cols[i] = strings.Trim(strings.TrimSpace(cols[i]), "`*")
		}
		switch {
		case cols[0] == "Flag":
			profiles = cols[1:]
			for _, p := range profiles {
				cell[p] = map[string]string{}
			}
		case strings.HasPrefix(cols[0], "-"), cols[0] == "Safety Profile":
		default:
			for i, p := range profiles {
				cell[p][cols[0]] = cols[i+1]
			}
		}
	}
	var names []string
	for _, p := range policy.Builtin() {
		names = append(names, p.Name)
		want := cell[p.Name]
		got := map[string]string{}
		for task, n := range policy.TaskNames() {
			got[n.Key] = strconv.FormatFloat(float64(p.Thresholds[task]), 'f', 1, 64)
		}
		maximum := func(m *float64) string {
			if m == nil {
				return "null"
			}
			return strconv.FormatFloat(*m, 'f', -1, 64)
		}
		s := p.Safety
		got["safety.require_sandbox"] = strconv.FormatBool(s.RequireSandbox)
		got["safety.require_checkpoints"] = strconv.FormatBool(s.RequireCheckpoints)
		got["safety.allow_unsafe_tools"] = strconv.FormatBool(s.AllowUnsafeTools)
		got["safety.require_human_approval"] = strconv.FormatBool(s.RequireHumanApproval)
		// Absent is any, which the table of the spec writes as an empty list.
		got["safety.allowed_skill_categories"] = "[" + strings.Join(deref(s.AllowedSkillCategories), ",") + "]"
		got["safety.max_cost_per_plan"] = maximum(s.MaxCostPerPlan)
		got["safety.max_total_cost"] = maximum(s.MaxTotalCost)
		got["safety.max_retries_per_step"] = strconv.Itoa(s.MaxRetriesPerStep)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-spec +ours):\n%s", p.Name, d)
		}
	}
	if d := cmp.Diff(profiles, names); d != "" {
		t.Error(d)
	}
}

// T22: a threshold of 1 waits for a person whatever the confidence, and what is
// not a confidence counts as none.
func TestThresholds(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		threshold policy.Threshold
		score     float64
		want      bool
	}{
		{0, 0, true}, {0, 1, true}, {0.7, 0.7, true}, {0.7, 0.69, false}, {0.7, 1, true},
		{1, 1, false}, {1, 0, false}, {1, inf, false},
		{0.1, nan, false}, {0.1, inf, false}, {0.1, -1, false}, {0.1, 7, false}, {0, nan, true},
		{policy.Threshold(nan), 1, false}, {policy.Threshold(inf), 1, false},
		{-1, 1, false}, {7, 1, false},
	} {
		confidence := policy.NewConfidence(c.score)
		if got := c.threshold.Passes(confidence); got != c.want {
			t.Errorf("threshold %v at %v: got %v, want %v", c.threshold, c.score, got, c.want)
		}
		p := policy.Profile{}
		p.Thresholds[policy.SpawnChild] = c.threshold
		if got := p.Auto(policy.SpawnChild, confidence); got != c.want {
			t.Errorf("profile with %v at %v: got %v, want %v", c.threshold, c.score, got, c.want)
		}
		if !p.Auto(policy.EnterApply, confidence) {
			t.Error("the threshold of another task was used")
		}
	}
	if (policy.Confidence{}) != policy.NewConfidence(0) || policy.NewConfidence(0.25).Float() != 0.25 {
		t.Error("the missing confidence is not 0, or a confidence is not kept")
	}
}

// T22: more confidence and a lower threshold never hold a task back.
func TestThresholdsAreMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		any := rapid.Float64()
		t1, t2 := any.Draw(t, "t1"), any.Draw(t, "t2")
		c1, c2 := any.Draw(t, "c1"), any.Draw(t, "c2")
		low := policy.Threshold(t1).Passes(policy.NewConfidence(c1))
		valid := func(f float64) bool { return f >= 0 && f <= 1 }
		if low && !(t1 >= 0 && t1 < 1) {
			t.Fatalf("threshold %v let a task pass", t1)
		}
		if low && valid(t2) && t2 <= t1 && valid(c2) && c2 >= c1 && !policy.Threshold(t2).Passes(policy.NewConfidence(c2)) {
			t.Fatalf("passes at %v/%v and not at %v/%v", t1, c1, t2, c2)
		}
	})
}

func ref[T any](v T) *T { return &v }

// T19: the order of the guard, one row for each step.
func TestGuardOrder(t *testing.T) {
	all := policy.Guard{
		ToolDenylist: ref([]string{"rm"}), ToolAllowlist: ref([]string{"rm", "edit"}),
		MaxToolCallsPerStep: ref(3), MaxTotalCost: ref(1.5),
		RequireApprovalForWrites: true, RequireApprovalForApply: true,
	}
	worst := policy.GuardInput{Tool: "rm", Write: true, Apply: true, Cost: 9, Calls: 9}
	for _, c := range []struct {
		change func(*policy.GuardInput)
		want   string
	}{
		{func(*policy.GuardInput) {}, "plan: tool rm is on the denylist"},
		{func(in *policy.GuardInput) { in.Tool = "other" }, "plan: tool other is not on the allowlist"},
		{func(in *policy.GuardInput) { in.Tool = "edit" }, "plan: 9 tool calls in this step, the limit is 3"},
		{func(in *policy.GuardInput) { in.Calls = 2 }, "plan: $9.0000 spent, the limit is $1.5000"},
		{func(in *policy.GuardInput) { in.Cost = 1.49 }, "plan: tool edit writes, and writes need approval"},
		{func(in *policy.GuardInput) { in.Write = false }, "plan: apply needs approval"},
		{func(in *policy.GuardInput) { in.Apply = false }, ""},
		{func(in *policy.GuardInput) { in.Calls, in.Scope = 3, "subplan" }, "subplan: 3 tool calls in this step, the limit is 3"},
		{func(in *policy.GuardInput) { in.Calls, in.Cost = 0, 1.5 }, "subplan: $1.5000 spent, the limit is $1.5000"},
		{func(in *policy.GuardInput) { in.Cost = math.NaN() }, "subplan: $NaN spent, the limit is $1.5000"},
		{func(in *policy.GuardInput) { in.Cost = -1 }, "subplan: $-1.0000 spent, the limit is $1.5000"},
	} {
		c.change(&worst)
		want := policy.GuardResult{Allowed: c.want == "", NeedsApproval: c.want != "", Reason: c.want}
		if d := cmp.Diff(want, all.Check(worst)); d != "" {
			t.Errorf("%+v:\n%s", worst, d)
		}
	}
	if got := (policy.Guard{}).Check(worst); !got.Allowed {
		t.Errorf("a guard without rules: %+v", got)
	}
}

// T19: one more deny, or any tighter rule, never allows more; one more allow
// never lifts a deny.
func TestGuardIsMonotone(t *testing.T) {
	tools := []string{"read", "edit", "rm", "shell"}
	rapid.Check(t, func(t *rapid.T) {
		lists := rapid.OneOf(
			rapid.Just[*[]string](nil),
			rapid.Map(rapid.SliceOf(rapid.SampledFrom(tools)), func(l []string) *[]string { return &l }))
		g := policy.Guard{
			ToolAllowlist: lists.Draw(t, "allow"), ToolDenylist: lists.Draw(t, "deny"),
			MaxToolCallsPerStep:      rapid.Ptr(rapid.IntRange(0, 3), true).Draw(t, "calls"),
			MaxTotalCost:             rapid.Ptr(rapid.Float64Range(0, 2), true).Draw(t, "cost"),
			RequireApprovalForWrites: rapid.Bool().Draw(t, "writes"),
			RequireApprovalForApply:  rapid.Bool().Draw(t, "apply"),
		}
		in := policy.GuardInput{
			Tool: rapid.SampledFrom(tools).Draw(t, "tool"), Write: rapid.Bool().Draw(t, "write"), Apply: rapid.Bool().Draw(t, "is apply"),
			Cost: rapid.Float64Range(-1, 3).Draw(t, "spent"), Calls: rapid.IntRange(0, 4).Draw(t, "made"),
		}
		before := g.Check(in).Allowed
		another := rapid.SampledFrom(tools).Draw(t, "another")
		extend := func(l *[]string) *[]string {
			if l == nil {
				return &[]string{another}
			}
			return ref(append(slices.Clone(*l), another))
		}
		for name, tighter := range map[string]func(*policy.Guard){
			"one more deny": func(g *policy.Guard) { g.ToolDenylist = extend(g.ToolDenylist) },
			"first allow": func(g *policy.Guard) {
				if g.ToolAllowlist == nil {
					g.ToolAllowlist = extend(nil)
				}
			},
			"no calls":  func(g *policy.Guard) { g.MaxToolCallsPerStep = ref(0) },
			"no money":  func(g *policy.Guard) { g.MaxTotalCost = ref(0.0) },
			"writes":    func(g *policy.Guard) { g.RequireApprovalForWrites = true },
			"apply":     func(g *policy.Guard) { g.RequireApprovalForApply = true },
			"allow nil": func(g *policy.Guard) { g.ToolAllowlist = &[]string{} },
		} {
			h := g
			tighter(&h)
			if h.Check(in).Allowed && !before {
				t.Fatalf("%s allows more: %+v, %+v", name, h, in)
			}
		}
		if g.ToolDenylist != nil && slices.Contains(*g.ToolDenylist, in.Tool) {
			h := g
			h.ToolAllowlist = ref(append(slices.Clone(tools), in.Tool))
			if h.Check(in).Allowed {
				t.Fatalf("an allow lifts a deny: %+v, %+v", h, in)
			}
		}
	})
}

// T04: an empty list is a list of nothing, also after any way through bytes.
func TestEmptyAllowlistAllowsNothing(t *testing.T) {
	in := policy.GuardInput{Tool: "read"}
	for name, g := range map[string]struct {
		guard policy.Guard
		want  bool
	}{
		"absent": {policy.Guard{}, true},
		"empty":  {policy.Guard{ToolAllowlist: &[]string{}, ToolDenylist: &[]string{}}, false},
		"this":   {policy.Guard{ToolAllowlist: &[]string{"read"}}, true},
		"other":  {policy.Guard{ToolAllowlist: &[]string{"Read"}}, false},
	} {
		if got := g.guard.Check(in).Allowed; got != g.want {
			t.Errorf("%s: allowed is %v", name, got)
		}
		for codec, through := range map[string]func(policy.Guard, *policy.Guard) error{
			"encoding/json": func(g policy.Guard, out *policy.Guard) error {
				b, err := json.Marshal(g)
				if err != nil {
					return err
				}
				return json.Unmarshal(b, out)
			},
			"json v2": func(g policy.Guard, out *policy.Guard) error {
				b, err := jsonv2.Marshal(g)
				if err != nil {
					return err
				}
				return jsonv2.Unmarshal(b, out)
			},
			"yaml": func(g policy.Guard, out *policy.Guard) error {
				b, err := yaml.Marshal(g)
				if err != nil {
					return err
				}
				return yaml.Unmarshal(b, out)
			},
		} {
			var back policy.Guard
			if err := through(g.guard, &back); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(g.guard, back); d != "" {
				t.Errorf("%s through %s:\n%s", name, codec, d)
			}
		}
	}
}

func TestTaskNames(t *testing.T) {
	seen := map[string]bool{}
	for i, n := range policy.TaskNames() {
		if n.Alias == "" || n.Key == "" || n.Meaning == "" || seen[n.Alias] || seen[n.Key] {
			t.Errorf("task %d: %+v is not complete or not unique", i, n)
		}
		seen[n.Alias], seen[n.Key] = true, true
		if got := policy.Task(i).String(); got != n.Alias {
			t.Errorf("task %d reads %s", i, got)
		}
	}
	if len(policy.TaskNames()) != len(policy.Profile{}.Thresholds) {
		t.Error("a task without a threshold, or the reverse")
	}
}

func TestFindAndResolve(t *testing.T) {
	p, err := policy.Find("cautious")
	if err != nil || p.Name != "cautious" || p.Thresholds[policy.DecideExecution] != .8 {
		t.Errorf("got %+v, %v", p, err)
	}
	_, err = policy.Find("bold")
	if !fault.Is(err, fault.NotFound) || !strings.Contains(fault.As(err).Hint, "full-auto") {
		t.Errorf("got %v", err)
	}
	if _, err := policy.Find(policy.DefaultProfile); err != nil {
		t.Error(err)
	}
	for _, c := range [][6]string{
		{"a", "b", "c", "d", "a", "plan"}, {"", "b", "c", "d", "b", "action"}, {"", "", "c", "d", "c", "project"},
		{"", "", "", "d", "d", "global"}, {"", "", "", "", "manual", "default"},
	} {
		if name, tier := policy.Resolve(c[0], c[1], c[2], c[3]); name != c[4] || tier != c[5] {
			t.Errorf("%q: got %s by %s", c, name, tier)
		}
	}
}

func deref(list *[]string) []string {
	if list == nil {
		return nil
	}
	return *list
}
