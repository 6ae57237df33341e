package cli

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/config"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

// set gives the world a configuration file and AGENTS_CFG_ variables.
func (w *world) set(file string, vars map[string]string) *world {
	w.env.ReadConfig = func(path string) (string, []byte, error) {
		if path == "" {
			path = "/home/ann/.config/cleveragents/config.toml"
		}
		return path, []byte(file), nil
	}
	w.env.Vars = func(string) map[string]string { return vars }
	return w
}

// The file is the weakest, then the environment, then the flag.
func TestFormatIsWhatIsSet(t *testing.T) {
	for _, c := range []struct {
		file, own, cfg string
		args           []string
		want           string // how the output begins
	}{
		{"", "", "", nil, "local/shop"},
		{"json", "", "", nil, "{"},
		{"json", "yaml", "", nil, "schema:"},
		{"json", "", "yaml", nil, "schema:"},
		{"json", "", "auto", nil, "local/shop"},
		{"json", "yaml", "", []string{"--format", "plain"}, "local/shop"},
	} {
		w := newWorld(answers())
		w.vars["AGENTS_FORMAT"] = c.own
		text := ""
		if c.file != "" {
			text = "[core]\nformat = \"" + c.file + "\"\n"
		}
		w.set(text, map[string]string{"AGENTS_CFG_core__format": c.cfg})
		w.want(t, 0, append(c.args, "project", "show")...)
		if !strings.HasPrefix(w.out.String(), c.want) {
			t.Errorf("%+v: %q", c, &w.out)
		}
	}
}

func TestColourIsWhatIsSet(t *testing.T) {
	for _, c := range []struct {
		file string
		vars map[string]string
		args []string
		want bool
	}{
		{"always", nil, nil, true},
		{"never", nil, nil, false},
		{"never", nil, []string{"--color", "always"}, true},
		{"always", map[string]string{"NO_COLOR": "1"}, nil, false},
		{"always", nil, []string{"--no-color"}, false},
	} {
		w := newWorld(answers())
		for k, v := range c.vars {
			w.vars[k] = v
		}
		w.set("[core]\ncolor = \""+c.file+"\"\n", nil)
		w.want(t, 0, append(c.args, "--format", "rich", "project", "show")...)
		if got := strings.Contains(w.out.String(), "\x1b["); got != c.want {
			t.Errorf("%+v: colours: %v", c, got)
		}
	}
}

// A configuration with a mistake stops everything but what helps to mend it.
func TestABrokenConfiguration(t *testing.T) {
	w := newWorld(answers()).set("[core]\nformt = \"json\"\n", nil)
	w.want(t, 2, "project", "show")
	for _, want := range []string{"config.toml:2: unknown key core.formt", "did you mean core.format?"} {
		if !strings.Contains(w.err.String(), want) {
			t.Errorf("%q is not in %s", want, &w.err)
		}
	}
	if w.opened != 0 {
		t.Error("the store was opened")
	}
	for _, args := range [][]string{{"config", "path"}, {"config", "validate"}, {"help"}, {"version"}, {"help", "plan"}, {"plan"}, {"completion", "bash"}} {
		w.want(t, 0, args...)
	}
	w.set("[core]\ncolor = 1 # not a text\n[core]\n", nil).want(t, 2, "status")
	if !strings.Contains(w.err.String(), "hint: agents config edit") {
		t.Errorf("no way out: %s", &w.err)
	}
	w.set("", map[string]string{"AGENTS_CFG_core__formt": "x"}).want(t, 2, "status")
	if !strings.Contains(w.err.String(), "environment AGENTS_CFG_core__formt: unknown key") {
		t.Errorf("%s", &w.err)
	}
}

