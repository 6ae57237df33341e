package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/crash"
	"github.com/cleveragents/agents/decode"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/policy"
	"github.com/cleveragents/agents/tool"
)

// RecordDecision is the tool that the engine itself executes.
const RecordDecision = "builtin/record_decision"

// wanted is a tool call to be done: asked for by a model or by a graph node,
// or (row) recorded already and not finished.
type wanted struct {
	call  ident.CallID
	node  string
	turn  int
	index int
	tool  actor.ToolCall
	row   *evidence.ToolCall
}

// again is the wanted form of a recorded call that is not finished.
func (r *run) again(ctx context.Context, t evidence.ToolCall) (*wanted, error) {
	args, err := r.blob(ctx, t.Proposed)
	if err != nil {
		return nil, err
	}
	return &wanted{
		call: t.Call, node: t.Node, turn: t.Turn, index: t.Index, row: &t,
		tool: actor.ToolCall{ID: t.Ref, Name: t.Tool, Arguments: string(args)},
	}, nil
}

// stepToolCall does one tool call: admit it or say why not, run it, record it.
func (r *run) stepToolCall(ctx context.Context, w wanted) (bool, error) {
	t, args, err := r.openRow(ctx, w)
	if err != nil {
		return false, err
	}
	var granted *plan.Approval
	if w.row == nil || w.row.Status == tool.Waiting {
		v, err := r.admit(ctx, t, args, w.tool.Arguments)
		if err != nil {
			return false, err
		}
		switch {
		case v.refuse != "":
			return false, r.refuse(ctx, t, v)
		case v.ask != "" && t.Tool == Ask:
			return true, r.askQuestion(ctx, t, args, w.row != nil)
		case v.ask != "":
			return true, r.askToolCall(ctx, t, v.ask, w.row != nil)
		}
		// The approval is spent with the first record that the call goes ahead:
		// a crash in between leaves both or neither.
		granted = v.granted
	}
	if t.Tool == Ask {
		return false, r.hearAnswer(ctx, t, args, w.row != nil, granted)
	}
	if t.Tool == RecordDecision {
		return false, r.recordDecision(ctx, t, args, w.row != nil, granted)
	}
	return false, r.runTool(ctx, t, args, w, granted)
}

// openRow makes the record of a call, or takes the one that is there. Args is
// the canonical form of the arguments, nil when they are not JSON.
func (r *run) openRow(ctx context.Context, w wanted) (evidence.ToolCall, []byte, error) {
	args, bad := decode.JSONValue("arguments", []byte(w.tool.Arguments))
	if bad != nil {
		args = nil
	}
	if w.row != nil {
		return *w.row, args, nil
	}
	proposed, err := r.put(ctx, []byte(w.tool.Arguments))
	if err != nil {
		return evidence.ToolCall{}, nil, err
	}
	return evidence.ToolCall{
		ID: ident.ToolCallID(r.IDs.New()), Plan: r.p.ID, Phase: r.p.Phase, Attempt: r.p.Attempt,
		Turn: w.turn, Index: w.index, Call: w.call, Node: w.node, Ref: w.tool.ID, Tool: w.tool.Name,
		Proposed: proposed, Decision: r.openDecision(), Status: tool.Pending, Started: r.Now(),
	}, args, nil
}

// verdict is what admission says: run it, refuse it, or ask a person.
type verdict struct {
	refuse  string // text for the caller
	status  tool.Status
	useless bool // counts towards the repairs after which the plan pauses
	ask     string
	granted *plan.Approval
}

// admit decides whether a call may run. The order: is it a tool of this phase,
// is it well formed, does it loop, does the guard or the profile want a person.
func (r *run) admit(ctx context.Context, t evidence.ToolCall, args []byte, raw string) (verdict, error) {
	no := func(format string, a ...any) (verdict, error) {
		return verdict{refuse: "error: " + fmt.Sprintf(format, a...), status: tool.Refused, useless: true}, nil
	}
	spec, ok := r.offeredTool(t)
	if !ok {
		if _, exists := r.specs[t.Tool]; exists {
			return no("tool %s may not be used in %s", t.Tool, r.p.Phase)
		}
		return no("there is no tool %q", t.Tool)
	}
	if args == nil {
		_, err := decode.JSONValue("arguments", []byte(raw))
		return no("the arguments are not valid JSON: %v. They were: %s", err, clip(raw, 200))
	}
	if err := r.checkArgs(spec, args); err != nil {
		return no("the arguments do not fit the tool's schema: %v", err)
	}
	if why, err := r.loops(ctx, t, args); err != nil {
		return verdict{}, err
	} else if why != "" {
		return no("%s; the result will not change. Do something else.", why)
	}
	return r.permit(ctx, t, spec, args)
}

