package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
)

type doctorCmd struct {
	app  *app
	req  a2a.DoctorQuery
	file string // of the bundle
	made NewFile
}

func newDoctor(a *app) *cobra.Command {
	o := &doctorCmd{app: a}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check this machine and the store",
		Long: `Check what the program needs on this machine and whether its data is sound. Every
finding that is not ok comes with a way out. Exit 8 when there is a problem.

--fix makes right what can be made right without a loss: files that a crash left
half-written, locks of processes that are dead, directories that are missing, and
modes that let others read or write your data. --bundle writes a report for others:
versions, findings, and how many records there are. It holds no prompts and nothing of
your projects, and ~ stands for your home directory.`,
		Example:     "  agents doctor\n  agents doctor --fix\n  agents doctor --bundle report.tgz",
		Annotations: does(a2a.DoctorRun().Method),
		Args:        between(0, 0),
		RunE:        func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	cmd.Flags().BoolVar(&o.req.Fix, "fix", false, "make right what can be made right without a loss")
	cmd.Flags().StringVar(&o.file, "bundle", "", "write a report for others to this file")
	return cmd
}

func (o *doctorCmd) run(ctx context.Context) error {
	o.app.unopened = true
	if o.file != "" {
		o.req.Bundle = o.open
	}
	v, err := call(ctx, o.app, a2a.DoctorRun(), o.req)
	if o.made != nil {
		if err != nil {
			o.made.Discard()
		} else if err = o.made.Close(); err == nil {
			v.Bundle = o.file
		}
	}
	if err != nil {
		switch fault.KindOf(err) {
		case fault.Interrupted, fault.Timeout, fault.Cancelled, fault.Exists:
			return err
		}
		// That it could not look is a finding, too.
		e := fault.As(err)
		v.Findings = append(v.Findings, a2a.Finding{Name: "open", Level: "problem", Detail: e.Msg, Fix: e.Hint})
	}
	problems := 0
	for _, f := range v.Findings {
		if f.Level == "problem" {
			problems++
		}
	}
	o.app.put(output{schema: "agents.doctor.v1", data: v, human: func(p *printer) {
		findings(p, v.Findings)
		p.field("bundle", v.Bundle)
	}})
	if problems > 0 {
		return fault.New(fault.Unavailable, "%s found", plural(problems, "problem"))
	}
	return nil
}

// open makes the file of the bundle once there is something to write.
func (o *doctorCmd) open() (io.Writer, error) {
	if o.app.env.Create == nil {
		return nil, fault.New(fault.Unavailable, "no file can be written here")
	}
	f, err := o.app.env.Create(o.app.abs(o.file))
	if err != nil {
		return nil, err
	}
	o.made = f
	return f, nil
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
		if p.format == Plain { // one line a finding
			if f.Fix != "" {
				detail += " (fix: " + f.Fix + ")"
			}
			if f.Fixed != "" {
				detail += " (fixed: " + f.Fixed + ")"
			}
		}
		rows = append(rows, []any{level, f.Name, detail})
	}
	p.all = true // a way out must not be cut
	p.rows([]string{"level", "check", "detail"}, rows)
	for _, f := range all {
		if p.format != Plain {
			if f.Fix != "" {
				p.field("fix "+f.Name, f.Fix)
			}
			if f.Fixed != "" {
				p.field("fixed "+f.Name, f.Fixed)
			}
		}
	}
}
