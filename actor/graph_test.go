package actor_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
)

const fixer = `name: fixer
state:
  test: {reducer: last}
  notes: {reducer: append}
  score: {reducer: sum}
  facts: {reducer: merge}
graph:
  - id: code
    model: {provider: p, name: m, prompt: Be brief., tools: [builtin/read], max_turns: 3}
    input: "The tests say: {{ state.test.output }} ({{state.visits.code}})"
    save: notes
    next: test
  - id: test
    tool: builtin/shell
    with: {argv: [sh, -c, "{{args.command}}"]}
    save: test
    edges:
      - when: {state.test.status: ok}
        to: review
      - when: {state.visits.code: {at_least: 4}}
        to: end
      - to: code
  - id: review
    actor: reviewer
    interrupt: before
    next: end
`

func parsed(t testing.TB, text string) actor.Config {
	t.Helper()
	c, err := actor.Parse("f", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestParseGraph(t *testing.T) {
	c := parsed(t, fixer)
	if m := c.Graph[0].Model; m == nil || m.Turns() != 3 || m.Name != "m" || c.Graph[2].Interrupt != actor.Before || c.State["notes"].Reducer != actor.Append {
		t.Errorf("got %+v", c)
	}
	if (actor.Model{}).Turns() != actor.DefaultMaxTurns {
		t.Error("a model without a limit has another one")
	}
}

// Every fault says its line and what is wrong with it.
func TestParseGraphRefuses(t *testing.T) {
	tool := "name: a\nstate: {s: {reducer: last}, l: {reducer: append}, n: {reducer: max}, o: {reducer: merge}, t: {}}\ngraph:\n  - id: x\n    tool: b\n    save: s\n"
	model := "name: a\nstate: {t: {reducer: last}}\ngraph:\n  - id: x\n    model: {provider: p, name: m}\n    save: t\n"
	when := func(cond string) string {
		return tool + "    edges:\n      - when: {" + cond + "}\n        to: end\n      - to: x\n"
	}
	for name, c := range map[string]struct{ text, want string }{
		"two kinds":          {tool + "    actor: b\n", "f:4: actor local/a: node x: give one of tool, model and actor"},
		"model no name":      {"name: a\ngraph:\n  - id: x\n    model:\n      provider: p\n", "f:4: actor local/a: node x: a model needs a name"},
		"model no provider":  {"name: a\ngraph:\n  - id: x\n    model:\n      name: m\n", "f:5: actor local/a: node x: a model needs a provider"},
		"model heat":         {"name: a\ngraph:\n  - id: x\n    model:\n      name: default\n      temperature: 3\n", "f:6: actor local/a: node x: temperature 3 is not"},
		"model turns":        {"name: a\ngraph:\n  - id: x\n    model:\n      name: default\n      max_turns: -1\n", "f:6: actor local/a: node x: max_turns is negative"},
		"slash":              {"name: a\ngraph:\n  - id: a/b\n    tool: t\n", "f:3: actor local/a: node \"a/b\": an id has"},
		"long id":            {"name: a\ngraph:\n  - id: " + strings.Repeat("x", 65) + "\n    tool: t\n", "f:3: actor local/a: node \"xxx"},
		"with of a model":    {model + "    with: {a: 1}\n", "f:7: actor local/a: node x: with belongs to a tool"},
		"input of a tool":    {tool + "    input: hi\n", "f:7: actor local/a: node x: input belongs to a model"},
		"error of an actor":  {"name: a\ngraph:\n  - id: x\n    actor: b\n    on_error: end\n", "f:5: actor local/a: node x: on_error belongs to"},
		"interrupt":          {tool + "    interrupt: during\n", `f:7: actor local/a: node x: interrupt "during" is not before or after`},
		"reject alone":       {tool + "    on_reject: end\n", "f:7: actor local/a: node x: on_reject needs an interrupt"},
		"reject gone":        {tool + "    interrupt: after\n    on_reject: y\n", `f:8: actor local/a: node x goes to "y"`},
		"undeclared":         {"name: a\ngraph:\n  - id: x\n    tool: b\n    save: s\n", "f:5: actor local/a: node x saves state.s, which is not declared"},
		"reserved":           {"name: a\nstate:\n  visits: {reducer: last}\ngraph:\n  - {id: x, tool: b}\n", "f:3: actor local/a: state.visits is there by itself"},
		"bad key":            {"name: a\nstate:\n  A-b: {reducer: last}\ngraph:\n  - {id: x, tool: b}\n", `f:3: actor local/a: state "A-b": a key is`},
		"bad reducer":        {"name: a\nstate:\n  b:\n    reducer: first\ngraph:\n  - {id: x, tool: b}\n", `f:4: actor local/a: state.b: no reducer "first"`},
		"state of a model":   {"name: a\nprovider: p\nmodel: m\nstate: {b: {}}\n", "f:4: actor local/a: only a graph has a state"},
		"prompt of a graph":  {"name: a\nprompt: hi\ngraph:\n  - {id: x, tool: b}\n", "f:2: actor local/a: prompt belongs to the model of a node"},
		"context of a graph": {"name: a\nmax_context: 9\ngraph:\n  - {id: x, tool: b}\n", "f:2: actor local/a: max_context belongs to the model of a node, not to a graph"},
		"turns of a graph":   {"name: a\nmax_turns: -1\ngraph:\n  - {id: x, tool: b}\n", "f:2: actor local/a: max_turns is negative"},
		"edge to nowhere":    {tool + "    edges:\n      - when: {state.s.status: ok}\n      - to: end\n", "f:8: actor local/a: node x: edge 1 leads nowhere"},
		"edge gone":          {tool + "    edges:\n      - to: y\n", `f:8: actor local/a: node x goes to "y", which is not a node`},
		"edge after always":  {tool + "    edges:\n      - to: end\n      - to: x\n", "f:8: actor local/a: node x: edge 1 always holds"},
		"next after always":  {tool + "    edges:\n      - to: end\n    next: x\n", "f:9: actor local/a: node x: its last edge always holds"},
		"stuck":              {tool + "    edges:\n      - when: {state.s.status: ok}\n        to: end\n", "f:8: actor local/a: node x gets stuck where no edge holds"},
		"path":               {when("test.status: ok"), "f:8: actor local/a: node x: test.status: a path begins with state."},
		"path of no key":     {when("state.nosuch: ok"), `f:8: actor local/a: node x: state.nosuch: the state has no "nosuch"`},
		"path of no field":   {when("state.s.nosuch: ok"), `f:8: actor local/a: node x: state.s.nosuch: what a tool saves has no "nosuch"`},
		"path of no node":    {when("state.visits.y: 1"), `f:8: actor local/a: node x: state.visits.y: there is no node "y"`},
		"field of a list":    {when("state.l.x: 1"), `f:8: actor local/a: node x: state.l.x: state.l is a list and has no "x"`},
		"status":             {when("state.s.status: good"), `f:8: actor local/a: node x: state.s.status: no tool ends "good"`},
		"visits as a text":   {when("state.visits.x: {equals: many}"), "f:8: actor local/a: node x: state.visits.x: many cannot equal a number"},
		"visits match":       {when("state.visits.x: {matches: a}"), "f:8: actor local/a: node x: state.visits.x: matches does not apply to a number"},
		"output at least":    {when("state.s.output: {at_least: 1}"), "f:8: actor local/a: node x: state.s.output: at_least does not apply to a text"},
		"whole outcome":      {when("state.s: ok"), "f:8: actor local/a: node x: state.s: equals does not apply to what a tool saved"},
		"at least a text":    {when("state.n: {at_least: many}"), "f:8: actor local/a: node x: state.n: at_least takes a number"},
		"bad expression":     {when("state.s.output: {matches: '('}"), "f:8: actor local/a: node x: state.s.output: matches: error parsing regexp"},
		"expression number":  {when("state.s.output: {matches: 1}"), "f:8: actor local/a: node x: state.s.output: matches takes a regular expression"},
		"exists what":        {when("state.s.output: {exists: maybe}"), "f:8: actor local/a: node x: state.s.output: exists takes true or false"},
		"in what":            {when("state.s.status: {in: ok}"), "f:8: actor local/a: node x: state.s.status: in takes a list"},
		"a list":             {when("state.s.status: [ok]"), "f:8: actor local/a: node x: state.s.status: a list is not a value"},
		"nothing":            {when("state.s.status: {}"), "f:8: actor local/a: node x: state.s.status: the condition is empty"},
		"null":               {when("state.s.status: "), "f:8: actor local/a: node x: state.s.status: <nil> is not a text"},
		"no matcher":         {when("state.s.status: {like: ok}"), `f:8: actor local/a: node x: state.s.status: unknown matcher "like"`},
		"unknown input path": {"name: a\ngraph:\n  - id: x\n    model: {name: default}\n    input: '{{state.y}}'\n", "f:5: actor local/a: node x: {{state.y}}: the state has no"},
		"open input":         {"name: a\ngraph:\n  - id: x\n    model: {name: default}\n    input: '{{state.y'\n", `f:5: actor local/a: node x: "{{state.y": {{ without }}`},
		"unknown with path":  {"name: a\ngraph:\n  - id: x\n    tool: t\n    with: {a: [{b: '{{state.y}}'}]}\n", "f:5: actor local/a: node x: {{state.y}}: the state has no"},
		"never reached":      {"name: a\ngraph:\n  - {id: x, tool: b, next: end}\n  - {id: y, tool: b}\n", "f:4: actor local/a: node y is never reached"},
		"circle of one":      {"name: a\ngraph:\n  - {id: x, tool: b, next: x}\n", "f:3: actor local/a: a cycle without exit: x -> x"},
		"circle":             {"name: a\ngraph:\n  - {id: x, tool: b}\n  - {id: y, tool: b}\n  - {id: z, tool: b, next: y}\n", "f:4: actor local/a: a cycle without exit: y -> z -> y"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := actor.Parse("f", []byte(c.text))
			if !fault.Is(err, fault.Invalid) || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v\nwant Invalid: %s", err, c.want)
			}
		})
	}
}

