package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/evidence"
)

type usageCmd struct {
	app   *app
	by    string
	since span
}

func newUsage(a *app) *cobra.Command {
	o := &usageCmd{app: a}
	cmd := &cobra.Command{
		Use:   "usage",
		Short: "Sum tokens, cost and calls",
		Long: `Sum what plans used: calls of models, tokens, cost and calls of tools. A day is one in
UTC. By tool there are no tokens: a call of a model belongs to no tool. What imported
plans used elsewhere does not count.`,
		Example:     "  agents usage\n  agents usage --by model --since 7d",
		Annotations: does(a2a.UsageShow().Method),
		Args:        between(0, 0),
		RunE:        func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	cmd.Flags().StringVar(&o.by, "by", "", "a line for each plan, actor, model, day or tool")
	cmd.Flags().Var(&o.since, "since", "only what is not older than this, such as 24h or 7d")
	return cmd
}

func (o *usageCmd) run(ctx context.Context) error {
	q := a2a.UsageQuery{By: evidence.UsageBy(o.by), Since: time.Duration(o.since)}
	v, err := call(ctx, o.app, a2a.UsageShow(), q)
	if err != nil {
		return err
	}
	o.app.put(output{schema: "agents.usage.v1", data: v, human: func(p *printer) {
		var rows [][]any
		for _, r := range v.Rows {
			key := r.Key
			switch {
			case r.Name != "":
				key = r.Name
			case key == "":
				key = "(no model)"
			}
			rows = append(rows, usageRow(p.bold(key), r.UsageRow))
		}
		rows = append(rows, usageRow(p.dim("total"), v.Total))
		first := string(v.By)
		if first == "" {
			first = "all"
		}
		p.rows([]string{first, "cost", "calls", "failed", "in", "out", "cached", "tool calls"}, rows)
	}})
	return nil
}

func usageRow(key any, u evidence.UsageRow) []any {
	return []any{key, dollars(u.Cost), u.Calls, u.Failed, u.Input, u.Output, u.CacheRead, u.ToolCalls}
}

func dollars(cost float64) string { return fmt.Sprintf("$%.4f", cost) }
