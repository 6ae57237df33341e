package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type statusCmd struct{ app *app }

func newStatus(a *app) *cobra.Command {
	o := &statusCmd{a}
	return &cobra.Command{
		Use:   "status",
		Short: "Show what goes on and what waits for you",
		Long: `Show on one screen the project that counts here, the plans that are being run, those
that wait for a person with the command that goes on, and what was spent today. Of one
plan: "agents plan status".`,
		Example:     "  agents status\n  agents status --format json",
		Annotations: using(does(a2a.StatusShow().Method), "wide"),
		Args:        between(0, 0),
		RunE:        func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
}

// maxShown is how many plans of a kind fit on the screen.
const maxShown = 8

func (o *statusCmd) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.StatusShow(), a2a.Nothing{})
	if err != nil {
		return err
	}
	o.app.put(output{schema: "agents.status.v1", data: v, human: func(p *printer) { o.draw(p, v) }})
	return nil
}

func (o *statusCmd) draw(p *printer, v a2a.StatusView) {
	project := any(v.Project)
	if v.Project == "" {
		project = "none (agents init makes one)"
	}
	p.field("project", project)
	t := v.Today
	p.field("spent today", fmt.Sprintf("%s, %s, %s", dollars(t.Cost), plural(int(t.Calls), "model call"), plural(int(t.ToolCalls), "tool call")))
	p.field("running", len(v.Running))
	for _, r := range v.Running[:min(len(v.Running), maxShown)] {
		p.printf("  %s %s %s %s", p.bold(p.short(string(r.ID))), r.Name, stateWord(p.styles, r.Status), p.dim("by "+r.Holder))
	}
	p.more(len(v.Running)-maxShown, "agents plan list --state running")
	p.field("waiting", len(v.Waiting)+v.More)
	for _, w := range v.Waiting[:min(len(v.Waiting), maxShown)] {
		p.printf("  %s %s %s %s", p.bold(p.short(string(w.ID))), w.Name, stateWord(p.styles, w.Status), w.Reason)
		if len(w.Next) > 0 {
			p.exact("    %s %s", p.note("next:"), o.app.pasted(w.Next[0]))
		}
	}
	p.more(len(v.Waiting)+v.More-maxShown, "agents plan list")
}

// more tells where the rest is.
func (p *printer) more(n int, command string) {
	if n > 0 {
		p.printf("  %s", p.dim(fmt.Sprintf("and %d more: %s", n, command)))
	}
}
