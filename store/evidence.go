package store

import (
	"fmt"

	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/ident"
)

func callColumns(c *evidence.Call) []column {
	return []column{
		text("id", &c.ID).fix(),
		text("plan_id", &c.Plan).fix(),
		text("phase", &c.Phase).fix(),
		number("attempt", &c.Attempt).fix(),
		number("turn", &c.Turn).fix(),
		text("node", &c.Node),
		text("actor", &c.Actor),
		text("provider", &c.Provider),
		text("model", &c.Model),
		text("resolved", &c.Resolved),
		text("request_key", &c.RequestKey),
		text("left_out", &c.LeftOut),
		text("manifest", &c.Manifest),
		text("request", &c.Request),
		text("response", &c.Response),
		text("message", &c.Message),
		text("stop", &c.Stop),
		number("input_tokens", &c.Usage.Input),
		number("output_tokens", &c.Usage.Output),
		number("cache_read_tokens", &c.Usage.CacheRead),
		number("cache_write_tokens", &c.Usage.CacheWrite),
		number("reasoning_tokens", &c.Usage.Reasoning),
		float("cost", &c.Cost),
		flag("priced", &c.Priced),
		number("attempts", &c.Attempts),
		text("error", &c.Error),
		moment("started", &c.Started),
		maybeTime("finished", &c.Finished),
	}
}

func (t *tx) InsertCall(c evidence.Call) error {
	what := fmt.Sprintf("call %s (plan %s, %s, attempt %d, turn %d)", c.ID, c.Plan, c.Phase, c.Attempt, c.Turn)
	_, err := t.insertNext(what, "calls", "n", "plan_id", callColumns(&c))
	return err
}

func (t *tx) UpdateCall(c evidence.Call) error {
	what := "call " + string(c.ID)
	ok, err := t.update(what, "calls", "id", string(c.ID), callColumns(&c), "")
	return changed(what, ok, err)
}

func (t *tx) Call(id ident.CallID) (evidence.Call, error) {
	return one(t, "call "+string(id), callColumns, "FROM calls WHERE id = $1", string(id))
}

func (t *tx) Calls(id ident.PlanID) ([]evidence.Call, error) {
	return list(t, "calls of plan "+string(id), callColumns, "FROM calls WHERE plan_id = $1 ORDER BY n", string(id))
}

func toolCallColumns(c *evidence.ToolCall) []column {
	return []column{
		text("id", &c.ID).fix(),
		text("plan_id", &c.Plan).fix(),
		text("phase", &c.Phase).fix(),
		number("attempt", &c.Attempt).fix(),
		number("turn", &c.Turn).fix(),
		number("idx", &c.Index).fix(),
		link("call_id", &c.Call),
		text("node", &c.Node),
		text("ref", &c.Ref),
		text("tool", &c.Tool),
		text("proposed", &c.Proposed),
		text("executed", &c.Executed),
		link("decision_id", &c.Decision),
		text("status", &c.Status),
		maybeInt("exit_status", &c.Exit),
		text("backend", &c.Backend),
		text("output", &c.Output),
		text("whole", &c.Whole),
		document("noted", &c.Noted),
		moment("started", &c.Started),
		maybeTime("finished", &c.Finished),
	}
}

func (t *tx) InsertToolCall(c evidence.ToolCall) error {
	what := fmt.Sprintf("tool call %s (plan %s, %s, attempt %d, turn %d, index %d)", c.ID, c.Plan, c.Phase, c.Attempt, c.Turn, c.Index)
	_, err := t.insertNext(what, "tool_calls", "n", "plan_id", toolCallColumns(&c))
	return err
}

func (t *tx) UpdateToolCall(c evidence.ToolCall) error {
	what := "tool call " + string(c.ID)
	ok, err := t.update(what, "tool_calls", "id", string(c.ID), toolCallColumns(&c), "")
	return changed(what, ok, err)
}

