package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type sessionList struct {
	app *app
	list[a2a.SessionSummary]
}

func sessionColumns() []column[a2a.SessionSummary] {
	type row = a2a.SessionSummary
	return []column[row]{
		{name: "id", value: func(x row) any { return id(x.ID) }},
		{name: "name", value: func(x row) any { return x.Name }},
		{name: "project", value: func(x row) any { return x.Project }},
		{name: "actor", value: func(x row) any { return x.Actor }},
		{name: "messages", value: func(x row) any { return x.Messages }},
		{
			name: "open", value: func(x row) any { return x.Open != nil },
			draw: func(p *printer, x row) any {
				if x.Open == nil {
					return ""
				}
				return stateWord(p.styles, x.Open.Status)
			},
		},
		{name: "created", value: func(x row) any { return x.Created }, when: onWide},
		{name: "updated", value: func(x row) any { return x.Updated }, when: onWide},
	}
}

func newSessionList(a *app) *cobra.Command {
	o := &sessionList{app: a, list: list[a2a.SessionSummary]{columns: sessionColumns()}}
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"},
		Short:       "List conversations",
		Long:        "List conversations, the last touched first: of all projects, or of the one that -p\nnames. One with a question that is not answered says how its plan is.",
		Example:     "  agents session list\n  agents session list -p . --sort -messages",
		Annotations: using(does(a2a.SessionList().Method), "project", "wide"),
		Args:        between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	o.bind(cmd, "")
	return cmd
}

func (o *sessionList) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.SessionList(), a2a.SessionListQuery{Project: o.app.project(), Limit: o.ask()})
	if err != nil {
		return err
	}
	out := output{schema: "agents.session-list.v1"}
	v.Sessions, out.warnings = o.take(v.Sessions)
	out.data, out.human = v, func(p *printer) { o.table(p, v.Sessions) }
	o.app.put(out)
	return nil
}
