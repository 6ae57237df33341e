package action_test

import (
	"encoding/json"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/action"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/tool"
)

const head = `name: team/fix
description: fix a bug
definition_of_done: the tests pass
strategy_actor: local/planner
execution_actor: local/coder
`

func ref[T any](v T) *T { return &v }

func TestParse(t *testing.T) {
	got, err := action.Parse("a.yaml", []byte(head+`automation_profile: trusted
safety_profile: {require_sandbox: true, max_retries_per_step: 2}
args:
  - {name: issue, type: string, required: true}
  - {name: rounds, type: integer, default: "3"}
invariants: [no new dependency]
validations:
  - {name: unit, mode: required, command: make test, timeout_seconds: 60}
  - {name: lint, mode: informational, argv: [golint, ./...]}
read_only: true
estimation_actor: team/guess
invariant_actor: team/keeper
state: draft
`))
	if err != nil {
		t.Fatal(err)
	}
	want := action.Action{
		Name: "team/fix", Description: "fix a bug", DefinitionOfDone: "the tests pass",
		StrategyActor: "local/planner", ExecutionActor: "local/coder", AutomationProfile: "trusted",
		Args: []action.Arg{{Name: "issue", Type: action.Text, Required: true},
			{Name: "rounds", Type: action.Integer, Default: ref("3")}},
		Invariants: []string{"no new dependency"},
		Validations: []tool.Validation{{Name: "unit", Mode: tool.Required, Command: "make test", Timeout: 60},
			{Name: "lint", Mode: tool.Informational, Argv: []string{"golint", "./..."}}},
		ReadOnly: true, State: action.Draft, EstimationActor: "team/guess", InvariantActor: "team/keeper",
	}
	want.Safety = got.Safety
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got.Safety == nil || !got.Safety.RequireSandbox || got.Safety.MaxRetriesPerStep != 2 {
		t.Errorf("safety profile %+v", got.Safety)
	}
	if err := got.Validate(); err != nil {
		t.Error(err)
	}
	if d := cmp.Diff([]string{"local/planner", "local/coder", "team/guess", "team/keeper"}, got.Actors()); d != "" {
		t.Error(d)
	}
	short, err := action.Parse("a.yaml", []byte(strings.Replace(head, "team/fix", "fix", 1)))
	if err != nil || short.Name != "local/fix" || short.State != action.Available {
		t.Errorf("got %q, %q, %v", short.Name, short.State, err)
	}
}

func TestParseRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"unknown key":      {head + "color: red\n", `a.yaml:6: unknown key "color"`},
		"no name":          {strings.Replace(head, "name: team/fix\n", "", 1), `a.yaml:1: name "": the name "" must be`},
		"bad name":         {"description: d\nname: Team/fix\n", `a.yaml:2: name "Team/fix": the namespace "Team" must be`},
		"no description":   {strings.Replace(head, "fix a bug", "", 1), "a.yaml:2: action team/fix: description is missing"},
		"blank definition": {strings.Replace(head, "the tests pass", `"  "`, 1), "a.yaml:3: action team/fix: definition_of_done is missing"},
		"no strategist":    {strings.Replace(head, "strategy_actor: local/planner\n", "", 1), "a.yaml:1: action team/fix: strategy_actor is missing"},
		"no executor":      {strings.Replace(head, "local/coder", `""`, 1), "a.yaml:5: action team/fix: execution_actor is missing"},
		"state":            {head + "state: gone\n", `a.yaml:6: action team/fix: state "gone" is not draft, available or archived`},
		"profile":          {head + "automation_profile: bold\n", `a.yaml:6: no automation profile "bold"`},
		"safety key":       {head + "safety_profile:\n  sandbox: true\n", `a.yaml:7: unknown key "sandbox"`},
		"context outside":  {head + "context_files: [a.md, ../b.md]\n", `a.yaml:6: action team/fix: context_files: "../b.md" is not the plain name`},
		"context absolute": {head + "context_files: [/etc/passwd]\n", `a.yaml:6: action team/fix: context_files: "/etc/passwd" is not the plain name`},
		"context upwards":  {head + "context_files: [a/../b]\n", `a.yaml:6: action team/fix: context_files: "a/../b" is not the plain name`},
		"context dash":     {head + "context_files: [-a.md]\n", `a.yaml:6: action team/fix: context_files: "-a.md" is not the plain name`},
		"context star":     {head + "context_files: ['a*.md']\n", `a.yaml:6: action team/fix: context_files: "a*.md" is not the plain name`},
		"context long":     {head + "context_files: [" + strings.Repeat("é", 201) + "]\n", `a.yaml:6: action team/fix: context_files: "` + strings.Repeat("é", 201) + `" is not the plain name`},
		"context many":     {head + "context_files: [a, b, c, d, e, f, g, h, i]\n", "a.yaml:6: action team/fix: 9 context_files, at most 8"},
		"argument name":    {head + "args:\n  - {name: Issue, type: string}\n", `a.yaml:7: argument "Issue": a name is a-z`},
		"argument twice":   {head + "args:\n  - {name: a, type: string}\n  - {name: b, type: string}\n  - {name: a, type: string}\n", "a.yaml:9: argument a is declared twice"},
		"argument type":    {head + "args:\n  - {name: a, type: text}\n", `a.yaml:7: argument a: type "text" is not string`},
		"both":             {head + "args:\n  - {name: a, type: string, required: true, default: x}\n", "a.yaml:7: argument a is required and has a default"},
		"default type":     {head + "args:\n  - {name: a, type: integer, default: \"1.5\"}\n", `a.yaml:7: argument a: "1.5" is not of type integer`},
		"nameless check":   {head + "validations:\n  - {mode: required, command: x}\n", `a.yaml:7: validation 1: needs a name of its own, got ""`},
		"check twice":      {head + "validations:\n  - {name: a, mode: required, command: x}\n  - {name: a, mode: required, command: x}\n", "a.yaml:8: validation 2: needs a name of its own"},
		"check mode":       {head + "validations:\n  - {name: a, mode: strict, command: x}\n", `a.yaml:7: validation a: mode "strict" is not`},
		"check two ways":   {head + "validations:\n  - {name: a, mode: required, command: x, argv: [y]}\n", "a.yaml:7: validation a: give either command or argv"},
		"check no way":     {head + "validations:\n  - {name: a, mode: required}\n", "a.yaml:7: validation a: give either command or argv"},
		"check no program": {head + "validations:\n  - {name: a, mode: required, argv: [\"\", x]}\n", "a.yaml:7: validation a: argv names no program"},
		"check time":       {head + "validations:\n  - {name: a, mode: required, command: x, timeout_seconds: -1}\n", "a.yaml:7: validation a: timeout_seconds is negative"},
		"check half":       {head + "validations:\n  - {name: a, mode: required, command: x, timeout_seconds: 0.5}\n", "a.yaml:7: `0.5` is not a whole number"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := action.Parse("a.yaml", []byte(c.text))
			if !fault.Is(err, fault.Invalid) || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v, want Invalid: %s", err, c.want)
			}
		})
	}
	_, err := action.Parse("a.yaml", []byte(head+"automation_profile: bold\n"))
	if hint := fault.As(err).Hint; !strings.Contains(hint, "full-auto") {
		t.Errorf("the way out is lost: hint %q", hint)
	}
}