func (t *tx) ToolCall(id ident.ToolCallID) (evidence.ToolCall, error) {
	return one(t, "tool call "+string(id), toolCallColumns, "FROM tool_calls WHERE id = $1", string(id))
}

func (t *tx) ToolCalls(id ident.PlanID) ([]evidence.ToolCall, error) {
	return list(t, "tool calls of plan "+string(id), toolCallColumns, "FROM tool_calls WHERE plan_id = $1 ORDER BY n", string(id))
}

func hunkColumns(h *evidence.Hunk) []column {
	return []column{
		text("id", &h.ID),
		text("plan_id", &h.Plan),
		link("tool_call_id", &h.ToolCall),
		link("call_id", &h.Call),
		link("decision_id", &h.Decision),
		text("origin", &h.Origin),
		link("resource_id", &h.Resource),
		text("path", &h.Path),
		text("before_kind", &h.Before.Kind),
		number("before_mode", &h.Before.Mode),
		number("before_size", &h.Before.Size),
		text("before_hash", &h.Before.Hash),
		text("after_kind", &h.After.Kind),
		number("after_mode", &h.After.Mode),
		number("after_size", &h.After.Size),
		text("after_hash", &h.After.Hash),
		document("ranges", &h.Ranges),
		moment("created", &h.Created),
	}
}

func (t *tx) InsertHunk(h *evidence.Hunk) error {
	seq, err := t.insertNext("hunk "+string(h.ID), "hunks", "seq", "plan_id", hunkColumns(h))
	if err == nil {
		assign(t, &h.Seq, int(seq))
	}
	return err
}

func (t *tx) Hunks(id ident.PlanID) ([]evidence.Hunk, error) {
	withSeq := func(h *evidence.Hunk) []column { return append(hunkColumns(h), number("seq", &h.Seq)) }
	return list(t, "hunks of plan "+string(id), withSeq, "FROM hunks WHERE plan_id = $1 ORDER BY seq", string(id))
}

func gapColumns(g *evidence.Gap) []column {
	return []column{
		text("plan_id", &g.Plan),
		text("kind", &g.Kind),
		link("tool_call_id", &g.ToolCall),
		text("path", &g.Path),
		text("detail", &g.Detail),
		moment("at", &g.At),
	}
}

func (t *tx) InsertGap(g *evidence.Gap) error {
	seq, err := t.insertNext("gap of plan "+string(g.Plan), "gaps", "seq", "plan_id", gapColumns(g))
	if err == nil {
		assign(t, &g.Seq, int(seq))
	}
	return err
}

func (t *tx) Gaps(id ident.PlanID) ([]evidence.Gap, error) {
	withSeq := func(g *evidence.Gap) []column { return append(gapColumns(g), number("seq", &g.Seq)) }
	return list(t, "gaps of plan "+string(id), withSeq, "FROM gaps WHERE plan_id = $1 ORDER BY seq", string(id))
}

func resultColumns(r *evidence.ValidationResult) []column {
	return []column{
		text("id", &r.ID),
		text("plan_id", &r.Plan),
		number("attempt", &r.Attempt),
		number("round", &r.Round),
		text("name", &r.Name),
		text("mode", &r.Mode),
		text("verdict", &r.Verdict),
		maybeInt("exit_status", &r.Exit),
		text("message", &r.Message),
		text("output", &r.Output),
		text("change_set", &r.ChangeSet),
		text("backend", &r.Backend),
		moment("started", &r.Started),
		moment("finished", &r.Finished),
	}
}

func (t *tx) InsertResult(r evidence.ValidationResult) error {
	_, err := t.insertNext("validation result "+string(r.ID), "validation_results", "n", "plan_id", resultColumns(&r))
	return err
}

func (t *tx) Results(id ident.PlanID) ([]evidence.ValidationResult, error) {
	return list(t, "validation results of plan "+string(id), resultColumns,
		"FROM validation_results WHERE plan_id = $1 ORDER BY n", string(id))
}
