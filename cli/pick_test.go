package cli

import (
	"encoding/json"
	"math/big"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

func TestPick(t *testing.T) {
	for _, c := range []struct {
		flag, text, want string
	}{
		{"--jq", ".schema", "agents.plan-list.v1\n"},
		{"--jq", ".data.plans[].name", "local/fix-1\nlocal/fix-1\n"},
		{"--jq", ".data.plans | length", "2\n"},
		{"--jq", ".data.plans[0] | {name, attempt}", `{"attempt":1,"name":"local/fix-1"}` + "\n"},
		{"--jq", ".nothing, true, [1, 1.5]", "\ntrue\n[1,1.5]\n"},
		{"--jq", "empty", ""},
		{"--jq", "12345678901234567890, 1e3", "12345678901234567890\n1000\n"},
		{"--jq", "1, halt, 2", "1\n"},
		{"--jq", "env | length", "0\n"},
		{"--template", "{{len .data.plans}}", "2"},
		{"--template", `{{range .data.plans}}{{.name}}{{"\n"}}{{end}}`, "local/fix-1\nlocal/fix-1\n"},
		{"--template", `{{.data.plans | pluck "state" | join ","}} {{truncate 6 .schema}}`, "waiting,applied agent…"},
		{"--template", `{{timefmt "2006" (index .data.plans 0).created}} {{eq (index .data.plans 0).attempt 1}}`, "2026 true"},
		{"--template", `{{range .data.plans}}{{tablerow .state .phase}}{{end}}{{tablerender}}{{tablerow "a"}}`, "waiting  execute\napplied  apply\na\n"},
	} {
		w := newWorld(answers())
		w.want(t, 0, "plan", "list", c.flag, c.text)
		if d := cmp.Diff(c.want, w.out.String()); d != "" {
			t.Errorf("%s %s: %s", c.flag, c.text, d)
		}
	}
}

// A bad expression is found before anything is done.
func TestBadExpressions(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--jq", ".data | {a}}"}, "--jq: line 1, column 12: unexpected token"},
		{[]string{"--jq", ".data |\n  {é: 1}}"}, "--jq: line 2, column "},
		{[]string{"--jq", ".data["}, "--jq: line 1, column 7: unexpected EOF"},
		{[]string{"--jq", ".data | foo(1)"}, "--jq: line 1, column 9: function not defined: foo/1"},
		{[]string{"--jq", ". as $a | $b"}, "--jq: line 1, column 11: variable not defined: $b"},
		{[]string{"--template", "{{.data"}, "--template: line 1, column 1: unclosed action"},
		{[]string{"--template", "a\n b {{foo .}}"}, `--template: line 2, column 6: function "foo" not defined`},
		{[]string{"--template", "x", "--jq", "."}, "either"},
		{[]string{"--jq", ".", "--format", "yaml"}, "leave out --format yaml"},
	} {
		w := newWorld(answers())
		w.want(t, 2, append([]string{"plan", "use", "fmt"}, c.args...)...)
		var e struct{ Error ErrorBody }
		if err := json.Unmarshal(w.err.Bytes(), &e); err != nil && !strings.Contains(w.err.String(), "yaml") || !strings.Contains(w.err.String(), strings.ReplaceAll(c.want, `"`, `\"`)) {
			t.Errorf("%q: stderr %s", c.args, &w.err)
		}
		if len(w.asked) > 0 || w.out.Len() > 0 {
			t.Errorf("%q: asked %v, wrote %s", c.args, w.asked, &w.out)
		}
	}
	for _, args := range [][]string{{"help", "--jq", "."}, {"plan", "--jq", "."}, {"completion", "bash", "--template", "x"}, {"--jq", "."}} {
		w := newWorld(answers())
		w.want(t, 2, args...)
	}
	w := newWorld(nil)
	w.want(t, 0, "version", "--jq", ".data.version")
	w.want(t, 0, "--version", "--jq", ".data.version")
	if w.out.String() != "1.2.3\n" {
		t.Errorf("stdout %q", &w.out)
	}
}

// An expression that does not fit the result fails, and so does a command that
// has no result.
func TestExpressionsThatDoNotFit(t *testing.T) {
	for _, args := range [][]string{{"--jq", ".data.plans.name"}, {"--jq", "error(\"no\")"}, {"--template", "{{.data.plans.name}}"}} {
		w := newWorld(answers())
		w.want(t, 2, append(args, "plan", "list")...)
		if !strings.Contains(w.err.String(), `"code":"Expression"`) {
			t.Errorf("%v: stderr %s", args, &w.err)
		}
	}
	w := newWorld(map[string]any{"plan/list": fault.New(fault.Busy, "later")})
	w.want(t, 7, "plan", "list", "--jq", ".")
	if w.out.Len() > 0 || !strings.HasPrefix(w.err.String(), `{"error":`) {
		t.Errorf("stdout %s, stderr %s", &w.out, &w.err)
	}
}

