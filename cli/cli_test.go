package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/action"
	"github.com/cleveragents/agents/config"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/tool"
)

func TestUsageErrors(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"plan explian", `unknown command "explian" for "agents plan"; did you mean explain?`},
		{"nonsense", `unknown command "nonsense" for "agents"`},
		{"plan show a b", `unexpected argument "b"`},
		{"plan use", "an argument is missing"},
		{"plan list --bogus", "unknown flag: --bogus"},
		{"plan list --fromat json", "unknown flag: --fromat; did you mean --format?"},
		{"plan list --limt=3", "did you mean --limit?"},
		{"run fmt --wait --no-wait", "either --wait or --no-wait"},
		{"plan execute --no-wait", `--no-wait means nothing to "agents plan execute"`},
		{"plan list --limit x", `invalid argument "x"`},
		{"plan list --limit 0", "less than 1"},
		{"plan tree --depth=-1", "negative"},
		{"--format xml plan list", `--format "xml" is not one of`},
		{"--color blue plan list", "--color"},
		{"--timeout=-1s plan list", "negative"},
		{"plan list --wait", `--wait means nothing to "agents plan list"`},
		{"-p shop db path", `--project means nothing to "agents db path"`},
		{"plan use fmt --arg novalue", "not key=value"},
		{"plan use fmt --arg a=1 --arg a=2", "given twice"},
		{"plan use fmt --args-file - --prompt-file -", "standard input"},
		{"plan use fmt --prompt a --prompt-file b", "either"},
		{"plan diff --stat --name-only", "either"},
		{"plan list --label x", "not key=value"},
		{"plan label x team", "neither key=value nor key-"},
		{"plan label x team=red team=blue", "given twice"},
		{"plan label x team=", "team- takes the label away"},
		{"plan label x team=red team-", "given twice"},
		{"plan rename x", "an argument is missing"},
		{"plan logs --since yesterday", "write a time such as"},
		{"plan logs --since -5m", "write a time such as"},
		{"plan wait x --for state", "not state=<state>"},
		{"plan wait x --for cost=1", "not state=<state>"},
		{"action create", "give a name or --config"},
		{"action create x --config y", "not both"},
		{"action create --config y --description z", "--description does not go with --config"},
		{"action create x --arg n", "not name:type"},
		{"action validate", "either"},
		{"actor add", "either"},
		{"actor add x --provider p", "all needed"},
		{"actor add x --config y", "either"},
		{"completion tcsh", `no completion for "tcsh"`},
		{"help nonsense", "no command or help topic"},
		{"demo --step", "needs a terminal"},
		{"tell me --more", "removed; use `agents plan use <action>` (see `agents help lifecycle`)"},
		{"build", "removed"}, {"continue", "removed"}, {"current", "removed"}, {"new", "removed"}, {"load", "removed"},
	} {
		w := newWorld(answers())
		w.env.Demo = func(context.Context, bool, config.Settings) (*DemoWorld, error) {
			return nil, errors.New("not to be called")
		}
		w.want(t, 2, strings.Fields(c.args)...)
		if !strings.HasPrefix(w.err.String(), "error: ") || !strings.Contains(w.err.String(), c.want) {
			t.Errorf("%s: stderr %q, want %q", c.args, &w.err, c.want)
		}
		if w.out.Len() > 0 || len(w.asked) > 0 {
			t.Errorf("%s: stdout %q, asked %v", c.args, &w.out, w.asked)
		}
	}
}

