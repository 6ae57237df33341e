package engine

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

// AnswerOf is what an actor said last in a plan that changes nothing, once it is
// done; "" in any other.
func (e *Engine) AnswerOf(ctx context.Context, p plan.Plan) (string, error) {
	done := p.Phase == plan.PhaseApply || p.Phase == plan.PhaseExecute && p.ActorEnd
	if !p.Action.ReadOnly || !done {
		return "", nil
	}
	var calls []evidence.Call
	err := e.Store.View(ctx, func(tx Tx) (err error) {
		calls, err = tx.Calls(p.ID)
		return err
	})
	if err != nil {
		return "", err
	}
	for _, c := range slices.Backward(calls) {
		if c.Phase != plan.PhaseExecute || !c.Answered() {
			continue
		}
		b, err := e.Blobs.Get(ctx, c.Message)
		if err != nil {
			return "", err
		}
		var resp actor.Response
		if err := json.Unmarshal(b, &resp); err != nil {
			return "", fault.New(fault.Corrupt, "answer of call %s: %w", c.ID, err)
		}
		return strings.ToValidUTF8(resp.Message.Text(), "\uFFFD"), nil
	}
	return "", nil
}
