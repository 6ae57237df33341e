package actor_test

import (
	"encoding/json"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
)

const graph = `name: script
graph:
  - {id: look, tool: builtin/read, with: {path: "{{args.file}}", deep: {list: ["{{args.file}}", 2]}}}
  - {id: edit, tool: builtin/edit, on_error: undo}
  - {id: check, tool: builtin/shell, next: end}
  - {id: undo, tool: builtin/shell, next: look}
`

func TestParse(t *testing.T) {
	model, err := actor.Parse("a.yaml", []byte("name: team/coder\nprovider: openai\nmodel: gpt\ntemperature: 0.5\nmax_tokens: 100\nmax_turns: 7\ntools: []\n"))
	if err != nil || model.IsGraph() || model.Name != "team/coder" || *model.Temperature != 0.5 || model.MaxTokens != 100 || model.MaxTurns != 7 {
		t.Errorf("got %+v, %v", model, err)
	}
	if model.Tools == nil || len(*model.Tools) != 0 {
		t.Errorf("an empty list of tools became %v", model.Tools)
	}
	g, err := actor.Parse("a.yaml", []byte(graph))
	if err != nil || !g.IsGraph() || g.Name != "local/script" || g.Tools != nil {
		t.Fatalf("got %+v, %v", g, err)
	}
	if err := g.Validate(); err != nil {
		t.Error(err)
	}
}

func TestParseRefuses(t *testing.T) {
	model := "name: a\nprovider: p\nmodel: m\n"
	for name, c := range map[string]struct{ text, want string }{
		"unknown key":    {model + "color: red\n", `f:4: unknown key "color"`},
		"bad name":       {"provider: p\nmodel: m\nname: A\n", `f:3: name "A"`},
		"nothing":        {"name: a\n", "f:1: actor local/a: give either a model or a graph"},
		"both":           {model + "graph:\n  - {id: a, tool: t}\n", "f:4: actor local/a: give either a model or a graph"},
		"no provider":    {"name: a\nmodel: m\n", "f:2: actor local/a: a model needs a provider"},
		"hot":            {model + "temperature: 2.5\n", "f:4: actor local/a: temperature 2.5 is not from 0 to 2"},
		"cold":           {model + "temperature: -1\n", "f:4: actor local/a: temperature -1 is not"},
		"NaN":            {model + "temperature: .nan\n", "f:4: actor local/a: temperature NaN is not"},
		"tokens":         {model + "max_tokens: -1\n", "f:4: actor local/a: max_tokens is negative"},
		"context":        {model + "max_context: -1\n", "f:4: actor local/a: max_context is negative"},
		"turns":          {model + "max_turns: -1\n", "f:4: actor local/a: max_turns is negative"},
		"node no id":     {"name: a\ngraph:\n  - {tool: t}\n", `f:3: actor local/a: node 1 needs an id (not "end") and a tool`},
		"node end":       {"name: a\ngraph:\n  - {id: x, tool: t}\n  - {id: end, tool: t}\n", "f:4: actor local/a: node 2 needs an id"},
		"node no tool":   {"name: a\ngraph:\n  - {id: x}\n", "f:3: actor local/a: node 1 needs an id"},
		"node twice":     {"name: a\ngraph:\n  - {id: x, tool: t}\n  - {id: y, tool: t}\n  - {id: x, tool: t}\n", `f:5: actor local/a: nodes 1 and 3 are both called "x"`},
		"next gone":      {"name: a\ngraph:\n  - id: x\n    tool: t\n    next: y\n", `f:5: actor local/a: node x goes to "y", which is not a node`},
		"on_error gone":  {"name: a\ngraph:\n  - id: x\n    tool: t\n    on_error: y\n", `f:5: actor local/a: node x goes to "y", which is not a node`},
		"node key":       {"name: a\ngraph:\n  - {id: x, tool: t, then: y}\n", `f:3: unknown key "then"`},
		"duplicate with": {"name: a\ngraph:\n  - id: x\n    tool: t\n    with: {a: 1, a: 2}\n", `f:5: the key "a" is given twice`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := actor.Parse("f", []byte(c.text))
			if !fault.Is(err, fault.Invalid) || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v, want Invalid: %s", err, c.want)
			}
		})
	}
}

func TestGraph(t *testing.T) {
	g, err := actor.Parse("f", []byte(graph))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id     string
		ok     bool
		next   string
		goesOn bool
	}{
		{"look", true, "edit", true}, {"look", false, "", false},
		{"edit", true, "check", true}, {"edit", false, "undo", true},
		{"check", true, actor.End, true}, {"undo", true, "look", true},
		{"gone", true, actor.End, false}, {"gone", false, actor.End, false},
	} {
		if next, goesOn := g.After(c.id, c.ok, actor.State{}); next != c.next || goesOn != c.goesOn {
			t.Errorf("after %s (%v): got %q, %v, want %q, %v", c.id, c.ok, next, goesOn, c.next, c.goesOn)
		}
	}
	g.Graph[3].Next = ""
	if next, goesOn := g.After("undo", true, actor.State{}); next != actor.End || !goesOn {
		t.Errorf("after the last node: got %q, %v", next, goesOn)
	}
	if n, ok := g.Node("edit"); !ok || n.Tool != "builtin/edit" {
		t.Errorf("got %+v, %v", n, ok)
	}
	if _, ok := g.Node("gone"); ok {
		t.Error("a node that is not there was found")
	}
}