func TestErrorsForPrograms(t *testing.T) {
	boom := fault.New(fault.Conflict, "a cycle").WithCode("CycleDetected").WithHint("unlink one").With("path", []string{"a", "b", "a"})
	w := newWorld(map[string]any{"plan/show": boom})
	w.want(t, 7, "plan", "show", "--format", "json")
	want := `{"error":{"code":"CycleDetected","message":"a cycle","details":{"path":["a","b","a"]},"hint":"unlink one","exit":7}}` + "\n"
	if w.err.String() != want || w.out.Len() > 0 {
		t.Errorf("stderr %s\nwant   %s\nstdout %s", &w.err, want, &w.out)
	}
	w.want(t, 7, "--format=jsonl", "plan", "show")
	want = `{"type":"result","exit":7,"schema":"","data":null,"warnings":[],"next":[],"error":{"code":"CycleDetected","message":"a cycle","details":{"path":["a","b","a"]},"hint":"unlink one","exit":7}}` + "\n"
	if w.out.String() != want || w.err.Len() > 0 {
		t.Errorf("stdout %s\nwant   %s\nstderr %s", &w.out, want, &w.err)
	}
	w.want(t, 7, "--format=yaml", "plan", "show")
	if !strings.HasPrefix(w.err.String(), "error:\n  code: CycleDetected\n") {
		t.Errorf("stderr %s", &w.err)
	}
	w.want(t, 7, "-v", "plan", "show")
	if got := w.err.String(); got != "error: a cycle\n  path: [a b a]\nhint: unlink one\n" {
		t.Errorf("stderr %q", got)
	}
	// The format counts even where the arguments do not parse.
	w.want(t, 2, "plan", "show", "--bogus", "--format", "json")
	if !json.Valid(w.err.Bytes()) {
		t.Errorf("stderr %s", &w.err)
	}
}

// A result and an error can come together: where the plan is, and why the exit
// status is not 0.
func TestStoppedPlan(t *testing.T) {
	o := a2a.PlanOutcome{Plan: summary(plan.PhaseExecute, plan.Errored), Next: []string{"agents plan resume " + planID},
		Fault: &a2a.FaultView{Kind: "ValidationFailed", Message: "build failed", Hint: "look"}}
	w := newWorld(map[string]any{"plan/use": o, "plan/status": o})
	w.want(t, 5, "run", "fix")
	if got, want := w.err.String(), "error: build failed\nhint: look\nnext: agents plan resume "+planID+"\n"; got != want {
		t.Errorf("stderr %q, want %q", got, want)
	}
	w.want(t, 5, "run", "fix", "-q") // the way on is part of the error
	if !strings.Contains(w.err.String(), "next: ") {
		t.Errorf("stderr %q", &w.err)
	}
	w.want(t, 5, "run", "fix", "--format", "json")
	var env Envelope
	if err := json.Unmarshal(w.out.Bytes(), &env); err != nil || len(env.Next) != 1 || env.Schema != "agents.plan-outcome.v1" {
		t.Errorf("stdout %s (%v)", &w.out, err)
	}
	w.want(t, 0, "plan", "status")
}

func TestDefaultFormat(t *testing.T) {
	for _, c := range []struct {
		name  string
		tty   bool
		vars  string
		args  []string
		paint bool
		tabs  bool
	}{
		{"pipe", false, "", nil, false, true},
		{"terminal", true, "", nil, true, false},
		{"NO_COLOR", true, "NO_COLOR=1", nil, false, false},
		{"dumb", true, "TERM=dumb", nil, false, false},
		{"--no-color", true, "", []string{"--no-color"}, false, false},
		{"--color never", true, "", []string{"--color", "never"}, false, false},
		{"--color always in a pipe", false, "", []string{"--color=always", "--format", "rich"}, true, false},
		{"always wins over NO_COLOR", true, "NO_COLOR=1", []string{"--color=always"}, true, false},
		{"AGENTS_FORMAT", true, "AGENTS_FORMAT=plain", nil, false, true},
		{"a flag wins", true, "AGENTS_FORMAT=plain", []string{"--format", "table"}, false, false},
	} {
		w := newWorld(answers())
		if c.tty {
			w.terminal()
		}
		if k, v, ok := strings.Cut(c.vars, "="); ok {
			w.vars[k] = v
		}
		w.want(t, 0, append(c.args, "plan", "list")...)
		if got := strings.Contains(w.out.String(), "\x1b["); got != c.paint {
			t.Errorf("%s: painted %v, want %v", c.name, got, c.paint)
		}
		if got := strings.Contains(w.out.String(), "\t"); got != c.tabs {
			t.Errorf("%s: tabs %v, want %v: %q", c.name, got, c.tabs, &w.out)
		}
	}
}