func TestTheFileThatIsNamed(t *testing.T) {
	for _, c := range []struct {
		own, flag, want string
	}{{"", "", ""}, {"/a.toml", "", "/a.toml"}, {"/a.toml", "b.toml", "/home/ann/shop/b.toml"}} {
		w := newWorld(answers())
		asked := "not asked"
		w.env.ReadConfig = func(path string) (string, []byte, error) { asked = path; return path, nil, nil }
		w.vars["AGENTS_CONFIG_FILE"] = c.own
		w.want(t, 0, "--config-file="+c.flag, "project", "show")
		if asked != c.want {
			t.Errorf("%+v: %q was read", c, asked)
		}
	}
	w := newWorld(answers())
	w.env.ReadConfig = func(string) (string, []byte, error) {
		return "", nil, fault.New(fault.NotFound, "no configuration file")
	}
	w.want(t, 3, "project", "show")
	w.want(t, 0, "config", "set", "plan.max-cost", "9")
}

// What flags and variables say goes along with the question, and a project is
// written to only when -p names it.
func TestConfigRequests(t *testing.T) {
	w := newWorld(answers())
	w.vars["AGENTS_PROJECT"] = "other"
	w.want(t, 0, "config", "get", "plan.max-cost", "--format", "json", "--no-color", "-p", "shop")
	want := a2a.ConfigQuery{Key: "plan.max-cost", Project: "shop", Said: []a2a.ConfigSaid{
		{Key: config.CurrentProject, Value: "shop", From: "--project"}, {Key: config.Format, Value: "json", From: "--format"},
		{Key: config.Color, Value: "never", From: "--no-color"},
	}}
	if d := cmp.Diff(want, w.reqs["config/get"]); d != "" {
		t.Error(d)
	}
	w.want(t, 0, "config", "list", "--defaults")
	if d := cmp.Diff(a2a.ConfigListQuery{Project: "other", All: true}, w.reqs["config/list"]); d != "" {
		t.Error(d)
	}
	w.want(t, 0, "config", "set", "core.format", "json")
	if d := cmp.Diff(a2a.ConfigSetRequest{Key: "core.format", Value: "json"}, w.reqs["config/set"]); d != "" {
		t.Error(d)
	}
	w.want(t, 0, "config", "unset", "core.automation-profile", "-p", "shop")
	if d := cmp.Diff(a2a.ConfigSetRequest{Key: "core.automation-profile", Project: "shop"}, w.reqs["config/unset"]); d != "" {
		t.Error(d)
	}
}

