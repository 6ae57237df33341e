package local_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/a2a/local"
	"github.com/cleveragents/agents/config/file"
	"github.com/cleveragents/agents/fault"
)

// person is a configuration in a file of a test, with an environment of its own.
type person struct {
	path string
	env  map[string]string
}

func (p person) Path() string          { return p.path }
func (p person) Read() ([]byte, error) { return file.Read(p.path) }
func (p person) Update(ctx context.Context, edit func([]byte) ([]byte, error)) error {
	return file.Update(ctx, p.path, edit)
}
func (p person) Getenv(name string) string { return p.env[name] }
func (p person) Vars(prefix string) map[string]string {
	out := map[string]string{}
	for k, v := range p.env {
		if strings.HasPrefix(k, prefix) {
			out[k] = v
		}
	}
	return out
}
func (p person) Tree(dir string) ([]byte, string, error) { return file.Tree(dir) }

// configured is a facade with a configuration and a project that is called shop.
func configured(t *testing.T) (f *local.Facade, me person, dir string) {
	t.Helper()
	f, _ = newFacade(t)
	me = person{filepath.Join(t.TempDir(), "cfg", "config.toml"), map[string]string{}}
	f.Configuration = me
	dir = t.TempDir()
	do(t, f, a2a.ProjectInit(), a2a.ProjectInitRequest{Dir: dir, Name: "shop"})
	return f, me, dir
}

func get(t *testing.T, f *local.Facade, key string) string {
	t.Helper()
	v := do(t, f, a2a.ConfigGet(), a2a.ConfigQuery{Key: key})
	return v.Value + " from " + v.Origin.Layer
}

func TestConfigSetAndUnset(t *testing.T) {
	f, me, _ := configured(t)
	if v := do(t, f, a2a.ConfigPath(), a2a.Nothing{}); v.Exists || v.Path != me.path {
		t.Errorf("path: %+v", v)
	}
	v := do(t, f, a2a.ConfigSet(), a2a.ConfigSetRequest{Key: "plan.max-cost", Value: "2.50"})
	if !v.Changed || v.Value != "2.5" || v.Where != me.path || v.Now.Value != "2.5" || v.Now.Origin.Line != 2 {
		t.Errorf("set: %+v", v)
	}
	if got := get(t, f, "plan.max-cost"); got != "2.5 from user" {
		t.Error(got)
	}
	do(t, f, a2a.ConfigSet(), a2a.ConfigSetRequest{Key: "plan.max-cost", Value: "7", Project: "shop"})
	me.env["AGENTS_CFG_plan__max_tool_calls"] = "3"
	list := do(t, f, a2a.ConfigList(), a2a.ConfigListQuery{Said: []a2a.ConfigSaid{{Key: "core.format", Value: "json", From: "--format"}}})
	var got []string
	for _, x := range list.Values {
		got = append(got, x.Key+"="+x.Value+" "+x.Origin.Text)
	}
	want := "core.project=local/shop agents project use|core.format=json flag --format|plan.max-cost=7 project local/shop|" +
		"plan.max-tool-calls=3 environment AGENTS_CFG_plan__max_tool_calls"
	if strings.Join(got, "|") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), want)
	}
	said := do(t, f, a2a.ConfigExplain(), a2a.ConfigQuery{Key: "plan.max-cost"}).Said
	if len(said) != 3 || said[0].Value != "7" || said[1].Value != "2.5" || said[2].Origin.Layer != "default" {
		t.Errorf("all that is said: %+v", said)
	}
	if v := do(t, f, a2a.ConfigUnset(), a2a.ConfigSetRequest{Key: "plan.max-cost", Project: "shop"}); !v.Changed || v.Now.Value != "2.5" {
		t.Errorf("unset: %+v", v)
	}
	if v := do(t, f, a2a.ConfigUnset(), a2a.ConfigSetRequest{Key: "plan.max-cost", Project: "shop"}); v.Changed {
		t.Errorf("unset twice: %+v", v)
	}
	refused(t, f, a2a.ConfigGet(), a2a.ConfigQuery{Key: "plan.max-cots"}, fault.Invalid)
	refused(t, f, a2a.ConfigExplain(), a2a.ConfigQuery{Key: "x"}, fault.Invalid)
	refused(t, f, a2a.ConfigSet(), a2a.ConfigSetRequest{Key: "plan.max-cost", Value: "much"}, fault.Invalid)
	refused(t, f, a2a.ConfigSet(), a2a.ConfigSetRequest{Key: "core.format", Value: "json", Project: "shop"}, fault.Invalid)
	refused(t, f, a2a.ConfigSet(), a2a.ConfigSetRequest{Key: "plan.max-cost", Value: "1", Project: "none"}, fault.NotFound)
	me.env["AGENTS_CFG_nonsense"] = "1"
	refused(t, f, a2a.ConfigGet(), a2a.ConfigQuery{Key: "plan.max-cost"}, fault.Invalid)
	// What is wrong elsewhere does not undo a change.
	if v := do(t, f, a2a.ConfigSet(), a2a.ConfigSetRequest{Key: "plan.max-cost", Value: "4"}); !v.Changed || !strings.Contains(v.Problem, "AGENTS_CFG_nonsense") {
		t.Errorf("set beside a mistake: %+v", v)
	}
}