// offeredTool finds the tool among those of the phase. A node of a graph that
// is a tool is configured by a person, so it is bound by the phase but not by
// the list that a model has.
func (r *run) offeredTool(t evidence.ToolCall) (tool.Spec, bool) {
	var listed *[]string
	if t.Call != "" {
		listed = r.worker().Tools
	}
	for _, s := range r.offered(listed) {
		if s.Name == t.Tool {
			return s, true
		}
	}
	return tool.Spec{}, false
}

func (r *run) checkArgs(spec tool.Spec, args []byte) error {
	schema, err := r.schema(spec)
	if err != nil {
		return err
	}
	var v any
	if err := json.Unmarshal(args, &v); err != nil {
		return err
	}
	return schema.Validate(v)
}

// A call that is the same for more than maxRepeats of the last repeatWindow is
// a loop, and so are repeatWindow calls that are only two different ones in
// turn (T25 in docs/threats.txt).
const (
	maxRepeats   = 5
	repeatWindow = 10
)

// loops says why this call, after the last ones of the phase, is a loop; ""
// when it is none.
func (r *run) loops(ctx context.Context, t evidence.ToolCall, args []byte) (string, error) {
	if t.Call == "" && len(r.actorNow().Models()) > 0 {
		return "", nil // a node between models, such as a test, is bounded by the steps of its graph
	}
	all := slices.DeleteFunc(r.phaseToolCalls(), func(old evidence.ToolCall) bool { return old.ID == t.ID })
	all = all[max(0, len(all)-(repeatWindow-1)):]
	this := t.Tool + " " + evidence.Hash(args)
	n, seen := 1, map[string]bool{this: true}
	for _, old := range all {
		args := old.Executed
		if args == "" { // it did not run
			raw, err := r.blob(ctx, old.Proposed)
			if err != nil {
				return "", err
			}
			if canonical, err := decode.JSONValue("arguments", raw); err == nil {
				raw = canonical
			}
			args = evidence.Hash(raw)
		}
		key := old.Tool + " " + args
		if seen[key] = true; key == this {
			n++
		}
	}
	switch {
	case n > maxRepeats:
		return fmt.Sprintf("this is the same call for the %dth time in the last %d", n, repeatWindow), nil
	case len(all) == repeatWindow-1 && len(seen) <= 2:
		return fmt.Sprintf("the last %d calls are two calls in turn", repeatWindow), nil
	}
	return "", nil
}

// permit asks the guard and the profile. A person's earlier answer counts when
// it is bound to exactly these arguments.
func (r *run) permit(ctx context.Context, t evidence.ToolCall, spec tool.Spec, args []byte) (verdict, error) {
	if t.Tool == Ask {
		return r.permitQuestion(ctx, t, args)
	}
	writes := !spec.Capability.ReadOnly && t.Tool != RecordDecision
	g := r.p.Profile.Guard.Check(policy.GuardInput{
		Tool: t.Tool, Write: writes, Cost: r.cost(), Calls: len(r.phaseToolCalls()),
	})
	why := ""
	switch {
	case !g.Allowed:
		why = g.Reason
	case r.p.Profile.Safety.RequireHumanApproval:
		why = "profile " + r.p.Profile.Name + " asks before every step"
	case t.Tool == RecordDecision && !r.p.Profile.Auto(plan.DecideTask(r.p.Phase), policy.Confidence{}):
		why = "profile " + r.p.Profile.Name + " asks before a decision in " + string(r.p.Phase)
	default:
		return verdict{}, nil
	}
	kind := approvalKind(t)
	bound := digest(t.Tool, string(args))
	granted, err := r.grant(ctx, kind, string(t.ID), bound)
	if err != nil {
		return verdict{}, err
	}
	if granted != nil {
		return verdict{granted: granted}, nil
	}
	all, err := r.approvals(ctx)
	if err != nil {
		return verdict{}, err
	}
	for _, a := range all {
		if a.Kind == kind && a.Subject == string(t.ID) && a.State == plan.Rejected {
			return verdict{refuse: rejection(a.Guidance), status: tool.Refused}, nil
		}
	}
	if r.p.NoInput && kind == plan.ApproveToolCall {
		return verdict{refuse: "error: not allowed: " + why + ", and nobody can be asked", status: tool.Refused, useless: true}, nil
	}
	return verdict{ask: why}, nil
}

