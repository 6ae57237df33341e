package actor

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// text says an edge's conditions in one line.
func (e Edge) text() string {
	var out []string
	for _, path := range slices.Sorted(maps.Keys(e.When)) {
		m, ok := e.When[path].(map[string]any)
		if !ok {
			out = append(out, path+" = "+written(e.When[path]))
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(m)) {
			out = append(out, path+" "+strings.ReplaceAll(name, "_", " ")+" "+written(m[name]))
		}
	}
	return strings.Join(out, ", ")
}

func written(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// What says what a node does, in one line.
func (n Node) What() string {
	s := "actor " + n.Actor
	switch {
	case n.Tool != "":
		s = "tool " + n.Tool
	case n.Model != nil && n.Model.IsDefault():
		s = "the default model"
	case n.Model != nil:
		s = "model " + n.Model.Provider + "/" + n.Model.Name
	}
	if n.Interrupt != "" {
		s += ", asks a person " + string(n.Interrupt)
	}
	return s
}

// drawn are the nodes and ways to draw; a model alone is one node.
func (c Config) drawn() ([]Node, []Arrow) {
	if c.IsGraph() {
		return c.Graph, c.Arrows()
	}
	m := c.Single()
	return []Node{{ID: "model", Model: &m}}, []Arrow{{From: "model", To: End}}
}

// Dot draws the graph in the language of Graphviz. Texts are quoted, so that
// none of them can end its place.
func (c Config) Dot() string {
	var b strings.Builder
	nodes, arrows := c.drawn()
	fmt.Fprintf(&b, "digraph %s {\n  node [shape=box];\n  start [shape=point];\n", dotQuote(c.Name))
	for i, n := range nodes {
		shape := ""
		switch {
		case n.Model != nil:
			shape = ", style=rounded"
		case n.Interrupt != "":
			shape = ", peripheries=2"
		}
		fmt.Fprintf(&b, "  n%d [label=%s%s];\n", i, dotQuote(n.ID+"\n"+n.What()), shape)
	}
	fmt.Fprintf(&b, "  finish [label=%s, shape=doublecircle];\n  start -> n0;\n", dotQuote(End))
	for _, a := range arrows {
		label := ""
		if a.Why != "" {
			label = " [label=" + dotQuote(a.Why) + "]"
		}
		fmt.Fprintf(&b, "  %s -> %s%s;\n", drawnID(nodes, a.From, "finish"), drawnID(nodes, a.To, "finish"), label)
	}
	b.WriteString("}\n")
	return b.String()
}

func drawnID(nodes []Node, id, end string) string {
	if i := slices.IndexFunc(nodes, func(n Node) bool { return n.ID == id }); i >= 0 {
		return fmt.Sprint("n", i)
	}
	return end
}

func dotQuote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r < ' ' || r == 0x7f:
			b.WriteString("\uFFFD")
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Mermaid draws the graph in the language of Mermaid, with every character that
// could mean something to it, or to the page around it, written by its number.
func (c Config) Mermaid() string {
	var b strings.Builder
	nodes, arrows := c.drawn()
	b.WriteString("flowchart TD\n  start(( )) --> n0\n")
	for i, n := range nodes {
		open, shut := "[", "]"
		switch {
		case n.Interrupt != "":
			open, shut = "[[", "]]"
		case n.Model != nil:
			open, shut = "(", ")"
		}
		fmt.Fprintf(&b, "  n%d%s\"%s<br/>%s\"%s\n", i, open, mermaidQuote(n.ID), mermaidQuote(n.What()), shut)
	}
	fmt.Fprintf(&b, "  finish((%s))\n", End)
	for _, a := range arrows {
		label := ""
		if a.Why != "" {
			label = "|\"" + mermaidQuote(a.Why) + "\"|"
		}
		fmt.Fprintf(&b, "  %s -->%s %s\n", drawnID(nodes, a.From, "finish"), label, drawnID(nodes, a.To, "finish"))
	}
	return b.String()
}

func mermaidQuote(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == ' ', r == '_', r == '-', r == '.', r == '/', r == ',', r == '=':
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			b.WriteString("#65533;")
		default:
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}
