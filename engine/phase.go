package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/tool"
)

// maxRepairs is how many turns in a row may be no use before the plan pauses.
const maxRepairs = 3

// actorNow is the actor of the running phase.
func (r *run) actorNow() actor.Config {
	if r.p.Phase == plan.PhaseStrategize {
		return r.p.Strategy
	}
	return r.p.Execution
}

// stepPhase does the next thing in Strategize or Execute: finish a tool call
// that is open, let the actor take its next turn, check the work, or end the
// phase.
func (r *run) stepPhase(ctx context.Context) (bool, error) {
	if len(r.decisions) == 0 {
		return false, r.openTree(ctx)
	}
	open, err := r.openToolCall(ctx)
	if err != nil {
		return false, err
	}
	if open != nil {
		return r.stepToolCall(ctx, *open)
	}
	if !r.p.ActorEnd {
		if r.actorNow().IsGraph() {
			return r.stepGraph(ctx)
		}
		return r.stepModel(ctx)
	}
	if r.p.Phase == plan.PhaseExecute {
		if r.p.Checking {
			return false, r.restoreAfterCheck(ctx)
		}
		if moved, err := r.sandboxMoved(ctx); moved || err != nil {
			return false, err
		}
		if more, err := r.stepValidation(ctx); more || err != nil {
			return false, err
		}
		if stop, err := r.judge(ctx); stop != goOn || err != nil {
			return stop == halt, err
		}
	}
	return false, r.finishPhase(ctx)
}

// openTree records the root of the decision tree and the invariants, before
// any actor has a say.
func (r *run) openTree(ctx context.Context) error {
	question := "What is to be done?"
	chosen := r.p.Action.Description
	if r.p.Prompt != "" {
		chosen = r.p.Prompt
	}
	root := plan.Decision{
		ID: ident.DecisionID(r.IDs.New()), Plan: r.p.ID, Attempt: r.p.Attempt, Phase: r.p.Phase,
		Type: plan.PromptDefinition, Question: question, Chosen: chosen,
		Rationale: "done means: " + r.p.Action.DefinitionOfDone, Created: r.Now(),
	}
	all := []*plan.Decision{&root}
	for _, text := range r.p.Action.Invariants {
		all = append(all, &plan.Decision{
			ID: ident.DecisionID(r.IDs.New()), Plan: r.p.ID, Parent: root.ID, Attempt: r.p.Attempt, Phase: r.p.Phase,
			Type: plan.InvariantEnforced, Question: "What must hold throughout?", Chosen: text,
			Rationale: "an invariant of " + r.p.Action.Name, Created: r.Now(),
		})
	}
	next := r.p
	for i, d := range all { // the store gives the same numbers
		d.Seq = i + 1
	}
	var events []plan.Event
	for _, d := range all {
		events = append(events, r.decisionEvent(d))
	}
	return r.commit(ctx, next, func(tx Tx) error {
		r.decisions = nil
		for _, d := range all {
			if err := r.insertDecision(tx, d, nil); err != nil {
				return err
			}
		}
		return nil
	}, events...)
}

// openToolCall returns the first call of the last turn that is not done: one
// that is recorded, or the next that the model asked for.
func (r *run) openToolCall(ctx context.Context) (*wanted, error) {
	for _, t := range r.phaseToolCalls() {
		if !t.Status.Done() {
			return r.again(ctx, t)
		}
	}
	last := r.lastCall()
	if last == nil || !last.Answered() {
		return nil, nil
	}
	resp, err := r.response(ctx, *last)
	if err != nil {
		return nil, err
	}
	done := 0
	for _, t := range r.phaseToolCalls() {
		if t.Call == last.ID {
			done++
		}
	}
	asked := resp.Message.ToolCalls
	if done >= len(asked) {
		return nil, nil
	}
	return &wanted{call: last.ID, turn: last.Turn, index: done, tool: asked[done]}, nil
}

// lastCall is the last model call of the running phase and attempt.
func (r *run) lastCall() *evidence.Call {
	for _, c := range slices.Backward(r.calls) {
		if c.Phase == r.p.Phase && c.Attempt == r.p.Attempt {
			return &c
		}
	}
	return nil
}

// finishPhase ends the running phase.
func (r *run) finishPhase(ctx context.Context) error {
	next := r.p
	to, err := plan.Next(next.Status, plan.Finish)
	if err != nil {
		return err
	}
	next.Status, next.Reason = to, ""
	return r.move(ctx, next, nil)
}