func rejection(guidance string) string {
	if guidance == "" {
		return "error: a person rejected this"
	}
	return rejectedWith + guidance
}

const rejectedWith = "error: a person rejected this and says: "

func approvalKind(t evidence.ToolCall) plan.ApprovalKind {
	if t.Tool == RecordDecision {
		return plan.ApproveDecision
	}
	return plan.ApproveToolCall
}

// refuse records a call that did not run. A person's guidance is kept as a
// decision of theirs.
func (r *run) refuse(ctx context.Context, t evidence.ToolCall, v verdict) error {
	out, err := r.put(ctx, []byte(v.refuse))
	if err != nil {
		return err
	}
	stored := t.Status != tool.Pending
	t.Status, t.Output, t.Finished = v.status, out, r.finished()
	next := r.p
	if v.useless && !r.uselessTurn(t.Turn) {
		next.Repairs++
	}
	var said *plan.Decision
	events := []plan.Event{r.toolEvent(t, v.refuse)}
	if g, ok := strings.CutPrefix(v.refuse, rejectedWith); ok {
		d, err := r.intervention(ctx, "May "+t.Tool+" go ahead?", g)
		if err != nil {
			return err
		}
		said = &d
		events = append(events, r.decisionEvent(said))
	}
	return r.commitToolCall(ctx, next, t, stored, func(tx Tx) error {
		if said == nil {
			return nil
		}
		return r.insertDecision(tx, said, nil)
	}, events...)
}

// uselessTurn reports whether a call of the turn was refused already: a turn
// counts once, however many bad calls it holds.
func (r *run) uselessTurn(turn int) bool {
	for _, t := range r.phaseToolCalls() {
		if t.Turn == turn && useless(t) {
			return true
		}
	}
	return false
}

// useless reports whether a call was one that no tool could take.
func useless(t evidence.ToolCall) bool {
	return t.Status == tool.Refused || t.Tool == RecordDecision && t.Status.Done() && t.Status != tool.OK
}

// askToolCall makes the plan wait for a person's word on one call.
func (r *run) askToolCall(ctx context.Context, t evidence.ToolCall, why string, stored bool) error {
	args, err := r.blob(ctx, t.Proposed)
	if err != nil {
		return err
	}
	canonical, err := decode.JSONValue("arguments", args)
	if err != nil {
		return err
	}
	t.Status = tool.Waiting
	a := plan.Approval{
		Kind: approvalKind(t), Subject: string(t.ID), Bound: digest(t.Tool, string(canonical)),
		Summary: fmt.Sprintf("%s: %s (%s)", t.Tool, clip(string(canonical), 300), why),
	}
	err = r.ask(ctx, a, func(tx Tx) error {
		if stored {
			return tx.UpdateToolCall(t)
		}
		return tx.InsertToolCall(t)
	})
	if err == nil {
		r.setToolCall(t)
	}
	return err
}

// commitToolCall stores the record of a call with what belongs to it. A record
// alone may be lost with the machine: the call is then made again.
func (r *run) commitToolCall(ctx context.Context, next plan.Plan, t evidence.ToolCall, stored bool, also func(Tx) error, events ...plan.Event) error {
	commit := r.commit
	if also == nil {
		commit = r.commitRelaxed
	}
	err := commit(ctx, next, func(tx Tx) error {
		if also != nil {
			if err := also(tx); err != nil {
				return err
			}
		}
		if stored {
			return tx.UpdateToolCall(t)
		}
		return tx.InsertToolCall(t)
	}, events...)
	if err == nil {
		r.setToolCall(t)
	}
	return err
}