func TestHintsComeWithTheLine(t *testing.T) {
	_, err := actor.Parse("f", []byte("name: a\nstate: {s: {}}\ngraph:\n  - {id: x, tool: t, edges: [{when: {state.z: 1}, to: end}], next: end}\n"))
	if got, want := fault.As(err).Hint, "it has: input, person, s, visits"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The first edge that holds is the one that is taken.
func TestConditions(t *testing.T) {
	result := map[string]any{"status": "failed", "exit": json.Number("2"), "output": "FAIL a\nok b"}
	s := actor.State{Visits: map[string]int{"x": 3}, Vars: map[string]any{
		"test": result, "notes": []any{"a", "b"}, "score": 2.5, "flag": true, "gone": nil, "in/test": map[string]any{"status": "ok"},
	}}
	for _, c := range []struct {
		cond string
		want bool
	}{
		{"state.test.status: failed", true}, {"state.test.status: ok", false},
		{"state.test.status: {equals: failed}", true}, {"state.test.status: {equals: ok}", false},
		{"state.test.status: {in: [ok, failed]}", true}, {"state.test.status: {in: [ok]}", false},
		{"state.test.status: {not: ok}", true}, {"state.test.status: {not: failed}", false},
		{"state.test.status: {not: [ok, failed]}", false}, {"state.test.status: {not: [ok]}", true},
		{"state.test.exit: 2", true}, {"state.test.exit: 2.0", true}, {"state.test.exit: '2'", false},
		{"state.test.exit: {at_least: 2}", true}, {"state.test.exit: {at_least: 3}", false},
		{"state.test.exit: {at_most: 2}", true}, {"state.test.exit: {at_most: 1}", false},
		{"state.test.exit: {at_least: 1, at_most: 1}", false}, {"state.test.exit: {at_least: 1, at_most: 2}", true},
		{"state.visits.x: 3", true}, {"state.visits.y: 0", true}, {"state.visits.x: {at_least: 4}", false},
		{"state.notes: {at_least: 2}", true}, {"state.notes: {at_least: 3}", false}, {"state.notes: {at_most: 2}", true},
		{"state.score: {at_most: 2.4}", false}, {"state.score: 2.5", true},
		{"state.flag: true", true}, {"state.flag: false", false}, {"state.flag: 'true'", false},
		{"state.test.output: {matches: '(?m)^ok'}", true}, {"state.test.output: {matches: '^ok'}", false},
		{"state.score: {matches: '2'}", false}, {"state.test.status: {at_least: 1}", false},
		{"state.test: {exists: true}", true}, {"state.test: {exists: false}", false},
		{"state.gone: {exists: true}", false}, {"state.none: {exists: false}", true},
		{"state.none: x", false}, {"state.none: {in: [x]}", false}, {"state.none: {not: x}", true}, {"state.none: {not: [x]}", true},
		{"state.none: {at_least: 0}", false}, {"state.none.deeper: {matches: ''}", false}, {"state.score.deeper: {exists: true}", false},
		{"state.test.status: failed, state.visits.x: {at_least: 4}", false}, {"state.test.status: failed, state.visits.x: 3", true},
	} {
		c2, err := actor.Parse("f", []byte("name: a\nstate: {test: {}, notes: {}, score: {}, flag: {}, gone: {}, none: {}}\ngraph:\n"+
			"  - {id: x, tool: t, edges: [{when: {"+c.cond+"}, to: end}], next: y}\n  - {id: y, tool: t}\n"))
		if err != nil {
			t.Errorf("%s: %v", c.cond, err)
			continue
		}
		if next, _ := c2.After("x", true, s); (next == actor.End) != c.want {
			t.Errorf("%s: goes to %s", c.cond, next)
		}
	}
}

func TestAfterFailure(t *testing.T) {
	c := parsed(t, `name: a
state: {s: {}}
graph:
  - {id: x, tool: t, save: s, edges: [{when: {state.s.status: failed}, to: y}], next: z}
  - {id: y, tool: t, on_error: z, edges: [{to: end}]}
  - {id: z, tool: t}
`)
	failed := actor.State{Vars: map[string]any{"s": map[string]any{"status": "failed"}}}
	for _, w := range []struct {
		id   string
		ok   bool
		s    actor.State
		next string
		goes bool
	}{
		{"x", false, failed, "y", true}, {"x", false, actor.State{}, "z", true}, {"x", true, actor.State{}, "z", true},
		{"y", false, failed, "z", true}, {"y", true, failed, "end", true}, {"z", false, failed, "", false}, {"z", true, failed, "end", true},
	} {
		if next, goes := c.After(w.id, w.ok, w.s); next != w.next || goes != w.goes {
			t.Errorf("after %s (%v): %q, %v, want %q, %v", w.id, w.ok, next, goes, w.next, w.goes)
		}
	}
}

func TestReduce(t *testing.T) {
	result := map[string]any{"status": "ok", "output": " 4\n"}
	for name, c := range map[string]struct {
		r    actor.Reducer
		in   []any
		want any
		err  string
	}{
		"last":        {actor.Last, []any{"a", "b"}, "b", ""},
		"absent":      {"", []any{"a", 1}, 1, ""},
		"append":      {actor.Append, []any{"a", result}, []any{"a", result}, ""},
		"merge":       {actor.Merge, []any{map[string]any{"a": 1, "b": 2}, `{"b": 3}`}, map[string]any{"a": 1, "b": json.Number("3")}, ""},
		"merge text":  {actor.Merge, []any{"no object"}, nil, `state.k: "no object" is not a JSON object`},
		"merge two":   {actor.Merge, []any{"{} {}"}, nil, `state.k: "{} {}" is not a JSON object`},
		"merge list":  {actor.Merge, []any{[]any{}}, nil, "state.k: [] is not a mapping"},
		"sum":         {actor.Sum, []any{result, "1.5", 2}, 7.5, ""},
		"max":         {actor.Max, []any{1, 3, 2}, 3.0, ""},
		"min":         {actor.Min, []any{2, json.Number("1"), 3}, 1.0, ""},
		"sum text":    {actor.Sum, []any{"many"}, nil, `state.k: "many" is not a number`},
		"sum of less": {actor.Sum, []any{map[string]any{"output": "x"}}, nil, `state.k: "x" is not a number`},
		"infinite":    {actor.Sum, []any{"inf"}, nil, `state.k: "inf" is not a number`},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := actor.State{}, error(nil)
			for _, v := range c.in {
				before, _ := json.Marshal(s)
				next, failed := s.Reduce("in/", "k", c.r, v)
				if after, _ := json.Marshal(s); string(before) != string(after) {
					t.Errorf("the old state became %s", after)
				}
				s, err = next, failed
			}
			if c.err != "" {
				if !fault.Is(err, fault.Invalid) || !strings.HasPrefix(err.Error(), c.err) {
					t.Errorf("got %v, want %s", err, c.err)
				}
				return
			}
			if d := cmp.Diff(map[string]any{"in/k": c.want}, s.Vars); d != "" || err != nil {
				t.Errorf("%v\n%s", err, d)
			}
		})
	}
	full := actor.State{Vars: map[string]any{"k": make([]any, 1000)}}
	if _, err := full.Reduce("", "k", actor.Append, 1); !strings.Contains(fmt.Sprint(err), "1000 entries") {
		t.Errorf("a list grows without end: %v", err)
	}
}

