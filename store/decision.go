package store

import (
	"fmt"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

func decisionColumns(d *plan.Decision) []column {
	return []column{
		text("id", &d.ID).fix(),
		text("plan_id", &d.Plan).fix(),
		link("parent_id", &d.Parent),
		number("attempt", &d.Attempt),
		text("phase", &d.Phase),
		text("type", &d.Type),
		text("question", &d.Question),
		text("chosen_option", &d.Chosen),
		document("alternatives", &d.Alternatives),
		text("rationale", &d.Rationale),
		maybeFloat("confidence_score", &d.Confidence),
		maybeFloat("claimed_confidence", &d.Claimed),
		document("evidence", &d.Evidence),
		flag("implicit", &d.Implicit),
		text("call_id", &d.Call),
		text("tool_call_id", &d.ToolCall),
		text("manifest", &d.Context.Manifest),
		text("actor_state", &d.Context.ActorState),
		text("checkpoint_id", &d.Checkpoint),
		link("superseded_by", &d.Superseded),
		moment("created", &d.Created),
	}
}

func decisionWithSeq(d *plan.Decision) []column {
	return append(decisionColumns(d), number("seq", &d.Seq))
}

func (t *tx) InsertDecision(d *plan.Decision, ups []ident.DecisionID) error {
	what := "decision " + string(d.ID)
	seq, err := t.insertNext(what, "decisions", "seq", "plan_id", decisionColumns(d))
	if err != nil {
		return err
	}
	for _, up := range ups {
		if up == d.ID {
			// The row is in already, so the whole transaction must not commit.
			return t.spoil(what, fault.New(fault.Invalid, "a decision cannot influence itself"))
		}
		edge := fmt.Sprintf("the influence of decision %s on %s", up, d.ID)
		if _, err := t.exec(edge, insertText("influences", "plan_id, up_id, down_id", params(1, 3), ""),
			string(d.Plan), string(up), string(d.ID)); err != nil {
			return err
		}
	}
	assign(t, &d.Seq, int(seq))
	return nil
}

func (t *tx) UpdateDecision(d plan.Decision) error {
	what := "decision " + string(d.ID)
	ok, err := t.update(what, "decisions", "id", string(d.ID), decisionColumns(&d), "")
	return changed(what, ok, err)
}

func (t *tx) Decision(id ident.DecisionID) (plan.Decision, error) {
	return one(t, "decision "+string(id), decisionWithSeq, "FROM decisions WHERE id = $1", string(id))
}

func (t *tx) Decisions(id ident.PlanID) ([]plan.Decision, error) {
	return list(t, "decisions of plan "+string(id), decisionWithSeq, "FROM decisions WHERE plan_id = $1 ORDER BY seq", string(id))
}

func (t *tx) Influences(id ident.PlanID) ([]plan.Influence, error) {
	of := func(i *plan.Influence) []column { return []column{text("up_id", &i.Up), text("down_id", &i.Down)} }
	return list(t, "influences of plan "+string(id), of, `FROM influences i
		JOIN decisions down ON down.id = i.down_id JOIN decisions up ON up.id = i.up_id
		WHERE i.plan_id = $1 ORDER BY down.seq, up.seq`, string(id))
}

func checkpointColumns(c *plan.Checkpoint) []column {
	return []column{
		text("id", &c.ID),
		text("plan_id", &c.Plan),
		link("decision_id", &c.Decision),
		text("changes", &c.Changes),
		number("files", &c.Files),
		moment("created", &c.Created),
	}
}

func (t *tx) InsertCheckpoint(c plan.Checkpoint) error {
	_, err := t.insertNext("checkpoint "+string(c.ID), "checkpoints", "n", "plan_id", checkpointColumns(&c))
	return err
}

func (t *tx) Checkpoint(id ident.CheckpointID) (plan.Checkpoint, error) {
	return one(t, "checkpoint "+string(id), checkpointColumns, "FROM checkpoints WHERE id = $1", string(id))
}

func (t *tx) Checkpoints(id ident.PlanID) ([]plan.Checkpoint, error) {
	return list(t, "checkpoints of plan "+string(id), checkpointColumns, "FROM checkpoints WHERE plan_id = $1 ORDER BY n", string(id))
}

func (t *tx) DeleteCheckpoints(id ident.PlanID) error {
	_, err := t.exec("checkpoints of plan "+string(id), "DELETE FROM checkpoints WHERE plan_id = $1", string(id))
	return err
}

func approvalColumns(a *plan.Approval) []column {
	return []column{
		text("id", &a.ID).fix(),
		text("plan_id", &a.Plan).fix(),
		text("kind", &a.Kind),
		text("subject", &a.Subject),
		text("summary", &a.Summary),
		text("bound", &a.Bound),
		text("state", &a.State),
		text("guidance", &a.Guidance),
		text("note", &a.Note),
		text("question", &a.Question),
		document("choices", &a.Choices),
		number("choice", &a.Choice),
		text("answer", &a.Answer),
		moment("created", &a.Created),
		maybeTime("decided", &a.Decided),
	}
}

func (t *tx) InsertApproval(a plan.Approval) error {
	_, err := t.insertNext("approval "+string(a.ID), "approvals", "n", "", approvalColumns(&a))
	return err
}

func (t *tx) UpdateApproval(a plan.Approval) error {
	what := "approval " + string(a.ID)
	ok, err := t.update(what, "approvals", "id", string(a.ID), approvalColumns(&a), "")
	return changed(what, ok, err)
}

func (t *tx) Approval(id ident.ApprovalID) (plan.Approval, error) {
	return one(t, "approval "+string(id), approvalColumns, "FROM approvals WHERE id = $1", string(id))
}

func (t *tx) Approvals(id ident.PlanID, openOnly bool) ([]plan.Approval, error) {
	tail, args := "FROM approvals WHERE 1 = 1", []any(nil)
	if id != "" {
		args = append(args, string(id))
		tail += " AND plan_id = " + param(len(args))
	}
	if openOnly {
		args = append(args, string(plan.Open))
		tail += " AND state = " + param(len(args))
	}
	return list(t, "approvals", approvalColumns, tail+" ORDER BY n", args...)
}
