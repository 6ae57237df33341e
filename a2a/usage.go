package a2a

import (
	"time"

	"github.com/cleveragents/agents/evidence"
)

func usageOps() []Info { return []Info{UsageShow().info()} }

// UsageShow sums tokens, cost and calls.
func UsageShow() Op[UsageQuery, UsageView] {
	return Op[UsageQuery, UsageView]{Method: prefix + "usage/show", Role: Reader, Doc: "sum tokens, cost and calls"}
}

// UsageQuery asks for what was used, in groups or ("") in one sum.
type UsageQuery struct {
	By    evidence.UsageBy `json:"by,omitempty"`
	Since time.Duration    `json:"since_ns,omitempty"` // not longer ago than this; 0 is ever
}

// UsageView is what was used here, the group that cost most first. What
// imported plans used elsewhere does not count.
type UsageView struct {
	By    evidence.UsageBy  `json:"by,omitempty"`
	Since string            `json:"since,omitempty"` // RFC 3339
	Rows  []UsageRow        `json:"rows"`
	Total evidence.UsageRow `json:"total"`
}

// UsageRow is one group. Name is set where the key is an id.
type UsageRow struct {
	evidence.UsageRow
	Name string `json:"name,omitempty"`
}