// pause stops the plan with a reason that a person can act on.
func (r *run) pause(ctx context.Context, kind fault.Kind, format string, args ...any) error {
	return r.pauseAt(ctx, r.p, kind, format, args...)
}

// pauseAt is pause of a plan that is stored as next.
func (r *run) pauseAt(ctx context.Context, next plan.Plan, kind fault.Kind, format string, args ...any) error {
	to, err := plan.Next(next.Status, plan.Pause)
	if err != nil {
		return err
	}
	next.Status, next.Reason, next.Fault = to, fmt.Sprintf(format, args...), kind.String()
	return r.move(ctx, next, nil)
}

// block stops the plan at a budget; a person has to decide whether it goes on.
func (r *run) block(ctx context.Context, format string, args ...any) (err error) {
	next := r.p
	if next.Status, err = plan.Next(next.Status, plan.Block); err != nil {
		return err
	}
	next.Reason, next.Fault = fmt.Sprintf(format, args...), fault.Exhausted.String()
	return r.move(ctx, next, nil)
}

// fail ends the plan's run with an error that is the plan's own.
func (r *run) fail(ctx context.Context, kind fault.Kind, format string, args ...any) error {
	next := r.p
	to, err := plan.Next(next.Status, plan.Fail)
	if err != nil {
		return err
	}
	next.Status, next.Reason, next.Fault = to, fmt.Sprintf(format, args...), kind.String()
	return r.move(ctx, next, nil)
}

// stepGraph lets a graph actor take its next node, or handles the end of the
// node that was running.
func (r *run) stepGraph(ctx context.Context) (bool, error) {
	g := r.actorNow()
	next := r.p
	if next.Node == "" {
		next.Node = g.Graph[0].ID
	}
	if next.Node == actor.End {
		next.ActorEnd = true
		return false, r.commit(ctx, next, nil)
	}
	if next.NodeOpen {
		if t, ok := r.toolCallAt(next.Turn, 0); ok {
			return r.leaveNode(ctx, t)
		}
	}
	node, ok := g.Node(next.Node)
	if !ok {
		return true, r.fail(ctx, fault.Internal, "actor %s has no node %q", g.Name, next.Node)
	}
	args, err := node.Arguments(r.values())
	if err != nil {
		return true, r.fail(ctx, fault.Invalid, "actor %s: %v", g.Name, err)
	}
	if !next.NodeOpen {
		if next.Turn-next.TurnFrom >= r.turnLimit() {
			return true, r.pause(ctx, fault.Exhausted, "actor %s took %d steps, its limit", g.Name, r.turnLimit())
		}
		next.Turn++
		next.NodeOpen = true
		if err := r.commit(ctx, next, nil); err != nil {
			return false, err
		}
	}
	return r.stepToolCall(ctx, wanted{
		turn: next.Turn, node: node.ID,
		tool: actor.ToolCall{ID: node.ID, Name: node.Tool, Arguments: args},
	})
}

// leaveNode goes from a node whose tool call is done to the next one, or ends
// the phase where none takes the failure: a person's no pauses the plan, what
// the tool does not take is a fault of the actor, and a tool that failed has
// not done what is to be done.
func (r *run) leaveNode(ctx context.Context, t evidence.ToolCall) (bool, error) {
	next := r.p
	to, goesOn := r.actorNow().After(t.Node, t.Status == tool.OK)
	if goesOn {
		next.Node, next.NodeOpen = to, false
		return false, r.commit(ctx, next, nil)
	}
	out, err := r.blob(ctx, t.Output)
	if err != nil {
		return false, err
	}
	said := string(out)
	switch {
	case strings.HasPrefix(said, rejection("")):
		next.NodeOpen = false // a resume asks again
		return true, r.pauseAt(ctx, next, fault.Blocked, "%s: %s", t.Tool, clip(lastLine(said), 300))
	case t.Status == tool.Refused:
		return true, r.fail(ctx, fault.Invalid, "node %s: %s", t.Node, clip(lastLine(said), 300))
	}
	return true, r.fail(ctx, fault.ValidationFailed, "%s ended %s: %s", t.Tool, t.Status, lastLine(said))
}

func (r *run) turnLimit() int {
	if n := r.actorNow().MaxTurns; n > 0 {
		return n
	}
	return actor.DefaultMaxTurns
}

// values are the names that a graph node and a validation may use.
func (r *run) values() map[string]string {
	return r.p.Action.Values(string(r.p.ID), r.p.Prompt, r.p.Args)
}

// cost is what the plan's model calls have cost so far, in USD.
func (r *run) cost() (sum float64) {
	for _, c := range r.calls {
		sum += c.Cost
	}
	return sum
}