func TestStateTexts(t *testing.T) {
	s := actor.State{Visits: map[string]int{"r/x": 2}, Vars: map[string]any{
		"r/out": map[string]any{"output": "{{plan.prompt}}", "exit": 3.0, "list": []any{1, "a"}}, "out": "outer", "r/in/out": "deep", "r/input": "go",
	}}
	v := s.Values("r/", map[string]string{"plan.prompt": "p"})
	got, err := v.Expand("{{state.out.output}} {{state.out.exit}} {{state.out.list}} {{state.visits.x}} [{{state.none}}] {{plan.prompt}} {{state.input}}")
	if want := `{{plan.prompt}} 3 [1,"a"] 2 [] p go`; err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if _, err := v.Expand("{{args.none}}"); err == nil {
		t.Error("an unknown name is taken")
	}
	if d := cmp.Diff(map[string]any{"out": s.Vars["r/out"]}, s.Of("r/")); d != "" {
		t.Error(d)
	}
	left := s.Forget("r/")
	if d := cmp.Diff(actor.State{Visits: map[string]int{}, Vars: map[string]any{"out": "outer"}}, left); d != "" || len(s.Vars) != 4 {
		t.Errorf("%s", d)
	}
}

// What Parse accepts can be reached and can end, whatever the graph.
func TestAcceptedGraphsCanEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "n")
		to := func(name string) string {
			i := rapid.IntRange(0, n).Draw(t, name)
			if i == n {
				return actor.End
			}
			return fmt.Sprint("n", i)
		}
		c := actor.Config{Name: "local/a"}
		for i := range n {
			node := actor.Node{ID: fmt.Sprint("n", i), Tool: "t"}
			for range rapid.IntRange(0, 2).Draw(t, "edges") {
				node.Edges = append(node.Edges, actor.Edge{When: map[string]any{"state.visits.n0": 1}, To: to("to")})
			}
			node.Next = to("next")
			c.Graph = append(c.Graph, node)
		}
		// Closing the ways pair by pair, which has nothing of the checker's search.
		way := map[[2]string]bool{}
		for _, a := range c.Arrows() {
			way[[2]string{a.From, a.To}] = true
		}
		for range n + 1 {
			for a := range way {
				for b := range way {
					if a[1] == b[0] {
						way[[2]string{a[0], b[1]}] = true
					}
				}
			}
		}
		want := true
		for i := range n {
			id := fmt.Sprint("n", i)
			want = want && way[[2]string{id, actor.End}] && (i == 0 || way[[2]string{"n0", id}])
		}
		if err := c.Validate(); (err == nil) != want {
			t.Fatalf("got %v, want %v", err, want)
		}
	})
}