func TestBind(t *testing.T) {
	a := action.Action{Name: "local/x", Args: []action.Arg{
		{Name: "who", Type: action.Text, Required: true},
		{Name: "n", Type: action.Integer, Default: ref("3")},
		{Name: "f", Type: action.Number},
		{Name: "on", Type: action.Boolean, Default: ref("")},
		{Name: "what", Type: action.Text, Required: true},
	}}
	full := func(changes ...string) map[string]string {
		m := map[string]string{"who": "w", "what": "x", "on": "true"}
		for i := 0; i < len(changes); i += 2 {
			m[changes[i]] = changes[i+1]
		}
		return m
	}
	for name, c := range map[string]struct {
		given map[string]string
		want  map[string]string
		err   string
		hint  string
	}{
		"defaults":        {full(), map[string]string{"who": "w", "what": "x", "n": "3", "f": "", "on": "true"}, "", ""},
		"given wins":      {full("n", "-7", "f", "1e3"), map[string]string{"who": "w", "what": "x", "n": "-7", "f": "1e3", "on": "true"}, "", ""},
		"empty text":      {full("who", ""), map[string]string{"who": "", "what": "x", "n": "3", "f": "", "on": "true"}, "", ""},
		"missing two":     {map[string]string{"n": "1"}, nil, "action local/x: missing argument who, what", "add --arg who=…"},
		"unknown":         {full("when", "now"), nil, `action local/x has no argument "when"`, "it takes: who, n, f, on, what"},
		"not whole":       {full("n", "1.5"), nil, `argument n: "1.5" is not of type integer`, ""},
		"too large":       {full("n", "9223372036854775808"), nil, `argument n: "9223372036854775808" is not of type integer`, ""},
		"not a number":    {full("f", "much"), nil, `argument f: "much" is not of type number`, ""},
		"NaN":             {full("f", "NaN"), nil, `argument f: "NaN" is not of type number`, ""},
		"infinite":        {full("f", "-Inf"), nil, `argument f: "-Inf" is not of type number`, ""},
		"out of range":    {full("f", "1e999"), nil, `argument f: "1e999" is not of type number`, ""},
		"not bool":        {full("on", "yes"), nil, `argument on: "yes" is not of type boolean`, ""},
		"bool other case": {full("on", "True"), nil, `argument on: "True" is not of type boolean`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := a.Bind(c.given)
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			if c.err == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !fault.Is(err, fault.Invalid) || err.Error() != c.err || fault.As(err).Hint != c.hint {
				t.Errorf("got %v (hint %q), want %s", err, fault.As(err).Hint, c.err)
			}
		})
	}
	_, err := action.Action{Name: "local/y"}.Bind(map[string]string{"a": "b"})
	if err == nil || fault.As(err).Hint != "it takes: no arguments" {
		t.Errorf("got %v", err)
	}
}

// T04: a default of nothing is not the absence of one.
func TestEmptyDefaultSurvives(t *testing.T) {
	in := action.Action{Name: "local/x", Args: []action.Arg{{Name: "a", Default: ref("")}, {Name: "b"}}}
	for name, through := range map[string]func(any, any) error{
		"encoding/json": func(in, out any) error {
			b, err := json.Marshal(in)
			if err != nil {
				return err
			}
			return json.Unmarshal(b, out)
		},
		"json v2": func(in, out any) error {
			b, err := jsonv2.Marshal(in)
			if err != nil {
				return err
			}
			return jsonv2.Unmarshal(b, out)
		},
	} {
		var out action.Action
		if err := through(in, &out); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(in, out); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(head)
	f.Add(head + "args:\n  - {name: a, type: integer, default: \"1\"}\n")
	f.Add("name: x\nargs: {}\n")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := action.Parse("f", []byte(text))
		if err != nil {
			if !fault.Is(err, fault.Invalid) || !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("%q: error %v", text, err)
			}
			return
		}
		if err := a.Validate(); err != nil {
			t.Errorf("%q: parsed, and not valid: %v", text, err)
		}
	})
}
