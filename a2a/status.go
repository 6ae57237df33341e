package a2a

import (
	"github.com/cleveragents/agents/evidence"
)

func statusOps() []Info { return []Info{StatusShow().info()} }

// StatusShow tells what goes on and what waits for a person, in all projects.
func StatusShow() Op[Nothing, StatusView] {
	return Op[Nothing, StatusView]{Method: prefix + "status/show", Role: Reader, Doc: "what goes on and what waits"}
}

// StatusView is one screen. More is how many more plans wait than are listed.
type StatusView struct {
	Project string        `json:"project"` // the one that counts here; "" for none
	Running []RunningPlan `json:"running"`
	Waiting []WaitingPlan `json:"waiting"` // touched last first
	More    int           `json:"more,omitempty"`
	Today   Spent         `json:"today"`
}

// RunningPlan is a plan that a process carries on now.
type RunningPlan struct {
	PlanSummary
	Holder string `json:"holder"`
}

// WaitingPlan is a plan that has not ended and that nobody carries on. Next are
// the commands that go on, best first.
type WaitingPlan struct {
	PlanSummary
	Approvals int      `json:"approvals"` // open questions
	Next      []string `json:"next"`
}

// Spent is what was used since the day began where the program runs.
type Spent struct {
	Since string `json:"since"` // RFC 3339
	evidence.UsageRow
}
