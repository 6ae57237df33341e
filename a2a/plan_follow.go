package a2a

import (
	"time"

	"github.com/cleveragents/agents/plan"
)

func planFollowOps() []Info {
	return []Info{PlanLogs().info(), PlanWatch().info(), PlanWait().info()}
}

// PlanLogs returns what happened to a plan. With Follow it goes on, whichever
// process runs the plan, until nobody does.
func PlanLogs() Op[PlanLogsQuery, LogsView] {
	return Op[PlanLogsQuery, LogsView]{Method: prefix + "plan/logs", Role: Reader, Streams: true, Doc: "what happened to a plan"}
}

// PlanWatch tells what happens to a plan, whichever process runs it, until
// nobody does.
func PlanWatch() Op[PlanWatchQuery, PlanOutcome] {
	return Op[PlanWatchQuery, PlanOutcome]{Method: prefix + "plan/watch", Role: Reader, Streams: true, Doc: "what happens to a plan"}
}

// PlanWait answers when every plan is where it is waited for, or has stopped
// elsewhere. It changes no plan.
func PlanWait() Op[PlanWaitQuery, WaitView] {
	return Op[PlanWaitQuery, WaitView]{Method: prefix + "plan/wait", Role: Reader, Doc: "wait for plans"}
}

// PlanLogsQuery asks for the stored events of a plan. Every event is told as it
// is found; they come in the answer, too, unless Follow is set.
type PlanLogsQuery struct {
	Ref    string        `json:"ref"`
	Follow bool          `json:"follow,omitempty"`
	Since  time.Duration `json:"since_ns,omitempty"` // only what is not older; 0 is everything
	Tool   string        `json:"tool,omitempty"`     // only the calls of this tool, builtin/ may be left out
}

// LogsView is what happened to a plan, oldest first.
type LogsView struct {
	Plan   PlanSummary  `json:"plan"`
	Events []plan.Event `json:"events,omitempty"`
	Next   []string     `json:"next,omitempty"`
}

// PlanWatchQuery asks for what happens to a plan, from its last change of
// status on. Events is a pattern of event types, such as tool.*; "" is all.
type PlanWatchQuery struct {
	Ref    string `json:"ref"`
	Events string `json:"events,omitempty"`
}

// PlanWaitQuery says what is waited for; at most one of the conditions is set,
// and none waits until nobody carries the plans on.
type PlanWaitQuery struct {
	Refs     []string   `json:"refs"`
	State    plan.State `json:"state,omitempty"`    // to be in this state, or to have been since
	Phase    plan.Phase `json:"phase,omitempty"`    // to be in this phase or past it
	Approval bool       `json:"approval,omitempty"` // to have an open question to a person
}

// WaitView is where each plan is, in the order of the query.
type WaitView struct {
	Plans []WaitedPlan `json:"plans"`
}

// WaitedPlan is a plan that was waited for. Reached says that the condition
// holds; where it does not, nobody carries the plan on.
type WaitedPlan struct {
	Reached bool        `json:"reached"`
	Outcome PlanOutcome `json:"outcome"`
}
