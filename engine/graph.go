package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/tool"
)

// A graph goes from node to node, each move one transaction: entered (counted,
// and told what it is told), at work, left (its outcome saved, the next node
// chosen). What the nodes saved is a blob that the plan names.

// maxVars bounds what the nodes of a graph may keep, as JSON.
const maxVars = 1 << 20

// The most of an output, or of an answer, that is saved in the state.
const (
	savedHead = 2 << 10
	savedTail = 6 << 10
	savedText = 16 << 10
)

// stepGraph takes a graph one move on.
func (r *run) stepGraph(ctx context.Context) (bool, error) {
	g := r.actorNow()
	id := r.p.Node
	if id == "" {
		id = g.Graph[0].ID
	}
	if id == actor.End {
		next := r.p
		next.ActorEnd = true
		return false, r.commit(ctx, next, nil)
	}
	n, ok := g.Node(id)
	if !ok {
		return true, r.fail(ctx, fault.Internal, "actor %s has no node %q", g.Name, id)
	}
	switch {
	case !r.p.NodeOpen:
		return r.enterNode(ctx, n)
	case r.p.NodeDone:
		return r.leaveAsked(ctx, n)
	case n.Model != nil:
		return r.stepNodeModel(ctx, n)
	case n.Tool != "":
		return r.stepNodeTool(ctx, n)
	}
	// The end of an actor that was inlined: what it saved is its outcome.
	s, err := r.state(ctx)
	if err != nil {
		return false, err
	}
	return r.leaveNode(ctx, r.p, n, s.Of(n.Inner()), true)
}

// enterNode begins a node: a person says yes where one is asked, the visit is
// counted, and a model is told what the node says.
func (r *run) enterNode(ctx context.Context, n actor.Node) (bool, error) {
	s, err := r.state(ctx)
	if err != nil {
		return false, err
	}
	var granted *plan.Approval
	if n.Interrupt == actor.Before {
		if granted, err = r.nodeGrant(ctx, n); err != nil {
			return false, err
		}
		if granted == nil {
			return true, r.askNode(ctx, n, s)
		}
	}
	if limit := r.stepLimit(); r.p.Steps-r.p.StepFrom >= limit {
		return true, r.pause(ctx, fault.Exhausted, "actor %s took %d steps, its limit", r.actorNow().Name, limit)
	}
	next := r.p
	r.visit(&next, n.ID)
	s.Visits = next.Visits
	said, err := n.Said(s.Values(n.Scope, r.values()))
	if err != nil {
		return true, r.fail(ctx, fault.Invalid, "actor %s: %v", r.actorNow().Name, err)
	}
	switch {
	case n.Tool != "":
		next.Turn++
	case n.Model != nil:
		if said == "" && next.Visits[n.ID] > 1 && !r.told(n.ID) {
			said = "You are asked again: look at how things are now, and go on with your task."
		}
		if said != "" {
			next.Inputs = append(append([]plan.Input{}, next.Inputs...), plan.Input{
				Phase: next.Phase, Attempt: next.Attempt, Node: n.ID, After: next.Turn,
				Slot: "node", Origin: "node:" + n.ID, Text: said,
			})
		}
	case n.Enter != "":
		// An inlined actor begins anew, with what it was told.
		s = s.Forget(n.Inner()).Set(n.Inner()+actor.KeyInput, said)
		next.Visits = s.Visits
		if next.Vars, err = r.putVars(ctx, s); err != nil {
			return true, r.failBy(ctx, n, err)
		}
		next.Node, next.NodeOpen = n.Enter, false
	}
	return false, r.commit(ctx, next, func(tx Tx) error { return spend(tx, granted) },
		r.event(next.ID, "node.entered", fields{"node": n.ID, "what": n.What(), "visit": next.Visits[n.ID]}))
}

// visit makes the node the one that is at work, and counts it.
func (r *run) visit(next *plan.Plan, id string) {
	next.Visits = maps.Clone(next.Visits)
	if next.Visits == nil {
		next.Visits = map[string]int{}
	}
	next.Visits[id]++
	next.Steps++
	next.Node, next.NodeOpen, next.NodeDone, next.NodeBad, next.NodeTurn = id, true, false, false, next.Turn
}

// stepLimit is how many nodes the actor may enter before a person has to look.
func (r *run) stepLimit() int {
	if n := r.actorNow().MaxTurns; n > 0 {
		return n
	}
	return actor.DefaultMaxTurns
}

// stepNodeTool runs the tool of the open node, or leaves it when it has run.
func (r *run) stepNodeTool(ctx context.Context, n actor.Node) (bool, error) {
	if t, ok := r.toolCallAt(r.p.Turn, 0); ok {
		return r.leaveTool(ctx, n, t)
	}
	s, err := r.state(ctx)
	if err != nil {
		return false, err
	}
	args, err := n.Arguments(s.Values(n.Scope, r.values()))
	if err != nil {
		return true, r.fail(ctx, fault.Invalid, "actor %s: %v", r.actorNow().Name, err)
	}
	return r.stepToolCall(ctx, wanted{
		turn: r.p.Turn, node: n.ID,
		tool: actor.ToolCall{ID: n.ID, Name: n.Tool, Arguments: args},
	})
}

