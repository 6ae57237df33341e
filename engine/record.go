package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cleveragents/agents/decode"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/tool"
)

// decisionArgs is what record_decision takes; package builtin holds the schema.
type decisionArgs struct {
	Type         plan.DecisionType `json:"type"`
	Question     string            `json:"question"`
	Chosen       string            `json:"chosen"`
	Alternatives []plan.Option     `json:"alternatives"`
	Rationale    string            `json:"rationale"`
	Confidence   *float64          `json:"confidence"`
	Evidence     []string          `json:"evidence"`
	Parent       string            `json:"parent"`
	DependsOn    []string          `json:"depends_on"`
	Independent  bool              `json:"independent"`
}

// recordDecision executes the record_decision tool: the decision, its edges
// and, in Execute, a checkpoint of the sandbox, in one transaction with the
// call's record.
func (r *run) recordDecision(ctx context.Context, t evidence.ToolCall, args []byte, stored bool, granted *plan.Approval) error {
	d, ups, err := r.decisionFrom(t, args)
	res := tool.Result{Status: tool.OK}
	if err != nil {
		res = tool.Fail(err)
	} else if d.Context, err = r.context(ctx, t.Call); err != nil {
		return err
	} else {
		res.Output = fmt.Sprintf("recorded decision %s", short(string(d.ID)))
	}
	if t.Executed, err = r.put(ctx, args); err != nil {
		return err
	}
	if t.Output, err = r.put(ctx, []byte(res.Output)); err != nil {
		return err
	}
	t.Status, t.Finished = res.Status, r.finished()
	next := r.p
	if res.Status != tool.OK {
		if !r.uselessTurn(t.Turn) {
			next.Repairs++
		}
		return r.commitToolCall(ctx, next, t, stored, func(tx Tx) error { return spend(tx, granted) }, r.toolEvent(t, res.Output))
	}
	next.Repairs = 0
	t.Decision = d.ID
	events := []plan.Event{}
	var cp *plan.Checkpoint
	if r.p.Phase == plan.PhaseExecute {
		c, err := r.checkpoint(ctx, d.ID, r.changed)
		if err != nil {
			return err
		}
		cp, d.Checkpoint = &c, c.ID
		next.Changed = c.Changes
		events = append(events, r.event(r.p.ID, "checkpoint.created", fields{"id": c.ID}))
	}
	return r.commitToolCall(ctx, next, t, stored, func(tx Tx) error {
		if err := spend(tx, granted); err != nil {
			return err
		}
		if err := r.insertDecision(tx, &d, ups); err != nil {
			return err
		}
		if cp == nil {
			return nil
		}
		return tx.InsertCheckpoint(*cp)
	}, append(events, r.decisionEvent(&d))...)
}

// decisionFrom checks what the caller wants recorded. Errors are for the
// caller, who may try again.
func (r *run) decisionFrom(t evidence.ToolCall, args []byte) (plan.Decision, []ident.DecisionID, error) {
	var a decisionArgs
	if err := decode.JSON("arguments", args, &a); err != nil {
		return plan.Decision{}, nil, err
	}
	types := plan.ModelTypes(r.p.Phase)
	if !slices.Contains(types, a.Type) {
		return plan.Decision{}, nil, fault.New(fault.Invalid, "type %q cannot be recorded in %s; use one of %v", a.Type, r.p.Phase, types)
	}
	if strings.TrimSpace(a.Question) == "" || strings.TrimSpace(a.Chosen) == "" || strings.TrimSpace(a.Rationale) == "" {
		return plan.Decision{}, nil, fault.New(fault.Invalid, "question, chosen and rationale must say something")
	}
	d := plan.Decision{
		ID: ident.DecisionID(r.IDs.New()), Plan: r.p.ID, Parent: r.root(), Attempt: r.p.Attempt, Phase: r.p.Phase,
		Type: a.Type, Question: a.Question, Chosen: a.Chosen, Alternatives: a.Alternatives, Rationale: a.Rationale,
		Claimed: a.Confidence, Evidence: a.Evidence, Call: t.Call, ToolCall: t.ID,
		Created: r.Now(),
	}
	if a.Parent != "" {
		id, err := r.findDecision(a.Parent)
		if err != nil {
			return plan.Decision{}, nil, err
		}
		d.Parent = id
	}
	ups := []ident.DecisionID{} // not nil, which would mean the parent
	if !a.Independent && d.Parent != "" {
		ups = append(ups, d.Parent)
	}
	for _, ref := range a.DependsOn {
		id, err := r.findDecision(ref)
		if err != nil {
			return plan.Decision{}, nil, err
		}
		if !slices.Contains(ups, id) {
			ups = append(ups, id)
		}
	}
	return d, ups, nil
}