func TestPlanUseRequest(t *testing.T) {
	w := newWorld(answers())
	w.files["/home/ann/shop/sub/args.yaml"] = "a: one\nb: two\n"
	w.vars["AGENTS_PROFILE"] = "ci"
	w.in = "more words"
	w.want(t, 0, "-C", "sub", "-p", ".", "plan", "use", "fmt", "--args-file", "args.yaml", "--arg", "b=three=3",
		"--prompt-file", "-", "--invariant", "x", "--name", "n", "--wait", "--strategy-actor", "s", "--execution-actor", "e", "--force")
	want := a2a.PlanUseRequest{
		Action: "fmt", Project: "/home/ann/shop/sub", Args: map[string]string{"a": "one", "b": "three=3"}, Prompt: "more words",
		Invariants: []string{"x"}, Name: "n", Profile: "ci", Start: true, NoInput: true, StrategyActor: "s", ExecutionActor: "e", Force: true,
	}
	if d := cmp.Diff(want, w.reqs["plan/use"]); d != "" {
		t.Error(d)
	}
	w = newWorld(answers()).terminal()
	w.vars["AGENTS_PROJECT"] = "shop"
	w.want(t, 0, "plan", "use", "fmt", "--automation-profile", "auto")
	if d := cmp.Diff(a2a.PlanUseRequest{Action: "fmt", Project: "shop", Args: map[string]string{}, Profile: "auto"}, w.reqs["plan/use"]); d != "" {
		t.Error(d)
	}
}