func TestSaid(t *testing.T) {
	n := actor.Node{ID: "x", Input: "{{a}} {{b"}
	if _, err := n.Said(actor.Named(map[string]string{"a": "1"})); !fault.Is(err, fault.Invalid) || !strings.HasPrefix(err.Error(), "node x: input: ") {
		t.Errorf("got %v", err)
	}
	n.Input = "{{a}}!"
	if got, err := n.Said(actor.Named(map[string]string{"a": "1"})); got != "1!" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// A value reads the same whether it is new or comes back from a record.
func TestTextOfValues(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
	}{
		{"a", "a"}, {2, "2"}, {2.5, "2.5"}, {1e21, "1000000000000000000000"}, {true, "true"}, {json.Number("7"), "7"},
		{map[string]any{"a": 1}, `{"a":1}`}, {nil, ""}, {func() {}, "0x"},
	} {
		s := actor.State{Vars: map[string]any{"k": c.v}}
		if got := s.Text("", "state.k"); got != c.want && !(c.want == "0x" && strings.HasPrefix(got, "0x")) {
			t.Errorf("%v: got %q, want %q", c.v, got, c.want)
		}
		if got := s.Text("", "k"); got != "" {
			t.Errorf("a path without its beginning leads to %q", got)
		}
	}
	for _, n := range []any{3, int64(3), uint64(3), 3.0, json.Number("3"), "3"} {
		if got, err := (actor.State{}).Reduce("", "k", actor.Max, n); err != nil || got.Vars["k"] != 3.0 {
			t.Errorf("%T: %v, %v", n, got.Vars, err)
		}
	}
}