func TestTheCurrentProjectIsKeptWithTheData(t *testing.T) {
	f, me, _ := configured(t)
	do(t, f, a2a.ProjectCreate(), a2a.ProjectCreateRequest{Name: "other"})
	v := do(t, f, a2a.ConfigSet(), a2a.ConfigSetRequest{Key: "core.project", Value: "other"})
	if v.Value != "local/other" || v.Now.Value != "local/other" || !do(t, f, a2a.ProjectShow(), a2a.NameQuery{Name: "other"}).Current {
		t.Errorf("%+v", v)
	}
	if _, err := os.Stat(me.path); err == nil {
		t.Error("a file was made for it")
	}
	refused(t, f, a2a.ConfigSet(), a2a.ConfigSetRequest{Key: "core.project", Value: "none"}, fault.NotFound)
	if v := do(t, f, a2a.ConfigUnset(), a2a.ConfigSetRequest{Key: "core.project"}); !v.Changed || v.Now.Value != "" {
		t.Errorf("unset: %+v", v)
	}
	if v := do(t, f, a2a.ConfigUnset(), a2a.ConfigSetRequest{Key: "core.project"}); v.Changed {
		t.Errorf("unset twice: %+v", v)
	}
	refused(t, f, a2a.ProjectShow(), a2a.NameQuery{}, fault.NotFound)
}

// The project's own profile is one thing, whoever sets it.
func TestTheProfileOfAProject(t *testing.T) {
	f, _, _ := configured(t)
	do(t, f, a2a.ConfigSet(), a2a.ConfigSetRequest{Key: "plan.max-cost", Value: "7", Project: "shop"})
	do(t, f, a2a.ConfigSet(), a2a.ConfigSetRequest{Key: "core.automation-profile", Value: "review", Project: "shop"})
	if p := do(t, f, a2a.ProjectShow(), a2a.NameQuery{Name: "shop"}).Project; p.AutomationProfile != "review" {
		t.Errorf("the project says %q", p.AutomationProfile)
	}
	text := do(t, f, a2a.ConfigEdit(), a2a.ConfigEditRequest{Project: "shop"})
	if text.Text != "[plan]\nmax-cost = 7\n\n[core]\nautomation-profile = \"review\"\n" {
		t.Errorf("%q", text.Text)
	}
	edited := "# why\n" + strings.ReplaceAll(text.Text, "review", "trusted")
	do(t, f, a2a.ConfigEdit(), a2a.ConfigEditRequest{Project: "shop", Text: &edited, Expect: text.Hash})
	if p := do(t, f, a2a.ProjectShow(), a2a.NameQuery{Name: "shop"}).Project; p.AutomationProfile != "trusted" {
		t.Errorf("after the edit the project says %q", p.AutomationProfile)
	}
	do(t, f, a2a.ConfigUnset(), a2a.ConfigSetRequest{Key: "core.automation-profile", Project: "shop"})
	if p := do(t, f, a2a.ProjectShow(), a2a.NameQuery{Name: "shop"}).Project; p.AutomationProfile != "" {
		t.Errorf("after unset the project says %q", p.AutomationProfile)
	}
	if text := do(t, f, a2a.ConfigEdit(), a2a.ConfigEditRequest{Project: "shop"}); !strings.HasPrefix(text.Text, "# why\n[plan]\nmax-cost = 7\n") {
		t.Errorf("the comment is gone: %q", text.Text)
	}
}

// use makes a plan in the project.
func use(t *testing.T, f *local.Facade, profile string) a2a.PlanView {
	t.Helper()
	out := do(t, f, a2a.PlanUse(), a2a.PlanUseRequest{Action: "builtin/command", Project: "shop", Args: map[string]string{"command": "true"}, Profile: profile})
	return do(t, f, a2a.PlanShow(), a2a.RefQuery{Ref: string(out.Plan.ID)})
}

func TestPlansAreMadeAsIsSet(t *testing.T) {
	f, me, dir := configured(t)
	check := func(what, profile, by string, cost float64) {
		t.Helper()
		p := use(t, f, "").Plan
		got := 0.0
		if c := p.Profile.Safety.MaxCostPerPlan; c != nil {
			got = *c
		}
		if p.Profile.Name != profile || p.ProfileBy != by || got != cost {
			t.Errorf("%s: %s by %s, $%v; want %s by %s, $%v", what, p.Profile.Name, p.ProfileBy, got, profile, by, cost)
		}
	}
	check("nothing is set", "manual", "default", 0)
	do(t, f, a2a.ConfigSet(), a2a.ConfigSetRequest{Key: "core.automation-profile", Value: "review"})
	do(t, f, a2a.ConfigSet(), a2a.ConfigSetRequest{Key: "plan.max-cost", Value: "9"})
	check("the person's", "review", "global", 9)
	must(t, os.Mkdir(filepath.Join(dir, ".agents"), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, ".agents", "config.toml"), []byte("[plan]\nmax-cost = 3\nmax-tool-calls = 2\n"), 0o600))
	check("the files of the project lower", "review", "global", 3)
	if got := use(t, f, "").Plan.Profile.Guard.MaxToolCallsPerStep; got == nil || *got != 2 {
		t.Errorf("tool calls: %v", got)
	}
	do(t, f, a2a.ConfigSet(), a2a.ConfigSetRequest{Key: "core.automation-profile", Value: "trusted", Project: "shop"})
	do(t, f, a2a.ConfigSet(), a2a.ConfigSetRequest{Key: "plan.max-cost", Value: "none", Project: "shop"})
	check("what the person set for the project", "trusted", "project", 0)
	me.env["AGENTS_CFG_plan__max_cost"] = "1"
	check("the environment", "trusted", "project", 1)
	if p := use(t, f, "ci").Plan; p.Profile.Name != "ci" || p.ProfileBy != "plan" {
		t.Errorf("%s by %s", p.Profile.Name, p.ProfileBy)
	}
}

