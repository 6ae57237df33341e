package evidence

// UsageBy is what usage is grouped by; "" makes one group of all.
type UsageBy string

// The groupings. A day is one in UTC. By tool there are no tokens and no cost:
// a call of a model belongs to no tool.
const (
	UsageByPlan  UsageBy = "plan"
	UsageByActor UsageBy = "actor"
	UsageByModel UsageBy = "model" // provider/model
	UsageByDay   UsageBy = "day"
	UsageByTool  UsageBy = "tool"
)

// UsageRow is what one group used. Key is "" for tool calls of a graph, which
// no actor's or model's call asked for. Tokens that a provider did not tell
// count as none.
type UsageRow struct {
	Key       string  `json:"key"`
	Calls     int64   `json:"calls"`
	Failed    int64   `json:"failed"` // calls of models that came to nothing
	Input     int64   `json:"input"`
	Output    int64   `json:"output"`
	CacheRead int64   `json:"cache_read"`
	Cost      float64 `json:"cost"` // USD
	ToolCalls int64   `json:"tool_calls"`
}

// UsageWays is the groupings in words, separated by blanks.
const UsageWays = "plan actor model day tool"