// runTool runs an admitted call. A tool that may write is recorded as running
// first; when that record is found after a crash, the sandbox is put back to
// the last recorded state before the tool runs again.
func (r *run) runTool(ctx context.Context, t evidence.ToolCall, args []byte, w wanted, granted *plan.Approval) error {
	box, err := r.sandbox(ctx)
	if err != nil {
		return err
	}
	cap := r.capability(t.Tool)
	stored := w.row != nil
	if !cap.ReadOnly {
		if stored && w.row.Status == tool.Running {
			if err := r.restoreAfterCrash(ctx, box, t); err != nil {
				return err
			}
		} else if err := r.noteHumanEdits(ctx, box); err != nil {
			return err
		}
		t.Decision = r.openDecision()
		t.Status = tool.Running
		if t.Executed, err = r.put(ctx, args); err != nil {
			return err
		}
		err := r.commitToolCall(ctx, r.p, t, stored, func(tx Tx) error { return spend(tx, granted) },
			r.event(r.p.ID, "tool.started", fields{"tool": t.Tool, "summary": summary(args)}))
		if err != nil {
			return err
		}
		stored = true
		granted = nil
		crash.Point("engine.tool.started")
	} else {
		t.Executed = evidence.Hash(args)
		r.tell(r.event(r.p.ID, "tool.started", fields{"tool": t.Tool, "summary": summary(args)}))
		if _, err := r.put(ctx, args); err != nil {
			return err
		}
	}
	t.Noted = map[string]string{}
	res, err := r.Tools.Call(ctx, t.Tool, args, ToolContext{
		Place: r.place(box), ReadOnly: r.readOnly(), Seen: seen{r.seen, t.Noted},
		Page: func(hash string) ([]byte, error) { return r.blob(ctx, hash) },
	})
	if ctx.Err() != nil {
		return ctx.Err() // stays recorded as running
	}
	if err != nil {
		return fmt.Errorf("tool %s: %w", t.Tool, err)
	}
	crash.Point("engine.tool.ran")
	return r.finishTool(ctx, t, res, stored, !cap.ReadOnly, granted)
}

// finishTool records the outcome of a call and everything it changed.
func (r *run) finishTool(ctx context.Context, t evidence.ToolCall, res tool.Result, stored, wrote bool, granted *plan.Approval) error {
	var err error
	if t.Output, err = r.put(ctx, []byte(res.Output)); err != nil {
		return err
	}
	if res.Spill != nil {
		if t.Whole, err = r.put(ctx, res.Spill); err != nil {
			return err
		}
	}
	t.Status, t.Exit, t.Finished = res.Status, res.Exit, r.finished()
	t.Backend = res.Backend
	next := r.p
	next.Repairs = 0
	ob := observation{}
	if wrote {
		if ob, err = r.observe(ctx, &t, res.Reported); err != nil {
			return err
		}
		next.Changed = ob.changedBlob
	}
	events := append(ob.events, r.toolEvent(t, res.Output))
	var also func(Tx) error // a tool that only read is told alone: it can read again
	if wrote || granted != nil {
		also = func(tx Tx) error {
			if err := spend(tx, granted); err != nil {
				return err
			}
			return ob.store(tx)
		}
	}
	err = r.commitToolCall(ctx, next, t, stored, also, events...)
	if err != nil {
		return err
	}
	ob.keep(r)
	crash.Point("engine.tool.recorded")
	return nil
}

// toolEvent tells what was asked and, where that is not all, how it ended.
func (r *run) toolEvent(t evidence.ToolCall, output string) plan.Event {
	text := summary(r.cache[t.Proposed])
	if end := clip(lastLine(output), 160); t.Exit != nil || t.Status != tool.OK {
		text = strings.TrimPrefix(text+" → "+end, " → ")
	}
	return r.event(r.p.ID, "tool.finished", fields{
		"tool": t.Tool, "status": t.Status, "summary": text, "ms": r.elapsed(t.Started),
	})
}

// summary is the arguments in one short line for a person.
func summary(args []byte) string {
	var m map[string]any
	if json.Unmarshal(args, &m) != nil {
		return ""
	}
	for _, key := range []string{"script", "argv", "pattern", "from", "path", "question"} {
		if v, ok := m[key]; ok {
			return clip(fmt.Sprint(v), 120)
		}
	}
	return clip(string(args), 120)
}

// seen is what the plan's actor has read, by hash. What one call notes is kept
// with the call, so that it is known again after a restart.
type seen struct{ all, now map[string]string }

// Last returns the hash of the path when it was last read or written.
func (s seen) Last(path string) (string, bool) { h, ok := s.all[path]; return h, ok }

// Note remembers the hash of a path.
func (s seen) Note(path, hash string) { s.all[path], s.now[path] = hash, hash }