// leaveTool goes on from a tool that has run, or ends the phase where nothing
// takes its failure: a person's no pauses the plan, what the tool does not take
// is a fault of the actor, and a tool that failed has not done what is to be
// done.
func (r *run) leaveTool(ctx context.Context, n actor.Node, t evidence.ToolCall) (bool, error) {
	out, err := r.blob(ctx, t.Output)
	if err != nil {
		return false, err
	}
	said := string(out)
	ok := t.Status == tool.OK
	if ok || n.OnError != "" || len(n.Edges) > 0 && t.Status != tool.Refused {
		return r.leaveNode(ctx, r.p, n, toolOutcome(t, said), ok)
	}
	next := r.p
	switch {
	case strings.HasPrefix(said, rejection("")):
		// A resume asks again, and that is the same visit.
		next.NodeOpen, next.Visits = false, maps.Clone(next.Visits)
		next.Visits[n.ID]--
		return true, r.pauseAt(ctx, next, fault.Blocked, "%s: %s", t.Tool, clip(lastLine(said), 300))
	case t.Status == tool.Refused:
		return true, r.fail(ctx, fault.Invalid, "node %s: %s", n.ID, clip(lastLine(said), 300))
	}
	return true, r.fail(ctx, fault.ValidationFailed, "%s ended %s: %s", t.Tool, t.Status, lastLine(said))
}

// toolOutcome is what a tool saves: its output from both ends, and the hash of
// the whole of it.
func toolOutcome(t evidence.ToolCall, output string) map[string]any {
	blob := t.Output
	if t.Whole != "" {
		blob = t.Whole
	}
	if len(output) > savedHead+savedTail {
		head := strings.ToValidUTF8(output[:savedHead], "")
		tail := strings.ToValidUTF8(output[len(output)-savedTail:], "")
		output = head + fmt.Sprintf("\n… %d bytes are left out …\n", len(output)-len(head)-len(tail)) + tail
	}
	v := map[string]any{actor.FieldStatus: string(t.Status), actor.FieldOutput: output, actor.FieldBlob: blob}
	if t.Exit != nil {
		v[actor.FieldExit] = *t.Exit
	}
	return v
}

// stepNodeModel lets the model of the open node take its next turn. One that
// has taken all of its turns failed, where the graph says what then.
func (r *run) stepNodeModel(ctx context.Context, n actor.Node) (bool, error) {
	if n.OnError != "" && !r.callOpen() && !r.answerReady() && r.turnsTaken() >= n.Model.Turns() {
		n.Save = "" // it came to no answer
		return r.leaveNode(ctx, r.p, n, nil, false)
	}
	return r.stepModel(ctx)
}

// leaveNode saves what came of a node and goes on, or asks a person first.
func (r *run) leaveNode(ctx context.Context, next plan.Plan, n actor.Node, value any, ok bool) (bool, error) {
	s, err := r.reduced(ctx, n, value)
	if err == nil {
		next.Vars, err = r.putVars(ctx, s)
	}
	if err != nil {
		return true, r.failBy(ctx, n, err)
	}
	if n.Interrupt == actor.After {
		next.NodeDone, next.NodeBad = true, !ok
		return false, r.commit(ctx, next, nil)
	}
	return r.goOn(ctx, next, n, ok, s, nil)
}

// leaveAsked goes on from a node that is done, once a person has said yes.
func (r *run) leaveAsked(ctx context.Context, n actor.Node) (bool, error) {
	s, err := r.state(ctx)
	if err != nil {
		return false, err
	}
	granted, err := r.nodeGrant(ctx, n)
	if err != nil {
		return false, err
	}
	if granted == nil {
		return true, r.askNode(ctx, n, s)
	}
	return r.goOn(ctx, r.p, n, !r.p.NodeBad, s, granted)
}

// goOn takes the first way that is open.
func (r *run) goOn(ctx context.Context, next plan.Plan, n actor.Node, ok bool, s actor.State, granted *plan.Approval) (bool, error) {
	to, _ := r.actorNow().After(n.ID, ok, s)
	if to == "" {
		return true, r.fail(ctx, fault.ValidationFailed, "node %s did not end well, and leads nowhere then", n.ID)
	}
	next.Node, next.NodeOpen, next.NodeDone, next.NodeBad = to, false, false, false
	return false, r.commit(ctx, next, func(tx Tx) error { return spend(tx, granted) })
}

// reduced is the state with what came of the node.
func (r *run) reduced(ctx context.Context, n actor.Node, value any) (actor.State, error) {
	s, err := r.state(ctx)
	if err != nil || n.Save == "" {
		return s, err
	}
	return s.Reduce(n.Scope, n.Save, r.actorNow().State[n.Scope+n.Save].Reducer, value)
}

// failBy fails the plan for what is wrong with a node; a fault of ours is
// passed on.
func (r *run) failBy(ctx context.Context, n actor.Node, err error) error {
	switch f := fault.As(err); f.Kind {
	case fault.Invalid, fault.Exhausted:
		return r.fail(ctx, f.Kind, "node %s: %s", n.ID, f.Msg)
	}
	return err
}

// state is what the nodes saved so far in this phase.
func (r *run) state(ctx context.Context) (actor.State, error) {
	s := actor.State{Visits: r.p.Visits}
	if r.p.Vars == "" {
		if r.p.Prompt != "" {
			s = s.Set(actor.KeyInput, r.p.Prompt)
		}
		return s, nil
	}
	b, err := r.blob(ctx, r.p.Vars)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(b, &s.Vars); err != nil {
		return s, fault.New(fault.Corrupt, "state of plan %s: %w", r.p.ID, err)
	}
	return s, nil
}

func (r *run) putVars(ctx context.Context, s actor.State) (string, error) {
	if len(s.Vars) == 0 {
		return "", nil
	}
	b, err := json.Marshal(s.Vars)
	if err != nil {
		return "", fault.New(fault.Internal, "encode state: %w", err)
	}
	if len(b) > maxVars {
		return "", fault.New(fault.Exhausted, "the state of the graph grows beyond %d bytes", maxVars)
	}
	return r.put(ctx, b)
}

// textOutcome is what a model saves: its last answer.
func textOutcome(text string) string { return clip(strings.TrimSpace(text), savedText) }
