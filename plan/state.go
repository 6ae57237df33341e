package plan

import (
	"fmt"
	"slices"

	"github.com/cleveragents/agents/fault"
)

// Phase is one of the four phases of a plan's life.
type Phase string

// The phases, in order.
const (
	PhaseAction     Phase = "action"
	PhaseStrategize Phase = "strategize"
	PhaseExecute    Phase = "execute"
	PhaseApply      Phase = "apply"
)

// State is where a plan is within its phase.
type State string

// The states.
const (
	Queued      State = "queued"      // nothing done yet in this phase
	Running     State = "running"     // the step loop may carry it on
	Waiting     State = "waiting"     // an approval or an answer is open
	Paused      State = "paused"      // stopped on request or by a limit of the engine
	Blocked     State = "blocked"     // stopped by a guard or a budget
	Complete    State = "complete"    // the phase is done, the next has not begun
	Applied     State = "applied"     // the changes are in the real resource
	Constrained State = "constrained" // Apply could not go on: the world moved
	Errored     State = "errored"     // failed; can be retried
	Cancelled   State = "cancelled"   // given up
)

// Status is a phase with a state: a node of the transition table.
type Status struct {
	Phase Phase `json:"phase"`
	State State `json:"state"`
}

// String returns phase/state.
func (s Status) String() string { return string(s.Phase) + "/" + string(s.State) }

// Terminal reports whether no event leads out of s.
func (s Status) Terminal() bool { return s.State == Applied || s.State == Cancelled }

// Trigger is what moves a plan from one status to another.
type Trigger string

// The triggers.
const (
	Begin    Trigger = "begin"    // enter the next phase
	Finish   Trigger = "finish"   // the phase's work is done
	Ask      Trigger = "ask"      // a person has to decide
	Answer   Trigger = "answer"   // the person did
	Pause    Trigger = "pause"    // stop at a safe point
	Block    Trigger = "block"    // a guard or budget stops it
	Resume   Trigger = "resume"   // go on
	Retry    Trigger = "retry"    // do the step that failed once more
	Throttle Trigger = "throttle" // a provider asks to wait
	Fail     Trigger = "fail"     // cannot go on
	Arrive   Trigger = "arrive"   // Apply has written everything
	Collide  Trigger = "collide"  // Apply found that the base moved
	Retreat  Trigger = "retreat"  // the plan stands before Apply again, with what is left of it
	Reopen   Trigger = "reopen"   // the phase's work goes on after it seemed done
	Rollback Trigger = "rollback" // the sandbox is put back to a checkpoint
	Cancel   Trigger = "cancel"   // give up
)

// Transition is one row of the table.
type Transition struct {
	From Status
	On   Trigger
	To   Status
}

// Transitions is the whole life of a plan; every other move is an error. The
// diagram in docs/states.md is generated from it.
func Transitions() []Transition {
	st := func(p Phase, s State) Status { return Status{p, s} }
	var t []Transition
	add := func(from Status, on Trigger, to Status) { t = append(t, Transition{from, on, to}) }

	order := []Phase{PhaseAction, PhaseStrategize, PhaseExecute, PhaseApply}
	for i, p := range order[:len(order)-1] {
		done := st(p, Complete)
		if p == PhaseAction {
			done = st(p, Queued)
		}
		add(done, Begin, st(order[i+1], Running))
		add(done, Ask, st(p, Waiting))
		add(done, Pause, st(p, Paused))
		add(done, Cancel, st(p, Cancelled))
		// A gate that is answered leads back to "done"; a question inside the
		// phase leads back to running.
		add(st(p, Waiting), Answer, done)
		add(st(p, Waiting), Pause, st(p, Paused))
		add(st(p, Waiting), Cancel, st(p, Cancelled))
		add(st(p, Paused), Cancel, st(p, Cancelled))
		if p == PhaseAction {
			add(st(p, Paused), Resume, done)
		}
	}
	for _, p := range []Phase{PhaseStrategize, PhaseExecute, PhaseApply} {
		run := st(p, Running)
		if p == PhaseApply {
			add(run, Arrive, st(p, Applied))
			add(run, Collide, st(p, Constrained))
			add(st(p, Constrained), Resume, run)
			add(st(p, Constrained), Cancel, st(p, Cancelled))
			add(st(p, Paused), Cancel, st(p, Cancelled))
			for _, s := range []State{Running, Constrained, Paused, Errored} {
				add(st(p, s), Retreat, st(PhaseExecute, Complete))
			}
		} else {
			add(run, Finish, st(p, Complete))
			add(run, Ask, st(p, Waiting))
			add(run, Throttle, st(p, Waiting))
			add(st(p, Waiting), Resume, run)
			add(st(p, Complete), Reopen, run)
			add(run, Block, st(p, Blocked))
			add(st(p, Blocked), Resume, run)
			add(st(p, Blocked), Cancel, st(p, Cancelled))
		}
		if p == PhaseExecute {
			for _, s := range []State{Running, Waiting, Paused, Blocked, Complete, Errored} {
				add(st(p, s), Rollback, st(p, Paused))
			}
		}
		add(run, Pause, st(p, Paused))
		add(st(p, Paused), Resume, run)
		add(run, Fail, st(p, Errored))
		add(st(p, Errored), Resume, run)
		add(st(p, Errored), Retry, run)
		add(st(p, Errored), Cancel, st(p, Cancelled))
		add(run, Cancel, st(p, Cancelled))
	}
	return t
}

// Statuses returns what part says of every status of the table, each answer
// once, in the order of the table.
func Statuses(part func(Status) string) []string {
	var out []string
	for _, t := range Transitions() {
		for _, s := range []Status{t.From, t.To} {
			if w := part(s); !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	return out
}

// Next returns the status that the trigger leads to. An illegal move is an
// error of kind Conflict that lists what is possible.
func Next(from Status, on Trigger) (Status, error) {
	var can []string
	for _, t := range Transitions() {
		if t.From != from {
			continue
		}
		if t.On == on {
			return t.To, nil
		}
		can = append(can, string(t.On))
	}
	slices.Sort(can)
	if len(can) == 0 {
		return Status{}, fault.New(fault.Conflict, "the plan is %s, which is final", from).WithCode("IllegalTransition")
	}
	return Status{}, fault.New(fault.Conflict, "a plan in %s cannot %s; it can %s", from, on, fmt.Sprint(can)).
		WithCode("IllegalTransition")
}
