package a2a

import (
	"github.com/cleveragents/agents/plan"
)

func approvalOps() []Info {
	return []Info{ApprovalList().info(), ApprovalShow().info(), ApprovalApprove().info(), ApprovalReject().info(), ApprovalAnswer().info()}
}

// ApprovalList lists what waits for a person.
func ApprovalList() Op[ApprovalListQuery, ApprovalsView] {
	return Op[ApprovalListQuery, ApprovalsView]{Method: prefix + "approval/list", Role: Reader, Doc: "list approvals"}
}

// ApprovalShow shows one approval.
func ApprovalShow() Op[RefQuery, ApprovalView] {
	return Op[RefQuery, ApprovalView]{Method: prefix + "approval/show", Role: Reader, Doc: "show an approval"}
}

// ApprovalApprove says yes.
func ApprovalApprove() Op[ApproveRequest, ApprovalsView] {
	return Op[ApproveRequest, ApprovalsView]{Method: prefix + "approval/approve", Role: Writer, Doc: "approve"}
}

// ApprovalReject says no, with guidance or without.
func ApprovalReject() Op[RejectRequest, ApprovalView] {
	return Op[RejectRequest, ApprovalView]{Method: prefix + "approval/reject", Role: Writer, Doc: "reject"}
}

// ApprovalAnswer answers a question of an actor's.
func ApprovalAnswer() Op[AnswerRequest, ApprovalView] {
	return Op[AnswerRequest, ApprovalView]{Method: prefix + "approval/answer", Role: Writer, Doc: "answer a question"}
}

// ApprovalListQuery narrows a list of approvals.
type ApprovalListQuery struct {
	Plan string `json:"plan,omitempty"` // a plan's ref; "" is every plan
	All  bool   `json:"all,omitempty"`  // the decided ones too
}

// ApprovalView is one approval; Diff is set where it is about changes.
type ApprovalView struct {
	Approval plan.Approval `json:"approval"`
	Diff     *DiffView     `json:"diff,omitempty"`
	Next     string        `json:"next"` // the command that goes on
}

// ApprovalsView is a list of approvals, oldest first.
type ApprovalsView struct {
	Approvals []plan.Approval `json:"approvals"`
	Next      string          `json:"next,omitempty"` // the command that answers the oldest, or after approve goes on
}

// ApproveRequest says yes to each of Refs.
type ApproveRequest struct {
	Refs []string `json:"refs"`
	Note string   `json:"note,omitempty"`
}

// RejectRequest says no. Guidance becomes a user_intervention decision.
type RejectRequest struct {
	Ref      string `json:"ref"`
	Guidance string `json:"guidance,omitempty"`
}

// AnswerRequest answers a question: with one of its choices by number, from 1,
// or in words.
type AnswerRequest struct {
	Ref    string `json:"ref"`
	Choose int    `json:"choose,omitempty"`
	Text   string `json:"text,omitempty"`
}
