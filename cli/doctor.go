package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
)

type doctorCmd struct{ app *app }

func newDoctor(a *app) *cobra.Command {
	o := &doctorCmd{a}
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check this machine and the store",
		Long: `Check what the program needs on this machine and whether its store is sound.
Every finding that is not ok comes with a way out. Exit 8 when there is a problem.`,
		Example:     "  agents doctor\n  agents doctor --format json",
		Annotations: does(a2a.DoctorRun().Method),
		Args:        between(0, 0),
		RunE:        func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
}

func (o *doctorCmd) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.DoctorRun(), a2a.Nothing{})
	if err != nil {
		// That the store does not open is a finding too.
		e := fault.As(err)
		v.Findings = append(v.Findings, a2a.Finding{Name: "open", Level: "problem", Detail: e.Msg, Fix: e.Hint})
	}
	problems := 0
	for _, f := range v.Findings {
		if f.Level == "problem" {
			problems++
		}
	}
	o.app.put(output{schema: "agents.doctor.v1", data: v, human: func(p *printer) { findings(p, v.Findings) }})
	if err == nil && problems > 0 {
		err = fault.New(fault.Unavailable, "%s found", plural(problems, "problem"))
	}
	return err
}

func findings(p *printer, all []a2a.Finding) {
	var rows [][]any
	for _, f := range all {
		level := p.bad(f.Level)
		switch f.Level {
		case "ok":
			level = p.good(f.Level)
		case "warning":
			level = p.warn(f.Level)
		}
		detail := f.Detail
		if f.Fix != "" && p.format == Plain { // one line a finding
			detail += " (fix: " + f.Fix + ")"
		}
		rows = append(rows, []any{level, f.Name, detail})
	}
	p.all = true // a way out must not be cut
	p.rows([]string{"level", "check", "detail"}, rows)
	for _, f := range all {
		if f.Fix != "" && p.format != Plain {
			p.field("fix "+f.Name, f.Fix)
		}
	}
}