// The exit status of the command stays: a stopped plan is not a success because
// something could be taken out of its result.
func TestPickKeepsTheExit(t *testing.T) {
	o := a2a.PlanOutcome{Plan: summary(plan.PhaseExecute, plan.Errored), Fault: &a2a.FaultView{Kind: "ValidationFailed", Message: "m"}}
	w := newWorld(map[string]any{"plan/use": o})
	w.want(t, 5, "run", "fix", "--jq", ".data.plan.state")
	if w.out.String() != "errored\n" {
		t.Errorf("stdout %q", &w.out)
	}
}

// T18: what a model wrote reaches a terminal spelled out, and a pipe as it is.
func TestPickedTextOnATerminal(t *testing.T) {
	list := answers()
	list["plan/list"] = poisoned(list["plan/list"], hostile)
	for _, args := range [][]string{{"--jq", ".data.plans[0].name"}, {"--template", `{{(index .data.plans 0).name}}`}, {"--jq", ".data"}} {
		w := newWorld(list).terminal()
		w.want(t, 0, append(args, "plan", "list")...)
		if r, found := harmful(w.out.String(), "\n\t"); found {
			t.Errorf("%v: %U in %q", args, r, &w.out)
		}
	}
	w := newWorld(list)
	w.want(t, 0, "plan", "list", "--jq", ".data.plans[0].name")
	if w.out.String() != hostile+"\n" {
		t.Errorf("the pipe got %q", &w.out)
	}
}

// An expression without end is ended by --timeout and by Ctrl-C.
func TestEndlessExpressions(t *testing.T) {
	for _, args := range [][]string{{"--jq", "[repeat(1)] | length"}, {"--jq", "def f: f; f"}, {"--jq", "repeat(1)"}, {"--template", `{{range 1000000000}}a{{end}}`}} {
		w := newWorld(answers())
		w.want(t, 124, append(args, "plan", "list", "--timeout", "50ms")...)
	}
	signals := make(chan os.Signal, 1)
	w := newWorld(answers())
	w.env.Signals = signals
	w.env.Stdin, w.env.Stderr = strings.NewReader(""), &w.err
	w.env.Stdout = &pressing{signals: signals}
	if got := Main(t.Context(), []string{"plan", "list", "--jq", "1, (def f: f; f)"}, w.env); got != 130 {
		t.Errorf("exit %d, stderr %s", got, &w.err)
	}
}

// pressing presses Ctrl-C when the first bytes are written: the command is done
// then, and the expression is at work.
type pressing struct {
	once    sync.Once
	signals chan<- os.Signal
}

func (p *pressing) Write(b []byte) (int, error) {
	p.once.Do(func() { p.signals <- os.Interrupt })
	return len(b), nil
}

// An expression that collects without end fails before the memory is full, also
// where no time is set.
func TestHugeExpressions(t *testing.T) {
	w := newWorld(answers())
	w.want(t, 6, "plan", "list", "--jq", "[repeat(1)] | length")
	if !strings.Contains(w.err.String(), "more than 512 MiB of memory") || w.out.Len() > 0 {
		t.Errorf("stdout %.100s, stderr %s", &w.out, &w.err)
	}
}

func TestPlainValue(t *testing.T) {
	v, err := plainValue(jsontext.NewDecoder(strings.NewReader(`{"a":[1,-2,1.5,1e2,123456789012345678901],"b":null,"c":"x","d":true}`)))
	n, _ := new(big.Int).SetString("123456789012345678901", 10)
	want := map[string]any{"a": []any{1, -2, 1.5, 100.0, n}, "b": nil, "c": "x", "d": true}
	if d := cmp.Diff(want, v, cmp.Comparer(func(a, b *big.Int) bool { return a.Cmp(b) == 0 })); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
}

func FuzzExpressions(f *testing.F) {
	for _, s := range []string{".", ".a[", "{{.x}}", "{{foo}}", "é|}", "\n\n}", "$x", "@base64d", "{{template \"x\"}}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, read := range []func(string, string) (picker, error){newQuery, newTemplate} {
			if _, err := read("agents", s); err != nil && fault.Exit(err) != 2 {
				t.Errorf("%q: exit %d: %v", s, fault.Exit(err), err)
			}
		}
	})
}
