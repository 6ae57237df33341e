package a2a

func planSteerOps() []Info {
	return []Info{PlanPrompt().info(), PlanRetry().info()}
}

// PlanPrompt leaves a message for a plan's actor.
func PlanPrompt() Op[PlanPromptRequest, PromptView] {
	return Op[PlanPromptRequest, PromptView]{Method: prefix + "plan/prompt", Role: Writer, Doc: "say something to a plan's actor"}
}

// PlanRetry does the step again that a plan failed at.
func PlanRetry() Op[RefQuery, PlanOutcome] {
	return Op[RefQuery, PlanOutcome]{Method: prefix + "plan/retry", Role: Writer, Streams: true, Doc: "do the step that failed again"}
}

// PlanPromptRequest is a message of at most 64 KiB. With Now the answer that a
// model is making is cut short; without, it is waited for.
type PlanPromptRequest struct {
	Ref  string `json:"ref"`
	Text string `json:"text"`
	Now  bool   `json:"now,omitempty"`
}

// PromptView is the plan that a message was left for, with how many wait for
// its actor now and the commands that go on.
type PromptView struct {
	Plan     PlanSummary `json:"plan"`
	Messages int         `json:"messages"`
	Next     []string    `json:"next"`
}