func TestTooManyNodes(t *testing.T) {
	c := actor.Config{Name: "local/a"}
	for i := range 501 {
		c.Graph = append(c.Graph, actor.Node{ID: fmt.Sprint("n", i), Tool: "t"})
	}
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "501 nodes, at most 500") {
		t.Errorf("got %v", err)
	}
}

// Keys of several nodes: what they have in common counts.
func TestShapesOfSharedKeys(t *testing.T) {
	head := "name: a\nstate: {s: {}, o: {reducer: merge}}\ngraph:\n  - {id: x, tool: t, save: s}\n"
	tail := "  - {id: z, tool: t, edges: [{when: {%s}, to: end}], next: end}\n"
	for _, c := range []struct {
		second, cond string
		ok           bool
	}{
		{"  - {id: y, model: {name: default}, save: s}\n", "state.s: {matches: a}", true},
		{"  - {id: y, tool: t, save: s}\n", "state.s: {matches: a}", false},
		{"  - {id: y, actor: b, save: s}\n", "state.s.found: {at_least: 1}", true},
		{"  - {id: y, tool: t, save: o}\n", "state.o.deep.er: x", true},
		{"  - {id: y, tool: t, save: o}\n", "state.o: x", false},
		{"", "state.input: {matches: a}, state.person: {exists: true}", true},
		{"", "state.input.x: a", false},
	} {
		_, err := actor.Parse("f", []byte(head+c.second+fmt.Sprintf(tail, c.cond)))
		if (err == nil) != c.ok {
			t.Errorf("%s with %q: %v", c.cond, c.second, err)
		}
	}
}
