package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

type planLogs struct {
	app   *app
	q     a2a.PlanLogsQuery
	since span
}

func newPlanLogs(a *app) *cobra.Command {
	o := &planLogs{app: a}
	cmd := &cobra.Command{
		Use:   "logs [<plan>]",
		Short: "Show what happened to a plan",
		Long: `Show the recorded events of a plan, oldest first. With -f it goes on until nobody
runs the plan any more, whichever process does; to end it changes nothing. With
--format jsonl every event is a line.`,
		Example:     "  agents plan logs\n  agents plan logs 7K3M -f --since 15m\n  agents plan logs @last --tool shell --format jsonl",
		Annotations: does(a2a.PlanLogs().Method),
		Args:        between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.q.Ref, o.q.Since = refOr(args), time.Duration(o.since)
			if o.q.Follow && (a.format == JSON || a.format == YAML) {
				return usage(cmd.CommandPath(), "-f goes on and %s is one document: use --format jsonl", a.format)
			}
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&o.q.Follow, "follow", "f", false, "go on with what happens until the plan stops")
	f.Var(&o.since, "since", "only what is not older than this, such as 15m or 7d")
	f.StringVar(&o.q.Tool, "tool", "", "only the calls of this tool, such as shell")
	return cmd
}

func (o *planLogs) run(ctx context.Context) error {
	a := o.app
	show := a.progress()
	show.silent = true // what happened is the result, not its progress
	var failed error
	emit := show.event
	if a.format.human() {
		emit = func(e plan.Event) {
			if !o.q.Follow || failed != nil {
				return
			}
			p := a.printer()
			logLine(p, e)
			_, failed = a.env.Stdout.Write(p.Bytes())
		}
	}
	v, err := look(ctx, a, a2a.PlanLogs(), o.q, emit)
	if werr := show.close(); failed == nil {
		failed = werr
	}
	switch {
	case failed != nil:
		return fault.New(fault.Internal, "write an event: %w", failed)
	case err != nil:
		return err
	}
	events := v.Events
	if a.format == JSONL {
		v.Events = nil // each has been a line
	}
	a.put(output{schema: "agents.plan-logs.v1", data: v, next: v.Next, human: func(p *printer) {
		for _, e := range events {
			logLine(p, e)
		}
	}})
	return nil
}

// logLine writes one event with its time.
func logLine(p *printer, e plan.Event) {
	t := tell(e)
	p.printf("%s %s %s", p.dim(e.At.UTC().Format(timeForm)), p.toned(t.tone, t.mark), escapeLine(t.text))
}
