// Package plan is the unit of work: its phases and their transition table, its
// decisions with the tree and the influence graph, its changes, checkpoints,
// approvals and events. Package plan is pure; the engine moves a plan, a store
// keeps it.
package plan

import (
	"time"

	"github.com/cleveragents/agents/action"
	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/policy"
)

// Plan is one run of an action over a project. What it depends on (action,
// actors, profile) is copied in at plan use and never looked up again, so a
// later change of those cannot reach a running plan.
type Plan struct {
	ID      ident.PlanID `json:"id"`
	Name    string       `json:"name"`    // namespaced; unique among top-level plans
	Project string       `json:"project"` // the project's name
	Status
	Reason  string `json:"reason,omitempty"`  // why it is not running, for a person
	Fault   string `json:"fault,omitempty"`   // fault.Kind's name where it stopped for one
	Hint    string `json:"hint,omitempty"`    // how to go on where it is errored, beyond its next commands
	Attempt int    `json:"attempt"`           // 1, plus one a correction
	Run     int    `json:"run"`               // durable runs begun; names the run
	RunOpen bool   `json:"run_open"`          // the last run did not end: its process died or was stopped
	Ordered Phase  `json:"ordered,omitempty"` // the phase that a person told the plan to enter
	// OrderedFor is the hash of the change set that the order to apply is
	// bound to: what is changed later was not ordered.
	OrderedFor string `json:"ordered_for,omitempty"`
	// OrderedExec is the hash of the executable configuration that the person who
	// gave the order agreed to.
	OrderedExec string      `json:"ordered_exec,omitempty"`
	Order       *ApplyOrder `json:"apply_order,omitempty"` // how to apply, until that is done
	Landed      []Landed    `json:"landed,omitempty"`      // what was applied
	NoInput     bool        `json:"no_input,omitempty"`    // nobody can be asked

	// How far the actor of the running phase got.
	Turn     int    `json:"turn"`                // model calls or graph nodes begun in this phase and attempt
	TurnFrom int    `json:"turn_from"`           // the turn limit counts from here
	Node     string `json:"node,omitempty"`      // the graph node that is next, or is at work
	NodeOpen bool   `json:"node_open,omitempty"` // the node has begun, a tool's under the number of Turn
	NodeDone bool   `json:"node_done,omitempty"` // what came of the open node is saved
	NodeBad  bool   `json:"node_bad,omitempty"`  // and it did not end well
	NodeTurn int    `json:"node_turn,omitempty"` // Turn when the node was entered
	Steps    int    `json:"steps,omitempty"`     // nodes entered in this phase and attempt
	StepFrom int    `json:"step_from,omitempty"` // the limit of steps counts from here
	// Visits counts how often each node was entered, and Vars is the blob of
	// what the nodes saved (actor.State). Both are replaced, never changed.
	Visits   map[string]int `json:"visits,omitempty"`
	Vars     string         `json:"vars,omitempty"`
	ActorEnd bool           `json:"actor_end"` // the actor says that it is done
	Repairs  int            `json:"repairs"`   // turns in a row that were no use
	Fixes    int            `json:"fixes"`     // rounds of fixing validations
	FixGiven bool           `json:"fix_given"` // a person allowed one more round
	Checking bool           `json:"checking"`  // a validation runs in the sandbox
	// WaitUntil is set while the plan waits for a provider that is busy, and
	// ThrottledSince from the first such wait until the provider answers.
	WaitUntil      *time.Time `json:"wait_until,omitempty"`
	ThrottledSince *time.Time `json:"throttled_since,omitempty"`
	// Rebuilding says that the sandbox is being made again from the record.
	Rebuilding bool    `json:"rebuilding,omitempty"`
	Inputs     []Input `json:"inputs,omitempty"`

	Action action.Action     `json:"action"`
	Args   map[string]string `json:"args"`
	Prompt string            `json:"prompt,omitempty"`
	// Conversation is the blob of what was said before the task, as
	// []actor.Message; "" for a task that begins a conversation.
	Conversation string       `json:"conversation,omitempty"`
	Strategy     actor.Config `json:"strategy_actor"`
	Execution    actor.Config `json:"execution_actor"`
	// Estimation and Invariant are the actors of those roles, nil where the
	// action names none.
	Estimation *actor.Config  `json:"estimation_actor,omitempty"`
	Invariant  *actor.Config  `json:"invariant_actor,omitempty"`
	Profile    policy.Profile `json:"profile"`
	ProfileBy  string         `json:"profile_by"` // the tier that set it

	Bases   []Base    `json:"bases,omitempty"`   // one a linked resource, set when Execute or Strategize first looks
	Changed string    `json:"changed,omitempty"` // blob of the ChangeSet as of the last recorded mutation; "" is none
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
	Version int64     `json:"version"` // optimistic lock: one more a stored change
}

// Actors returns the actors that the plan names: strategy and execution, and
// those of other roles where it has them.
func (p Plan) Actors() []actor.Config {
	out := []actor.Config{p.Strategy, p.Execution}
	for _, a := range []*actor.Config{p.Estimation, p.Invariant} {
		if a != nil {
			out = append(out, *a)
		}
	}
	return out
}

// Input is something said to the actor by the engine or a person in between,
// after the turn of that number in that phase and attempt.
type Input struct {
	Phase   Phase  `json:"phase"`
	Attempt int    `json:"attempt"`
	Node    string `json:"node,omitempty"` // of a graph, whose model is meant
	After   int    `json:"after"`
	Slot    string `json:"slot"` // validation, guidance, repair, prompt
	Origin  string `json:"origin"`
	Text    string `json:"text"`
}

// Base is the snapshot of one resource that a plan's sandbox was forked from.
type Base struct {
	Resource ident.ResourceID `json:"resource"`
	Location string           `json:"location"` // where the resource is on disk
	Snapshot string           `json:"snapshot"` // blob hash of the snapshot's manifest
	Backend  string           `json:"backend"`  // how it is isolated, such as copy
	ReadOnly bool             `json:"read_only,omitempty"`
}

// GateTask returns the task whose threshold gates the phase after p.
func GateTask(p Phase) policy.Task {
	switch p {
	case PhaseStrategize:
		return policy.EnterExecute
	case PhaseExecute:
		return policy.EnterApply
	}
	return policy.EnterStrategize
}

// DecideTask returns the task whose threshold gates a decision made in phase p.
func DecideTask(p Phase) policy.Task {
	if p == PhaseStrategize {
		return policy.DecideStrategy
	}
	return policy.DecideExecution
}
