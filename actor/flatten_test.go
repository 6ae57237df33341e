package actor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/fault"
)

// known looks actors up among these.
func known(t testing.TB, texts ...string) func(string) (actor.Config, error) {
	all := map[string]actor.Config{}
	for _, text := range texts {
		c := parsed(t, text)
		all[c.Name] = c
	}
	return func(name string) (actor.Config, error) {
		if c, ok := all["local/"+strings.TrimPrefix(name, "local/")]; ok {
			return c, nil
		}
		return actor.Config{}, fault.New(fault.NotFound, "no actor %s", name)
	}
}

const reviewer = `name: reviewer
state: {found: {reducer: append}}
graph:
  - {id: look, model: {provider: p, name: r}, save: found, input: "{{state.input}} {{state.found}}"}
  - {id: check, tool: t, on_error: look, edges: [{when: {state.visits.look: {at_least: 2}}, to: end}], next: look}
`

func TestFlatten(t *testing.T) {
	c := parsed(t, strings.Replace(fixer, "interrupt: before", "interrupt: before\n    on_reject: code\n    input: Look at it.\n    save: facts", 1))
	got, err := c.Flatten(known(t, reviewer))
	if err != nil {
		t.Fatal(err)
	}
	var nodes []string
	for _, n := range got.Graph {
		nodes = append(nodes, fmt.Sprintf("%s scope=%q enter=%q next=%q error=%q reject=%q int=%q input=%q save=%q", n.ID, n.Scope, n.Enter, n.Next, n.OnError, n.OnReject, n.Interrupt, n.Input, n.Save))
	}
	want := []string{
		`code scope="" enter="" next="test" error="" reject="" int="" input="The tests say: {{ state.test.output }} ({{state.visits.code}})" save="notes"`,
		`test scope="" enter="" next="" error="" reject="" int="" input="" save="test"`,
		`review scope="" enter="review/look" next="" error="" reject="code" int="before" input="Look at it." save=""`,
		`review/look scope="review/" enter="" next="review/check" error="" reject="" int="" input="{{state.input}} {{state.found}}" save="found"`,
		`review/check scope="review/" enter="" next="review/look" error="review/look" reject="" int="" input="" save=""`,
		`review/end scope="" enter="" next="end" error="" reject="" int="" input="" save="facts"`,
	}
	if d := cmp.Diff(want, nodes); d != "" {
		t.Error(d)
	}
	if to := got.Graph[4].Edges[0].To; to != "review/end" {
		t.Errorf("the end of the inlined actor is %s", to)
	}
	if c.Graph[1].Edges[0].To != "review" || len(c.Graph) != 3 {
		t.Error("the actor itself was changed")
	}
	if got.State["review/found"].Reducer != actor.Append || got.State["test"].Reducer != actor.Last {
		t.Errorf("state %v", got.State)
	}
	for _, id := range []string{"review", "review/end"} {
		if n, _ := got.Node(id); n.Inner() != "review/" {
			t.Errorf("%s: inner %q", id, n.Inner())
		}
	}
	var ways []string
	for _, a := range got.Arrows() {
		if strings.HasPrefix(a.From, "review") && !strings.Contains(a.From, "check") {
			ways = append(ways, a.From+" "+a.Why+" "+a.To)
		}
	}
	if d := cmp.Diff([]string{"review  review/look", "review rejected code", "review/look  review/check", "review/end  end"}, ways); d != "" {
		t.Error(d)
	}
	if drawn := got.Dot(); !strings.Contains(drawn, "review/look") || strings.Contains(drawn, "finish -> ") {
		t.Error(drawn)
	}
	// The conditions of an inlined actor see its own state.
	s := actor.State{Visits: map[string]int{"look": 5, "review/look": 1}}
	if next, _ := got.After("review/check", true, s); next != "review/look" {
		t.Errorf("goes to %s", next)
	}
	s.Visits["review/look"] = 2
	if next, _ := got.After("review/check", true, s); next != "review/end" {
		t.Errorf("goes to %s", next)
	}
}