func TestRequests(t *testing.T) {
	def := "1"
	act := action.Action{Name: "fmt", Description: "d", State: action.Available, ReadOnly: true,
		Args: []action.Arg{{Name: "n", Type: action.Integer, Required: true}, {Name: "m", Type: action.Text, Default: &def}}}
	for _, c := range []struct {
		args, method string
		want         any
	}{
		{"init sub --name x --type fs-directory --force", "project/init", a2a.ProjectInitRequest{Dir: "/home/ann/shop/sub", Name: "x", Type: "fs-directory", Force: true}},
		{"init", "project/init", a2a.ProjectInitRequest{Dir: "/home/ann/shop"}},
		{"resource add git-checkout ../other --name o --force", "resource/add", a2a.ResourceAddRequest{Type: "git-checkout", Location: "/home/ann/other", Name: "o", Force: true}},
		{"resource list --type git-checkout", "resource/list", a2a.ResourceListQuery{Type: "git-checkout"}},
		{"resource show x", "resource/show", a2a.RefQuery{Ref: "x"}},
		{"project create s --description d", "project/create", a2a.ProjectCreateRequest{Name: "s", Description: "d"}},
		{"project use ./x", "project/use", a2a.NameQuery{Name: "/home/ann/shop/x"}},
		{"project show -p s", "project/show", a2a.NameQuery{Name: "s"}},
		{"project link-resource s a b --read-only", "project/link_resource", a2a.LinkRequest{Project: "s", Resources: []string{"a", "b"}, ReadOnly: true}},
		{"plan list --phase execute --state waiting --limit 5 -p s", "plan/list", a2a.PlanListQuery{Project: "s", Phase: "execute", State: "waiting", Limit: 6}},
		{"plan show", "plan/show", a2a.RefQuery{Ref: "@last"}},
		{"plan show x", "plan/show", a2a.RefQuery{Ref: "x"}},
		{"plan strategize x", "plan/strategize", a2a.RefQuery{Ref: "x"}},
		{"plan apply x", "plan/apply", a2a.PlanApplyRequest{Ref: "x"}},
		{"plan cancel x --reason r --keep-sandbox", "plan/cancel", a2a.PlanCancelRequest{Ref: "x", Reason: "r", KeepSandbox: true}},
		{"plan explain x", "plan/explain", a2a.RefQuery{Ref: "x"}},
		{"diff x p q", "plan/diff", a2a.PlanDiffQuery{Ref: "x", Paths: []string{"p", "q"}}},
		{"tree", "plan/tree", a2a.RefQuery{Ref: "@last"}},
		{"approval list --plan x --all", "approval/list", a2a.ApprovalListQuery{Plan: "x", All: true}},
		{"approval answer x --choose 2", "approval/answer", a2a.AnswerRequest{Ref: "x", Choose: 2}},
		{"approval answer x --text no", "approval/answer", a2a.AnswerRequest{Ref: "x", Text: "no"}},
		{"approval approve x y --note n", "approval/approve", a2a.ApproveRequest{Refs: []string{"x", "y"}, Note: "n"}},
		{"approval reject x --guidance g", "approval/reject", a2a.RejectRequest{Ref: "x", Guidance: "g"}},
		{"db status --check", "db/status", a2a.DBStatusQuery{Check: true}},
		{"action list --namespace n --state draft", "action/list", a2a.ActionListQuery{Namespace: "n", State: action.Draft}},
		{"action create fmt --description d --read-only --arg n:integer --arg m:string=1 --update", "action/create", a2a.ActionSource{Action: &act, Update: true}},
		{"action create --config a.yaml", "action/create", a2a.ActionSource{File: "a.yaml", Text: "name: a"}},
		{"action validate -f -", "action/validate", a2a.ActionSource{File: "-", Text: "from stdin"}},
		{"action validate a", "action/validate", a2a.ActionSource{Name: "a"}},
		{"actor add --config a.yaml --update", "actor/add", a2a.ActorSource{File: "a.yaml", Text: "name: a", Update: true}},
		{"actor add c --provider p --model m", "actor/add", a2a.ActorSource{File: "flags", Text: "name: c\nprovider: p\nmodel: m\n"}},
		{"actor show c", "actor/show", a2a.NameQuery{Name: "c"}},
	} {
		w := newWorld(answers())
		w.files["/home/ann/shop/a.yaml"] = "name: a"
		w.in = "from stdin"
		w.want(t, 0, strings.Fields(c.args)...)
		if d := cmp.Diff(c.want, w.reqs[c.method]); d != "" {
			t.Errorf("%s: %s", c.args, d)
		}
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	w := newWorld(answers())
	w.want(t, 3, "action", "create", "--config", "none.yaml")
	w.in = strings.Repeat("x", 1<<20+1)
	w.want(t, 2, "action", "create", "--config", "-")
	if len(w.asked) > 0 {
		t.Errorf("asked %v", w.asked)
	}
}

func TestDataDir(t *testing.T) {
	w := newWorld(answers())
	w.want(t, 0, "--data-dir", "d", "plan", "list")
	if w.data != "/home/ann/shop/d" {
		t.Errorf("data directory %q", w.data)
	}
	w.vars["AGENTS_DATA_DIR"] = "/e"
	w.want(t, 0, "plan", "list")
	if w.data != "/e" {
		t.Errorf("data directory %q", w.data)
	}
}

func TestApplyAsks(t *testing.T) {
	for _, c := range []struct {
		name, in string
		tty      bool
		args     []string
		exit     int
		asked    string
		want     a2a.PlanApplyRequest
	}{
		{"yes", "y\n", true, nil, 0, "plan/diff plan/show plan/apply", a2a.PlanApplyRequest{Ref: planID, Expect: "f00d"}},
		{"no", "n\n", true, nil, 9, "plan/diff plan/show", a2a.PlanApplyRequest{}},
		{"nothing", "", true, nil, 9, "plan/diff plan/show", a2a.PlanApplyRequest{}},
		{"yes to what runs by itself", "y\ny\n", true, []string{"exec"}, 0, "plan/diff plan/show plan/apply", a2a.PlanApplyRequest{Ref: planID, Expect: "f00d", Executable: "beef"}},
		{"no to what runs by itself", "y\nn\n", true, []string{"exec"}, 9, "plan/diff plan/show", a2a.PlanApplyRequest{}},
		{"--yes", "", true, []string{"--yes"}, 0, "plan/apply", a2a.PlanApplyRequest{Ref: "@last"}},
		{"--no-input", "", true, []string{"--no-input"}, 0, "plan/apply", a2a.PlanApplyRequest{Ref: "@last"}},
		{"pipe", "", false, nil, 0, "plan/apply", a2a.PlanApplyRequest{Ref: "@last"}},
	} {
		list := answers()
		if len(c.args) > 0 && c.args[0] == "exec" { // T11
			c.args = nil
			d := sampleDiff()
			d.Executable, d.Files[1].Runs = "beef", "new executable bit"
			list["plan/diff"] = d
		}
		w := newWorld(list)
		if c.tty {
			w.terminal()
		}
		w.in = c.in
		w.want(t, c.exit, append(c.args, "apply")...)
		if got := strings.Join(w.asked, " "); got != c.asked {
			t.Errorf("%s: asked %s, want %s", c.name, got, c.asked)
		}
		if got, _ := w.reqs["plan/apply"].(a2a.PlanApplyRequest); !cmp.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
		if c.in != "" && !strings.Contains(w.err.String(), "-old") {
			t.Errorf("%s: the changes are not shown: %s", c.name, &w.err)
		}
	}
}

// T39: what passed for other changes than those that are shown does not count.
func TestGatingIsForTheseChanges(t *testing.T) {
	v := a2a.PlanView{ChangeSet: "now", Results: []evidence.ValidationResult{{Name: "a", Verdict: tool.Passed, ChangeSet: "before"}}}
	v.Plan.Action.Validations = []tool.Validation{{Name: "a", Mode: tool.Required}}
	if got := string(gating(styles{}, v)); got != "0 of 1 required passed" {
		t.Errorf("before: %s", got)
	}
	v.Results[0].ChangeSet = "now"
	if got := string(gating(styles{}, v)); got != "1 of 1 required passed" {
		t.Errorf("now: %s", got)
	}
}

// Without a required validation nothing is ever shown as good.
func TestUngated(t *testing.T) {
	list := answers()
	v := sampleShow()
	v.Plan.Action.Validations = v.Plan.Action.Validations[1:]
	list["plan/show"] = v
	for _, args := range [][]string{{"plan", "show"}, {"plan", "diff", "--stat"}, {"apply"}} {
		w := newWorld(list).terminal()
		w.run(args...)
		if all := w.out.String() + w.err.String(); !strings.Contains(all, "\x1b[33mungated") {
			t.Errorf("%v: %q", args, all)
		}
	}
}

func TestGating(t *testing.T) {
	two := []tool.Validation{{Name: "a", Mode: tool.Required}, {Name: "b", Mode: tool.Required}, {Name: "c", Mode: tool.Informational}}
	for _, c := range []struct {
		a, b tool.Verdict
		want string
	}{
		{tool.Passed, tool.Passed, "\x1b[32m2 of 2 required passed"},
		{tool.Passed, tool.Skipped, "\x1b[33m1 of 2 required passed, 1 skipped"},
		{tool.Skipped, tool.Skipped, "\x1b[33mungated (no required validation ran)"},
		{tool.Passed, tool.NotPassed, "1 of 2 required passed"},
		{tool.Passed, tool.CouldNotLook, "1 of 2 required passed"},
		{tool.Passed, "", "1 of 2 required passed"},
	} {
		v := a2a.PlanView{Results: []evidence.ValidationResult{{Name: "a", Verdict: tool.NotPassed}, {Name: "a", Verdict: c.a}, {Name: "b", Verdict: c.b}, {Name: "c", Verdict: tool.Passed}}}
		v.Plan.Action.Validations = two
		got := string(gating(styles{on: true}, v))
		if !strings.Contains(got, c.want) || strings.Contains(got, "\x1b[32m") != strings.Contains(c.want, "\x1b[32m") {
			t.Errorf("%s and %s: %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

func TestTreeHidesWhatWasReplaced(t *testing.T) {
	w := newWorld(answers())
	w.want(t, 0, "tree", "--format", "json")
	if strings.Contains(w.out.String(), "0LD1\"") || !strings.Contains(w.out.String(), "KEPT") {
		t.Errorf("stdout %s", &w.out)
	}
	w.want(t, 0, "tree", "--depth", "1")
	if strings.Contains(w.out.String(), "KEPT") {
		t.Errorf("stdout %s", &w.out)
	}
	w.want(t, 0, "tree", "--type", "implementation_choice")
	if got := w.out.String(); strings.Contains(got, "KEPT") || !strings.Contains(got, "[implicit]") {
		t.Errorf("stdout %s", got)
	}
}

func TestDoctor(t *testing.T) {
	list := answers()
	list["doctor/run"] = a2a.DoctorView{Findings: []a2a.Finding{{Name: "store", Level: "problem", Detail: "gone"}}}
	w := newWorld(list)
	w.want(t, 8, "doctor")
	w = newWorld(nil)
	w.env.Open = func(_ context.Context, o Options) (a2a.Client, io.Closer, error) {
		w.unopened = o.Unopened
		return nil, nil, fault.New(fault.Denied, "others can write").WithHint("chmod 700")
	}
	w.want(t, 8, "doctor") // that it does not open is a finding, whatever the kind
	if !w.unopened {
		t.Error("the data had to be open")
	}
	if !strings.Contains(w.out.String(), "others can write (fix: chmod 700)") {
		t.Errorf("stdout %s", &w.out)
	}
}

func TestDamagedStore(t *testing.T) {
	w := newWorld(map[string]any{"db/status": a2a.DBStatusView{Check: "page 7"}})
	w.want(t, 1, "db", "status", "--check")
	if q := w.reqs["db/status"].(a2a.DBStatusQuery); !q.Check || q.Full {
		t.Errorf("asked for %+v", q)
	}
	w.want(t, 1, "db", "status", "--check=full")
	if q := w.reqs["db/status"].(a2a.DBStatusQuery); !q.Full {
		t.Errorf("asked for %+v", q)
	}
	w.want(t, 2, "db", "status", "--check=some")
}

// What a doctor is told to do besides looking, and that its report is a new file
// which is kept only when it is whole.
func TestDoctorBundle(t *testing.T) {
	list := answers()
	w := newWorld(list)
	w.want(t, 0, "doctor", "--fix")
	if q := w.reqs["doctor/run"].(a2a.DoctorQuery); !q.Fix || q.Bundle != nil {
		t.Errorf("asked for %+v", q)
	}
	var fail error
	list["doctor/run"] = answerer(func(_ context.Context, req any, _ func(plan.Event)) (any, error) {
		to, err := req.(a2a.DoctorQuery).Bundle()
		if err != nil {
			return nil, err
		}
		_, err = io.WriteString(to, "report")
		return a2a.DoctorView{}, errors.Join(err, fail)
	})
	var f *memory
	w.env.Create = func(path string) (NewFile, error) {
		if path != "/home/ann/shop/r.tgz" {
			t.Errorf("made %s", path)
		}
		f = &memory{}
		return f, nil
	}
	w.want(t, 0, "doctor", "--bundle", "r.tgz")
	if f.String() != "report" || !f.closed || f.discarded || !strings.Contains(w.out.String(), "r.tgz") {
		t.Errorf("%+v, stdout %s", f, &w.out)
	}
	fail = errors.New("broken")
	w.want(t, 8, "doctor", "--bundle", "r.tgz")
	if !f.discarded {
		t.Error("half a report is kept")
	}
	w.env.Create = func(string) (NewFile, error) { return nil, fault.New(fault.Exists, "is there already") }
	w.want(t, 7, "doctor", "--bundle", "r.tgz")
}

func TestDemo(t *testing.T) {
	w := newWorld(answers()).terminal()
	w.want(t, 11, "demo")
	closed, checks := 0, 0
	w.env.Demo = func(_ context.Context, keep bool, _ config.Settings) (*DemoWorld, error) {
		checks = 0
		return &DemoWorld{
			Client: w.fake, Dir: "/demo/project", Action: "demo/fix", Kept: "/demo",
			Check: func(context.Context) (string, bool, error) { checks++; return "ok 1\nFAIL 2\n", checks > 1, nil },
			Close: func() error { closed++; return nil },
		}, nil
	}
	w.in = "\n\n\n\n\n\n\n\n"
	w.want(t, 0, "quickstart", "--keep", "--step")
	if got := strings.Join(w.asked, " "); closed != 1 || checks != 2 || w.opened != 0 || got != "plan/use plan/tree plan/diff plan/show plan/apply plan/show" {
		t.Errorf("closed %d, checks %d, opened %d, asked %s", closed, checks, w.opened, got)
	}
	if got := w.reqs["plan/apply"].(a2a.PlanApplyRequest).Expect; got != "f00d" {
		t.Errorf("applied %q, not what was shown", got)
	}
	if got := strings.Count(w.err.String(), "Enter goes on"); got != 6 {
		t.Errorf("asked for Enter %d times", got)
	}
	w.want(t, 0, "demo", "--format", "json")
	var env struct{ Schema string }
	if err := json.Unmarshal(w.out.Bytes(), &env); err != nil || env.Schema != "agents.demo.v1" {
		t.Errorf("stdout %s (%v)", &w.out, err)
	}
}

type broken struct{ bytes.Buffer }

func (*broken) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestOutputThatCannotBeWritten(t *testing.T) {
	for _, args := range [][]string{{"plan", "list"}, {"help"}, {"completion", "bash"}, {"plan", "execute", "--format", "jsonl"}} {
		w := newWorld(answers())
		w.env.Stdin, w.env.Stdout, w.env.Stderr = strings.NewReader(""), &broken{}, &w.err
		if got := Main(context.Background(), args, w.env); got != 1 {
			t.Errorf("%v: exit %d, stderr %s", args, got, &w.err)
		}
	}
}
