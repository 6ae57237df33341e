package actor

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cleveragents/agents/fault"
)

// maxDepth bounds how deep actors name actors.
const maxDepth = 8

// Flatten returns the actor with the actors that its nodes name put in their
// place, each under the id of its node and a slash; lookup finds them by name.
//
// One that is a model becomes that node's model. One that is a graph is put
// between two nodes that do nothing: one under the node's own id, where it is
// entered and its state begins anew, and one called ID/end, where its end leads
// on. Actors that name each other in a circle, and more than eight of them one
// in the other, are fault.Invalid; an error of lookup is passed on.
func (c Config) Flatten(lookup func(name string) (Config, error)) (Config, error) {
	f := flattener{lookup: lookup, state: map[string]Key{}}
	if err := f.add(c, "", []string{c.Name}); err != nil {
		return Config{}, err
	}
	if c.IsGraph() {
		c.Graph = f.nodes
	}
	if len(f.state) > 0 {
		c.State = f.state
	}
	return c, nil
}

// Check is Flatten for an actor that was read from a file: an error about a
// node says its line.
func (c Config) Check(file string, data []byte, lookup func(name string) (Config, error)) error {
	for i, n := range c.Graph {
		if n.Actor == "" {
			continue
		}
		one := c
		one.Graph = []Node{n}
		if _, err := one.Flatten(lookup); err != nil {
			return at(file, data, []string{"graph", strconv.Itoa(i), "actor"}, err)
		}
	}
	_, err := c.Flatten(lookup)
	return err
}

type flattener struct {
	lookup func(string) (Config, error)
	nodes  []Node
	state  map[string]Key
}

// add appends the nodes of c under a scope; chain is the actors around it.
func (f *flattener) add(c Config, scope string, chain []string) error {
	for key, v := range c.State {
		f.state[scope+key] = v
	}
	to := func(id string) string {
		if id == "" || id == End && scope == "" {
			return id
		}
		return scope + id // the end of an inlined actor is a node
	}
	for i, n := range c.Graph {
		if n.Next == "" && (len(n.Edges) == 0 || len(n.Edges[len(n.Edges)-1].When) > 0) {
			n.Next = End
			if i+1 < len(c.Graph) {
				n.Next = c.Graph[i+1].ID
			}
		}
		n.ID, n.Scope = scope+n.ID, scope
		n.Next, n.OnError, n.OnReject = to(n.Next), to(n.OnError), to(n.OnReject)
		n.Edges = slices.Clone(n.Edges)
		for j := range n.Edges {
			n.Edges[j].To = to(n.Edges[j].To)
		}
		if err := f.addNode(n, chain); err != nil {
			return err
		}
	}
	return nil
}

func (f *flattener) addNode(n Node, chain []string) error {
	if len(f.nodes) >= maxNodes {
		return fault.New(fault.Invalid, "actor %s: more than %d nodes with the actors it names", chain[0], maxNodes)
	}
	if n.Actor == "" {
		f.nodes = append(f.nodes, n)
		return nil
	}
	sub, err := f.lookup(n.Actor)
	if err != nil {
		return err
	}
	chain = append(slices.Clone(chain), sub.Name)
	if i := slices.Index(chain, sub.Name); i < len(chain)-1 {
		return fault.New(fault.Invalid, "actors name each other in a circle: %s", strings.Join(chain[i:], " -> ")).WithCode("CycleDetected")
	}
	if len(chain) > maxDepth {
		return fault.New(fault.Invalid, "actors name each other deeper than %d: %s", maxDepth, strings.Join(chain, " -> "))
	}
	if !sub.IsGraph() {
		m := sub.Single()
		n.Model = &m
		f.nodes = append(f.nodes, n)
		return nil
	}
	enter := Node{ID: n.ID, Actor: n.Actor, Input: n.Input, Scope: n.Scope, Enter: n.ID + "/" + sub.Graph[0].ID}
	leave := n
	leave.ID, leave.Input, leave.Interrupt, leave.OnReject = n.ID+"/"+End, "", "", ""
	switch n.Interrupt {
	case Before:
		enter.Interrupt, enter.OnReject = n.Interrupt, n.OnReject
	case After:
		leave.Interrupt, leave.OnReject = n.Interrupt, n.OnReject
	}
	f.nodes = append(f.nodes, enter)
	if err := f.add(sub, n.ID+"/", chain); err != nil {
		return err
	}
	f.nodes = append(f.nodes, leave)
	return nil
}

// Inner is the scope of the actor that ends at a node ID/end.
func (n Node) Inner() string {
	scope, ok := strings.CutSuffix(n.ID, End)
	if !ok || !strings.HasSuffix(scope, "/") {
		return n.ID + "/"
	}
	return scope
}