func TestArguments(t *testing.T) {
	values := map[string]string{"args.file": `a "b" {{plan.prompt}}`}
	g, err := actor.Parse("f", []byte(graph))
	if err != nil {
		t.Fatal(err)
	}
	got, err := g.Graph[0].Arguments(actor.Named(values))
	want := `{"deep":{"list":["a \"b\" {{plan.prompt}}",2]},"path":"a \"b\" {{plan.prompt}}"}`
	if err != nil || got != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
	if got, err := (actor.Node{ID: "x"}).Arguments(actor.Named(nil)); err != nil || got != "{}" {
		t.Errorf("no arguments: got %s, %v", got, err)
	}
	for name, with := range map[string]any{
		"unknown": "{{nobody}}", "in a list": []any{"{{nobody}}"}, "in a mapping": map[string]any{"k": "{{nobody}}"},
		"not JSON": map[any]any{1: 2},
	} {
		_, err := actor.Node{ID: "x", With: map[string]any{"k": with}}.Arguments(actor.Named(values))
		if !fault.Is(err, fault.Invalid) || !strings.HasPrefix(err.Error(), "node x: ") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestExpand(t *testing.T) {
	values := map[string]string{"a": "1", "b.c": "{{a}}", "open": "{{", "close": "a}}", "": "empty"}
	for in, want := range map[string]string{
		"": "", "x": "x", "{{a}}": "1", "x{{ a }}y{{b.c}}z": "x1y{{a}}z",
		"{{open}}{{close}}": "{{a}}", "{ {a}}": "{ {a}}", "a}}": "a}}", "{{}}": "empty",
	} {
		if got, err := actor.Expand(in, values); err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		"x {{a":       `"{{a": {{ without }}`,
		"{{A}}":       "{{A}}: no such value",
		"{{{{a}}}}":   "{{{{a}}: no such value",
		"{{a}}{{gone": `"{{gone": {{ without }}`,
	} {
		if _, err := actor.Expand(in, values); !fault.Is(err, fault.Invalid) || err.Error() != want {
			t.Errorf("%q: got %v, want %s", in, err, want)
		}
	}
	large := map[string]string{"a": strings.Repeat("x", 1<<20)}
	if _, err := actor.Expand(strings.Repeat("{{a}}", 16), large); err != nil {
		t.Errorf("16 MiB: %v", err)
	}
	if _, err := actor.Expand(strings.Repeat("{{a}}", 16)+"{{a}}", large); err == nil || !strings.Contains(err.Error(), "grows beyond") {
		t.Errorf("17 MiB: %v", err)
	}
	if _, err := actor.Expand(strings.Repeat("{{a}}", 16)+"!", large); err == nil || !strings.Contains(err.Error(), "grows beyond") {
		t.Errorf("one byte more: %v", err)
	}
}

// Values are inserted once: however they look, the outcome is the template's
// texts with the values between them.
func TestExpandInsertsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tricky := rapid.StringOf(rapid.SampledFrom([]rune("{}ab. \n")))
		plain := rapid.StringOf(rapid.SampledFrom([]rune("}ab. \n")))
		values := map[string]string{"a": tricky.Draw(t, "a"), "b": tricky.Draw(t, "b")}
		var in, want strings.Builder
		for range rapid.IntRange(0, 6).Draw(t, "n") {
			text := plain.Draw(t, "text")
			name := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name")
			in.WriteString(text + "{{" + name + "}}")
			want.WriteString(text + values[name])
		}
		if got, err := actor.Expand(in.String(), values); err != nil || got != want.String() {
			t.Fatalf("%q with %q: got %q, %v, want %q", in.String(), values, got, err, want.String())
		}
	})
}

func FuzzExpand(f *testing.F) {
	f.Add("x{{a}}y", "{{a}}")
	f.Add("{{a", "}}")
	f.Add("{{{a}}}", "")
	f.Fuzz(func(t *testing.T, text, value string) {
		const other = "\x00"
		got, err := actor.Expand(text, map[string]string{"a": value})
		marked, errMarked := actor.Expand(text, map[string]string{"a": other})
		if (err == nil) != (errMarked == nil) && len(text)*len(value) < actor.MaxExpanded {
			t.Fatalf("%q: %v with %q, %v with another value", text, err, value, errMarked)
		}
		if err == nil && !strings.Contains(text, other) && got != strings.ReplaceAll(marked, other, value) {
			t.Errorf("%q with %q: got %q", text, value, got)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add(graph)
	f.Add(fixer)
	f.Add("name: a\nprovider: p\nmodel: m\ntools: []\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := actor.Parse("f", []byte(text))
		if err != nil {
			if !fault.Is(err, fault.Invalid) || !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("%q: error %v", text, err)
			}
			return
		}
		c.Dot()
		c.Mermaid()
		for _, n := range c.Graph {
			for _, ok := range []bool{true, false} {
				if next, goesOn := c.After(n.ID, ok, actor.State{}); goesOn && next != actor.End {
					if _, there := c.Node(next); !there {
						t.Errorf("%q: %s goes to %q", text, n.ID, next)
					}
				}
			}
		}
	})
}

// T04: a list of no tools stays one, through any encoder.
func TestNoToolsSurvive(t *testing.T) {
	for name, in := range map[string]actor.Config{"absent": {Name: "a"}, "empty": {Name: "a", Tools: &[]string{}}} {
		for codec, through := range map[string]func(any, any) error{
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
			var out actor.Config
			if err := through(in, &out); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(in, out); d != "" {
				t.Errorf("%s through %s:\n%s", name, codec, d)
			}
		}
	}
}

func TestMessageText(t *testing.T) {
	p := func(texts ...string) (m actor.Message) {
		for _, s := range texts {
			m.Pieces = append(m.Pieces, actor.Piece{Text: s})
		}
		return m
	}
	for want, m := range map[string]actor.Message{"": p(), "a": p("a"), "ab": p("a", "", "b")} {
		if got := m.Text(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