func TestTheProfileOfTheEnvironment(t *testing.T) {
	for _, c := range []struct {
		own, cfg string
		args     []string
		want     string
	}{
		{"", "", nil, ""}, {"ci", "", nil, "ci"}, {"", "auto", nil, "auto"}, {"ci", "auto", nil, "ci"},
		{"ci", "", []string{"--automation-profile", "review"}, "review"},
	} {
		w := newWorld(answers()).set("[core]\nautomation-profile = \"trusted\"\n", map[string]string{"AGENTS_CFG_core__automation_profile": c.cfg})
		w.vars["AGENTS_PROFILE"] = c.own
		w.run(append([]string{"plan", "use", "fmt"}, c.args...)...)
		// The file's is for the other side to add: there an action's is stronger.
		if got := w.reqs["plan/use"].(a2a.PlanUseRequest).Profile; got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestConfigEdit(t *testing.T) {
	w := newWorld(answers())
	w.want(t, 2, "config", "edit") // no terminal
	w.terminal().want(t, 2, "--no-input", "config", "edit")
	if len(w.asked) > 0 {
		t.Errorf("asked for %v", w.asked)
	}

	texts := map[string]any{}
	edits := 0
	texts["config/edit"] = answerer(func(_ context.Context, req any, _ func(plan.Event)) (any, error) {
		q := req.(a2a.ConfigEditRequest)
		switch {
		case q.Text == nil:
			return a2a.ConfigTextView{Where: "c.toml", Text: "old\n", Hash: "h1"}, nil
		case q.Expect != "h1":
			t.Errorf("expects %q", q.Expect)
		case strings.Contains(*q.Text, "bad"):
			return nil, fault.New(fault.Invalid, "c.toml:1: unknown key bad")
		}
		return a2a.ConfigTextView{Where: "c.toml", Text: *q.Text, Changed: *q.Text != "old\n"}, nil
	})
	try := func(exit int, typed string, edit func(string) string) *world {
		w := newWorld(texts).terminal()
		edits = 0
		w.in = typed
		w.edit = func(s string) string { edits++; return edit(s) }
		w.want(t, exit, "config", "edit", "-p", "shop")
		if got := w.reqs["config/edit"].(a2a.ConfigEditRequest).Project; got != "shop" {
			t.Errorf("project %q", got)
		}
		return w
	}
	if w := try(0, "", func(s string) string { return s + "new\n" }); !strings.Contains(w.out.String(), "changed c.toml") || edits != 1 {
		t.Errorf("%q after %d edits", &w.out, edits)
	}
	if w := try(0, "", strings.Clone); !strings.Contains(w.out.String(), "nothing is changed in c.toml") {
		t.Errorf("%q", &w.out)
	}
	if w := try(2, "n\n", func(s string) string { return s + "bad\n" }); !strings.Contains(w.err.String(), "nothing was changed: c.toml:1: unknown key bad") || edits != 1 {
		t.Errorf("%q after %d edits", &w.err, edits)
	}
	// The second time the person finds the text as it was left.
	if w := try(0, "y\n", func(s string) string {
		if edits == 1 {
			return s + "bad\n"
		}
		return strings.ReplaceAll(s, "bad", "good")
	}); !strings.Contains(w.out.String(), "changed c.toml") || edits != 2 {
		t.Errorf("%q after %d edits", &w.out, edits)
	}
}

func TestCtrlCBelongsToTheEditor(t *testing.T) {
	w := newWorld(answers()).terminal()
	signals := make(chan os.Signal, 2)
	w.env.Signals = signals
	w.edit = func(s string) string {
		signals <- os.Interrupt
		signals <- os.Interrupt
		return s
	}
	w.want(t, 0, "config", "edit")
	if len(signals) > 0 {
		t.Errorf("%d signals are left", len(signals))
	}
}

func TestConfigValidateExits(t *testing.T) {
	all := answers()
	all["config/validate"] = a2a.ConfigCheckView{Looked: []string{"c.toml"}, Problems: []a2a.ConfigProblem{{Message: "c.toml:2: unknown key x", Hint: "did you mean y?"}}}
	w := newWorld(all)
	w.want(t, 2, "config", "validate")
	if got := w.out.String(); !strings.Contains(got, "c.toml:2: unknown key x") || !strings.Contains(got, "did you mean y?") {
		t.Errorf("%s", got)
	}
}

func TestAChangeBesideAMistake(t *testing.T) {
	all := answers()
	all["config/set"] = a2a.ConfigChange{Key: "plan.max-cost", Value: "9", Where: "c.toml", Changed: true, Problem: "x.toml:2: unknown key y"}
	w := newWorld(all)
	w.want(t, 0, "config", "set", "plan.max-cost", "9")
	if got := w.err.String(); !strings.Contains(got, "warning: x.toml:2: unknown key y") || strings.Contains(got, "counts") {
		t.Errorf("%s", got)
	}
}

func TestFlagsAreTheStrongestLayer(t *testing.T) {
	w := newWorld(answers()).set("[core]\nformat = \"json\"\n", nil)
	var got config.Settings
	open := w.env.Open
	w.env.Open = func(ctx context.Context, o Options) (a2a.Client, io.Closer, error) {
		got = o.Settings
		return open(ctx, o)
	}
	w.want(t, 0, "--format", "plain", "project", "show")
	if e := got.Entry(config.Format); e.Value != "plain" || e.Origin.String() != "flag --format" {
		t.Errorf("%+v", e)
	}
	w.want(t, 2, "--format", "xml", "project", "show")
}