func TestFlattenAModel(t *testing.T) {
	c := parsed(t, fixer)
	got, err := c.Flatten(known(t, "name: reviewer\nprovider: p\nmodel: r\nprompt: Look.\nmax_turns: 2\n"))
	if err != nil {
		t.Fatal(err)
	}
	n := got.Graph[2]
	if n.ID != "review" || n.Model == nil || n.Model.Prompt != "Look." || n.Model.MaxTurns != 2 || n.Interrupt != actor.Before || n.Next != actor.End {
		t.Errorf("got %+v", n)
	}
	single := parsed(t, "name: a\nprovider: p\nmodel: m\n")
	if got, err := single.Flatten(known(t)); err != nil || got.IsGraph() || got.Model != "m" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestFlattenRefuses(t *testing.T) {
	calls := func(name, other string) string {
		return "name: " + name + "\ngraph:\n  - id: x\n    tool: t\n  - id: y\n    actor: " + other + "\n"
	}
	var deep []string
	for i := range 9 {
		deep = append(deep, calls(fmt.Sprint("d", i), fmt.Sprint("d", i+1)))
	}
	many := "name: many\ngraph:\n"
	for i := range 300 {
		many += fmt.Sprintf("  - {id: n%d, tool: t}\n", i)
	}
	for name, c := range map[string]struct {
		text  string
		known []string
		kind  fault.Kind
		want  string
	}{
		"itself":  {calls("a", "a"), []string{calls("a", "a")}, fault.Invalid, "f:6: actors name each other in a circle: local/a -> local/a"},
		"a pair":  {calls("a", "b"), []string{calls("a", "b"), calls("b", "a")}, fault.Invalid, "f:6: actors name each other in a circle: local/a -> local/b -> local/a"},
		"inside":  {calls("a", "b"), []string{calls("b", "c"), calls("c", "b")}, fault.Invalid, "f:6: actors name each other in a circle: local/b -> local/c -> local/b"},
		"unknown": {calls("a", "b"), nil, fault.NotFound, "f:6: no actor b"},
		"deep":    {calls("a", "d0"), append(deep, calls("d9", "d9")), fault.Invalid, "f:6: actors name each other deeper than 8: local/a -> local/d0"},
		"many":    {"name: a\ngraph:\n  - {id: x, actor: many}\n  - {id: y, actor: many}\n", []string{many}, fault.Invalid, "actor local/a: more than 500 nodes"},
	} {
		t.Run(name, func(t *testing.T) {
			err := parsed(t, c.text).Check("f", []byte(c.text), known(t, slices.DeleteFunc(c.known, func(s string) bool { return strings.HasPrefix(s, "name: d9") })...))
			if !fault.Is(err, c.kind) || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestDefaultModel(t *testing.T) {
	c := parsed(t, "name: a\ngraph:\n  - {id: x, model: {name: default}}\n  - {id: y, model: {provider: p, name: m}}\n")
	if !c.UsesDefault() || c.IsBare() {
		t.Error("the default model is not seen")
	}
	got := c.WithDefault("q", "n")
	if m := got.Models(); got.UsesDefault() || m[0].Provider != "q" || m[0].Name != "n" || m[1].Name != "m" || !c.UsesDefault() {
		t.Errorf("got %+v", m)
	}
	single := parsed(t, "name: a\nmodel: default\n")
	if got := single.WithDefault("q", "n"); !single.UsesDefault() || got.Provider != "q" || got.Model != "n" || !got.IsBare() {
		t.Errorf("got %+v", got)
	}
	if parsed(t, "name: a\nmodel: default\nprompt: hi\n").IsBare() || parsed(t, "name: a\nmodel: default\ntools: []\n").IsBare() {
		t.Error("a model with instructions or tools is more than a model")
	}
}

// Nothing that a text holds ends its place in a drawing.
func TestDraw(t *testing.T) {
	c := parsed(t, "name: a\nstate: {s: {}}\ngraph:\n  - id: \"a\\\"]; evil [\\\\\"\n    model: {name: default}\n  - id: b\n    tool: \"x\\\"]<script>\"\n    save: s\n    interrupt: after\n"+
		"    edges: [{when: {state.s.output: {matches: \"\\\"|;\\n\"}, state.visits.b: 2}, to: end}]\n    next: b\n")
	dot := `digraph "local/a" {
  node [shape=box];
  start [shape=point];
  n0 [label="a\"]; evil [\\\nthe default model", style=rounded];
  n1 [label="b\ntool x\"]<script>, asks a person after", peripheries=2];
  finish [label="end", shape=doublecircle];
  start -> n0;
  n0 -> n1;
  n1 -> finish [label="state.s.output matches \"|;\n, state.visits.b = 2"];
  n1 -> n1 [label="else"];
}
`
	if d := cmp.Diff(dot, c.Dot()); d != "" {
		t.Error(d)
	}
	mermaid := `flowchart TD
  start(( )) --> n0
  n0("a#34;#93;#59; evil #91;#92;<br/>the default model")
  n1[["b<br/>tool x#34;#93;#60;script#62;, asks a person after"]]
  finish((end))
  n0 --> n1
  n1 -->|"state.s.output matches #34;#124;#59;#65533;, state.visits.b = 2"| finish
  n1 -->|"else"| n1
`
	if d := cmp.Diff(mermaid, c.Mermaid()); d != "" {
		t.Error(d)
	}
	single := parsed(t, "name: a\nprovider: p\nmodel: m\n")
	if got := single.Mermaid(); !strings.Contains(got, `n0("model<br/>model p/m")`) || !strings.Contains(got, "n0 --> finish") {
		t.Errorf("got %s", got)
	}
	if got := single.Dot(); !strings.Contains(got, "n0 -> finish;") {
		t.Errorf("got %s", got)
	}
}
