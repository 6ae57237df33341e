package store

import (
	"time"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
)

func usageColumns(u *evidence.UsageRow) []column {
	return []column{
		text("k", &u.Key),
		number("calls", &u.Calls),
		number("failed", &u.Failed),
		number("input", &u.Input),
		number("output", &u.Output),
		number("cache_read", &u.CacheRead),
		float("cost", &u.Cost),
		number("tool_calls", &u.ToolCalls),
	}
}

// usageKeys are, for each grouping, the key of a model call c and of a tool
// call t; cc is the model call that asked for t.
func usageKeys(by evidence.UsageBy) (call, toolCall string, ok bool) {
	switch by {
	case "":
		return "''", "''", true
	case evidence.UsageByPlan:
		return "c.plan_id", "t.plan_id", true
	case evidence.UsageByActor:
		return "c.actor", "COALESCE(cc.actor, '')", true
	case evidence.UsageByModel:
		return "c.provider || '/' || c.model", "COALESCE(cc.provider || '/' || cc.model, '')", true
	case evidence.UsageByDay:
		return "substr(c.started, 1, 10)", "substr(t.started, 1, 10)", true
	case evidence.UsageByTool:
		return "", "t.tool", true
	}
	return "", "", false
}

// Usage adds up both tables in the database. The sum of a BIGINT is NUMERIC in
// PostgreSQL, so each is cast back.
func (t *tx) Usage(by evidence.UsageBy, since time.Time) ([]evidence.UsageRow, error) {
	call, toolCall, ok := usageKeys(by)
	if !ok {
		return nil, fault.New(fault.Invalid, "usage by %q is not known", string(by))
	}
	from := ""
	if !since.IsZero() {
		v, err := moment("since", &since).cell.get()
		if err != nil {
			return nil, invalid("usage", err)
		}
		from = v.(string)
	}
	own := func(row string) string {
		return " WHERE " + row + ".started >= $1 AND NOT EXISTS (SELECT 1 FROM plan_marks m WHERE m.plan_id = " + row +
			".plan_id AND m.key = '" + engine.MarkImported + "')"
	}
	known := func(column string) string { return "CASE WHEN c." + column + " > 0 THEN c." + column + " ELSE 0 END" }
	rows := "SELECT " + toolCall + ` AS key, 0 AS calls, 0 AS failed, 0 AS input, 0 AS output, 0 AS cache_read,
		CAST(0 AS DOUBLE PRECISION) AS cost, 1 AS tool_calls FROM tool_calls t LEFT JOIN calls cc ON cc.id = t.call_id` + own("t")
	if call != "" {
		rows += " UNION ALL SELECT " + call + ", 1, CASE WHEN c.error <> '' THEN 1 ELSE 0 END, " + known("input_tokens") + ", " +
			known("output_tokens") + ", " + known("cache_read_tokens") + ", c.cost, 0 FROM calls c" + own("c")
	}
	sums := ""
	for _, c := range []string{"calls", "failed", "input", "output", "cache_read", "tool_calls"} {
		sums += ", CAST(SUM(" + c + ") AS BIGINT) AS " + c
	}
	return list(t, "usage", usageColumns, "FROM (SELECT key AS k"+sums+", SUM(cost) AS cost FROM ("+rows+
		") r GROUP BY key) s ORDER BY cost DESC, calls DESC, tool_calls DESC, k", from)
}
