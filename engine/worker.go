package engine

import (
	"slices"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/plan"
)

// The worker is the model that takes the turns: the actor itself, or that of
// the open node of its graph. Calls, inputs and tool calls carry the node, "" of
// an actor that is a model, so that each worker has a conversation of its own
// that goes on from visit to visit.

// worker is the model at work; the zero one while a tool is.
func (r *run) worker() actor.Model {
	a := r.actorNow()
	if !a.IsGraph() {
		return a.Single()
	}
	if n, ok := a.Node(r.p.Node); ok && n.Model != nil {
		return *n.Model
	}
	return actor.Model{}
}

// workerName says in words whose turns are meant.
func (r *run) workerName() string {
	a := r.actorNow()
	if !a.IsGraph() {
		return "actor " + a.Name
	}
	return "node " + r.p.Node + " of actor " + a.Name
}

// turnsTaken counts the calls of the worker in this visit, since the plan was
// resumed last.
func (r *run) turnsTaken() (n int) {
	from := max(r.p.TurnFrom, r.p.NodeTurn)
	for _, c := range r.calls {
		if r.isWorkers(c.Phase, c.Attempt, c.Node) && c.Turn > from {
			n++
		}
	}
	return n
}

// isWorkers reports whether a record of that place belongs to the conversation
// of the worker.
func (r *run) isWorkers(phase plan.Phase, attempt int, node string) bool {
	return phase == r.p.Phase && attempt == r.p.Attempt && node == r.p.Node
}

// lastWorker is the node of the model that worked last, "" of an actor that is
// a model; false where no model has worked.
func (r *run) lastWorker() (node string, ok bool) {
	if !r.actorNow().IsGraph() {
		return "", true
	}
	for _, c := range slices.Backward(r.calls) {
		if c.Phase == r.p.Phase && c.Attempt == r.p.Attempt && c.Node != "" {
			return c.Node, true
		}
	}
	return "", false
}

// goBack makes the node the one that is at work again; where a person has to say
// yes before it, they are asked first.
func (r *run) goBack(next *plan.Plan, node string) {
	if n, ok := r.actorNow().Node(node); ok && n.Interrupt == actor.Before {
		next.Node, next.NodeOpen, next.NodeDone, next.NodeBad = node, false, false, false
	} else if node != "" {
		r.visit(next, node)
	}
}

// sendBack gives the work back to the model that worked last, with something
// said to it. It reports false where no model has worked.
func (r *run) sendBack(next *plan.Plan, slot, origin, text string) bool {
	node, ok := r.lastWorker()
	if !ok {
		return false
	}
	r.goBack(next, node)
	next.ActorEnd, next.Repairs = false, 0
	next.Inputs = append(append([]plan.Input{}, next.Inputs...), plan.Input{
		Phase: next.Phase, Attempt: next.Attempt, Node: next.Node, After: next.Turn, Slot: slot, Origin: origin, Text: text,
	})
	return true
}

// told reports whether something was said to the model of the node that it has
// not answered.
func (r *run) told(node string) bool {
	after := -1
	for _, in := range r.p.Inputs {
		if in.Phase == r.p.Phase && in.Attempt == r.p.Attempt && in.Node == node {
			after = in.After
		}
	}
	for _, c := range slices.Backward(r.calls) {
		if c.Phase == r.p.Phase && c.Attempt == r.p.Attempt && c.Node == node {
			return after >= c.Turn
		}
	}
	return after >= 0
}
