package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
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
	if heard, err := r.hear(ctx); heard || err != nil {
		return false, err
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
	known, err := r.context(ctx, "")
	if err != nil {
		return err
	}
	root.Context = known
	all := []*plan.Decision{&root}
	for _, text := range r.p.Action.Invariants {
		all = append(all, &plan.Decision{
			ID: ident.DecisionID(r.IDs.New()), Plan: r.p.ID, Parent: root.ID, Attempt: r.p.Attempt, Phase: r.p.Phase,
			Type: plan.InvariantEnforced, Question: "What must hold throughout?", Chosen: text,
			Rationale: "an invariant of " + r.p.Action.Name, Context: known, Created: r.Now(),
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
	return &wanted{call: last.ID, node: last.Node, turn: last.Turn, index: done, tool: asked[done]}, nil
}

// lastCall is the last model call of the worker in the running phase and
// attempt.
func (r *run) lastCall() *evidence.Call {
	for _, c := range slices.Backward(r.calls) {
		if r.isWorkers(c.Phase, c.Attempt, c.Node) {
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
	next.Status, next.Reason, next.Fault, next.Hint = to, fmt.Sprintf(format, args...), kind.String(), ""
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
