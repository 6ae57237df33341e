package policy

import (
	"fmt"
	"slices"
)

// Guard gates single tool calls at run time. A nil list is "not set"; an empty
// one is a list of nothing, so an empty allowlist allows no tool. The JSON tags
// say omitzero because omitempty of some encoders drops an empty list, which
// would read back as "not set".
type Guard struct {
	MaxToolCallsPerStep      *int      `json:"max_tool_calls_per_step,omitempty" yaml:"max_tool_calls_per_step,omitempty"`
	MaxTotalCost             *float64  `json:"max_total_cost,omitempty" yaml:"max_total_cost,omitempty"` // USD
	ToolAllowlist            *[]string `json:"tool_allowlist,omitzero" yaml:"tool_allowlist,omitempty"`
	ToolDenylist             *[]string `json:"tool_denylist,omitzero" yaml:"tool_denylist,omitempty"`
	RequireApprovalForWrites bool      `json:"require_approval_for_writes,omitempty" yaml:"require_approval_for_writes,omitempty"`
	RequireApprovalForApply  bool      `json:"require_approval_for_apply,omitempty" yaml:"require_approval_for_apply,omitempty"`
}

// GuardInput is what a guard looks at.
type GuardInput struct {
	Tool  string
	Write bool    // the tool declares writes
	Apply bool    // the call is the Apply phase itself
	Cost  float64 // USD spent so far
	Calls int     // tool calls made so far in this step
	Scope string  // "plan" or "subplan", named in the reason
}

// GuardResult is a guard's verdict. When Allowed is false a person may still
// allow the call where NeedsApproval is set.
type GuardResult struct {
	Allowed       bool
	NeedsApproval bool
	Reason        string
}

// Check evaluates the guard in the order of the spec's Behavior chapter:
// denylist, allowlist, call limit, budget, write approval, apply approval.
// A deny is monotone: nothing later lifts it.
func (g Guard) Check(in GuardInput) GuardResult {
	scope := in.Scope
	if scope == "" {
		scope = "plan"
	}
	ask := func(format string, args ...any) GuardResult {
		return GuardResult{NeedsApproval: true, Reason: scope + ": " + fmt.Sprintf(format, args...)}
	}
	if g.ToolDenylist != nil && slices.Contains(*g.ToolDenylist, in.Tool) {
		return ask("tool %s is on the denylist", in.Tool)
	}
	if g.ToolAllowlist != nil && !slices.Contains(*g.ToolAllowlist, in.Tool) {
		return ask("tool %s is not on the allowlist", in.Tool)
	}
	if g.MaxToolCallsPerStep != nil && in.Calls >= *g.MaxToolCallsPerStep {
		return ask("%d tool calls in this step, the limit is %d", in.Calls, *g.MaxToolCallsPerStep)
	}
	// A cost that is negative or not a number is the worst case.
	if g.MaxTotalCost != nil && !(in.Cost >= 0 && in.Cost < *g.MaxTotalCost) {
		return ask("$%.4f spent, the limit is $%.4f", in.Cost, *g.MaxTotalCost)
	}
	if g.RequireApprovalForWrites && in.Write {
		return ask("tool %s writes, and writes need approval", in.Tool)
	}
	if g.RequireApprovalForApply && in.Apply {
		return ask("apply needs approval")
	}
	return GuardResult{Allowed: true}
}
