package plan

import (
	"time"

	"github.com/cleveragents/agents/ident"
)

// DecisionType is the kind of a choice point.
type DecisionType string

// The types (the specification, Overview, "Decision").
const (
	PromptDefinition     DecisionType = "prompt_definition"
	InvariantEnforced    DecisionType = "invariant_enforced"
	StrategyChoice       DecisionType = "strategy_choice"
	ResourceSelection    DecisionType = "resource_selection"
	SubplanSpawn         DecisionType = "subplan_spawn"
	SubplanParallelSpawn DecisionType = "subplan_parallel_spawn"
	ImplementationChoice DecisionType = "implementation_choice"
	ToolInvocation       DecisionType = "tool_invocation"
	ErrorRecovery        DecisionType = "error_recovery"
	ValidationResponse   DecisionType = "validation_response"
	UserIntervention     DecisionType = "user_intervention"
)

// ModelTypes returns the types a model may record by itself in a phase; the
// others are recorded by the engine only.
func ModelTypes(p Phase) []DecisionType {
	if p == PhaseStrategize {
		return []DecisionType{StrategyChoice, ResourceSelection}
	}
	return []DecisionType{ImplementationChoice, ToolInvocation, ErrorRecovery, ValidationResponse}
}

// Option is an alternative that was weighed.
type Option struct {
	Option string `json:"option"`
	Why    string `json:"why,omitempty"` // why it was not chosen
}

// Decision is a persisted choice point. Superseded ones are never deleted.
type Decision struct {
	ID           ident.DecisionID `json:"id"`
	Plan         ident.PlanID     `json:"plan"`
	Parent       ident.DecisionID `json:"parent,omitempty"` // structural tree; "" for the root
	Seq          int              `json:"seq"`              // order within the plan, from 1
	Attempt      int              `json:"attempt"`
	Phase        Phase            `json:"phase"`
	Type         DecisionType     `json:"type"`
	Question     string           `json:"question"`
	Chosen       string           `json:"chosen_option"`
	Alternatives []Option         `json:"alternatives"`
	Rationale    string           `json:"rationale"`
	// Confidence is the computed score, nil while nothing computes one (it
	// then counts as 0). Claimed is the model's own word and gates nothing.
	Confidence *float64 `json:"confidence_score"`
	Claimed    *float64 `json:"claimed_confidence,omitempty"`
	// Evidence is the pieces of context that the model itself cites.
	Evidence []string `json:"evidence,omitempty"`
	// Implicit marks a decision that nobody recorded: something changed
	// outside an open one.
	Implicit   bool               `json:"implicit,omitempty"`
	Call       ident.CallID       `json:"call,omitempty"`      // the model call that made it
	ToolCall   ident.ToolCallID   `json:"tool_call,omitempty"` // the record_decision call
	Context    ContextSnapshot    `json:"context_snapshot"`
	Checkpoint ident.CheckpointID `json:"checkpoint,omitempty"`
	Superseded ident.DecisionID   `json:"superseded_by,omitempty"`
	Created    time.Time          `json:"created"`
}

// ContextSnapshot refers to what the actor knew, never as a copy: the manifest
// of the request by its hash, and the blob of the ActorState.
type ContextSnapshot struct {
	Manifest   string `json:"manifest,omitempty"`
	ActorState string `json:"actor_state,omitempty"`
}

// ActorState is where an actor stood when a decision was made. With the
// recorded calls up to Turn it is all that the actor knew: from both, its
// conversation is composed again and its graph goes on.
type ActorState struct {
	Phase    Phase          `json:"phase"`
	Attempt  int            `json:"attempt"`
	Turn     int            `json:"turn"`
	Node     string         `json:"node,omitempty"`
	NodeTurn int            `json:"node_turn,omitempty"`
	Steps    int            `json:"steps,omitempty"`
	Visits   map[string]int `json:"visits,omitempty"`
	Vars     map[string]any `json:"vars,omitempty"`
}

// Influence says that Down was made in the light of Up. It is apart from the
// tree: a child gets one from its parent unless it was recorded independent.
type Influence struct {
	Up   ident.DecisionID `json:"up"`
	Down ident.DecisionID `json:"down"`
}

// Tree is a plan's decisions as a forest in recorded order.
type Tree struct {
	Decision Decision `json:"decision"`
	Children []*Tree  `json:"children,omitempty"`
}

// BuildTree links decisions by parent, in one pass over their recorded order.
// One whose parent does not come before it becomes a root, so that no damage of
// the parent links can make a decision disappear.
func BuildTree(ds []Decision) []*Tree {
	nodes := make(map[ident.DecisionID]*Tree, len(ds))
	var roots []*Tree
	for _, d := range ds {
		n := &Tree{Decision: d}
		if p, ok := nodes[d.Parent]; ok {
			p.Children = append(p.Children, n)
		} else {
			roots = append(roots, n)
		}
		nodes[d.ID] = n
	}
	return roots
}

// Downstream returns the ids that depend on from over influence edges, from
// itself left out, in breadth-first order.
func Downstream(from ident.DecisionID, edges []Influence) []ident.DecisionID {
	next := map[ident.DecisionID][]ident.DecisionID{}
	for _, e := range edges {
		next[e.Up] = append(next[e.Up], e.Down)
	}
	seen := map[ident.DecisionID]bool{from: true}
	queue := []ident.DecisionID{from}
	for i := 0; i < len(queue); i++ {
		for _, d := range next[queue[i]] {
			if !seen[d] {
				seen[d] = true
				queue = append(queue, d)
			}
		}
	}
	return queue[1:]
}