// T15: a hostile project's file makes no plan and names its line.
func TestAHostileProjectFile(t *testing.T) {
	f, _, dir := configured(t)
	must(t, os.Mkdir(filepath.Join(dir, ".agents"), 0o755))
	path := filepath.Join(dir, ".agents", "config.toml")
	do(t, f, a2a.ConfigSet(), a2a.ConfigSetRequest{Key: "plan.max-cost", Value: "2"})
	for text, want := range map[string]string{
		"[core]\nautomation-profile = \"full-auto\"\n": path + ":2: the files of a project may not set core.automation-profile",
		"[log]\nfile = \"/etc/cron.d/x\"\n":            path + ":2: the files of a project may not set log.file",
		"[shell]\nmax-timeout = \"24h\"\n":             path + ":2: the files of a project may not set shell.max-timeout",
		"[provider]\nbase-url = \"http://evil\"\n":     path + ":2: unknown key provider.base-url",
		"[provider]\ndefault = \"evil/model\"\n":       path + ":2: the files of a project may not set provider.default",
		"[backdoor]\nx = 1\n":                          path + ":1: unknown section [backdoor]",
		"[plan]\nmax-cost = 100\n":                     path + ":2: plan.max-cost: 100 is more than 2",
		"[plan]\nmax-cost = \"none\"\n":                path + ":2: plan.max-cost: none is more than 2",
	} {
		must(t, os.WriteFile(path, []byte(text), 0o600))
		err := refused(t, f, a2a.PlanUse(), a2a.PlanUseRequest{Action: "builtin/command", Project: "shop", Args: map[string]string{"command": "true"}}, fault.Invalid)
		if !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
		v := do(t, f, a2a.ConfigValidate(), a2a.ConfigQuery{})
		if len(v.Problems) != 1 || !strings.HasPrefix(v.Problems[0].Message, want) {
			t.Errorf("%q: validate says %+v", text, v)
		}
	}
}

func TestConfigEditTakesWhatIsRight(t *testing.T) {
	f, me, _ := configured(t)
	old := do(t, f, a2a.ConfigEdit(), a2a.ConfigEditRequest{})
	if old.Text != "" || old.Changed || old.Where != me.path {
		t.Errorf("%+v", old)
	}
	bad, good := "[core]\nformt = 1\n", "# mine\n[core]\nformat = \"json\"\n"
	refused(t, f, a2a.ConfigEdit(), a2a.ConfigEditRequest{Text: &bad, Expect: old.Hash}, fault.Invalid)
	if v := do(t, f, a2a.ConfigEdit(), a2a.ConfigEditRequest{Text: &good, Expect: old.Hash}); !v.Changed || v.Hash == old.Hash {
		t.Errorf("%+v", v)
	}
	b, err := os.ReadFile(me.path)
	must(t, err)
	if string(b) != good {
		t.Errorf("%q", b)
	}
	refused(t, f, a2a.ConfigEdit(), a2a.ConfigEditRequest{Text: &good, Expect: old.Hash}, fault.Conflict)
	// A file that others broke can be read and mended.
	must(t, os.WriteFile(me.path, []byte(bad), 0o600))
	broken := do(t, f, a2a.ConfigEdit(), a2a.ConfigEditRequest{})
	do(t, f, a2a.ConfigEdit(), a2a.ConfigEditRequest{Text: &good, Expect: broken.Hash})
	if v := do(t, f, a2a.ConfigValidate(), a2a.ConfigQuery{}); len(v.Problems) != 0 || len(v.Looked) != 2 {
		t.Errorf("%+v", v)
	}
}

func TestWithoutAConfiguration(t *testing.T) {
	f, _ := newFacade(t)
	refused(t, f, a2a.ConfigGet(), a2a.ConfigQuery{Key: "plan.max-cost"}, fault.NotImplemented)
	refused(t, f, a2a.ConfigPath(), a2a.Nothing{}, fault.NotImplemented)
	refused(t, f, a2a.ConfigSet(), a2a.ConfigSetRequest{Key: "plan.max-cost", Value: "1"}, fault.NotImplemented)
	refused(t, f, a2a.ConfigValidate(), a2a.ConfigQuery{}, fault.NotImplemented)
}