// findDecision finds an active decision of this plan by the end of its id.
func (r *run) findDecision(ref string) (ident.DecisionID, error) {
	suffix, _, err := ident.ParseRef(ref)
	if err != nil {
		return "", err
	}
	var found ident.DecisionID
	for _, d := range r.decisions {
		if d.Superseded != "" || !strings.HasSuffix(string(d.ID), suffix) {
			continue
		}
		if found != "" {
			return "", fault.New(fault.Invalid, "%q stands for more than one decision", ref)
		}
		found = d.ID
	}
	if found == "" {
		return "", fault.New(fault.Invalid, "this plan has no decision %q", ref)
	}
	return found, nil
}

// root is the plan's prompt_definition.
func (r *run) root() ident.DecisionID {
	for _, d := range r.decisions {
		if d.Type == plan.PromptDefinition && d.Superseded == "" {
			return d.ID
		}
	}
	return ""
}

// openDecision is the decision that work done now stands under: the last
// active one of this Execute phase that the actor made. There is none before
// the first.
func (r *run) openDecision() ident.DecisionID {
	if r.p.Phase != plan.PhaseExecute {
		return ""
	}
	for _, d := range slices.Backward(r.decisions) {
		if d.Phase == plan.PhaseExecute && d.Attempt == r.p.Attempt && d.Superseded == "" && d.Type != plan.UserIntervention {
			return d.ID
		}
	}
	return ""
}

// context refers to what the actor knew: the manifest of the call, and the
// actor's state, as a blob that is stored with the decision.
func (r *run) context(ctx context.Context, id ident.CallID) (plan.ContextSnapshot, error) {
	vars, err := r.state(ctx)
	if err != nil {
		return plan.ContextSnapshot{}, err
	}
	b, err := json.Marshal(plan.ActorState{
		Phase: r.p.Phase, Attempt: r.p.Attempt, Turn: r.p.Turn, Node: r.p.Node, NodeTurn: r.p.NodeTurn,
		Steps: r.p.Steps, Visits: r.p.Visits, Vars: vars.Vars,
	})
	if err != nil {
		return plan.ContextSnapshot{}, fault.New(fault.Internal, "encode actor state: %w", err)
	}
	var s plan.ContextSnapshot
	if s.ActorState, err = r.put(ctx, b); err != nil {
		return plan.ContextSnapshot{}, err
	}
	for _, c := range r.calls {
		if c.ID == id {
			s.Manifest = c.Manifest
		}
	}
	return s, nil
}

// ActorState reads where the actor stood when the decision was made.
func (e *Engine) ActorState(ctx context.Context, d plan.Decision) (s plan.ActorState, err error) {
	if d.Context.ActorState == "" {
		return s, fault.New(fault.NotFound, "decision %s has no recorded state of its actor", d.ID)
	}
	b, err := e.Blobs.Get(ctx, d.Context.ActorState)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return s, fault.New(fault.Corrupt, "actor state of decision %s: %w", d.ID, err)
	}
	return s, nil
}

// insertDecision stores d and keeps the mirror in step. It may run more than
// once for one decision when a transaction is tried again.
func (r *run) insertDecision(tx Tx, d *plan.Decision, ups []ident.DecisionID) error {
	if ups == nil && d.Parent != "" {
		ups = []ident.DecisionID{d.Parent}
	}
	if d.Alternatives == nil {
		d.Alternatives = []plan.Option{}
	}
	if err := tx.InsertDecision(d, ups); err != nil {
		return err
	}
	r.decisions = slices.DeleteFunc(r.decisions, func(old plan.Decision) bool { return old.ID == d.ID })
	r.decisions = append(r.decisions, *d)
	return nil
}

func (r *run) decisionEvent(d *plan.Decision) plan.Event {
	return r.event(r.p.ID, "decision.recorded", fields{
		"id": d.ID, "type": d.Type, "question": d.Question, "chosen": d.Chosen,
		"alternatives": len(d.Alternatives), "implicit": d.Implicit,
	})
}

// checkpoint makes the record of the sandbox as it is: its changes from the
// base, whose bytes are stored already.
func (r *run) checkpoint(ctx context.Context, d ident.DecisionID, set plan.ChangeSet) (plan.Checkpoint, error) {
	blob, err := r.putChanges(ctx, set)
	if err != nil {
		return plan.Checkpoint{}, err
	}
	return plan.Checkpoint{
		ID: ident.CheckpointID(r.IDs.New()), Plan: r.p.ID, Decision: d, Changes: blob, Files: len(set), Created: r.Now(),
	}, nil
}

func (r *run) putChanges(ctx context.Context, set plan.ChangeSet) (string, error) {
	if set == nil {
		set = plan.ChangeSet{}
	}
	b, err := json.Marshal(set)
	if err != nil {
		return "", fault.New(fault.Internal, "encode change set: %w", err)
	}
	if hash := evidence.Hash(b); r.cache[hash] != nil {
		return hash, nil
	}
	return r.put(ctx, b)
}
