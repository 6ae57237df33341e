package cli

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

type sandboxExec struct {
	app *app
	q   a2a.SandboxExecRequest
}

func newSandboxExec(a *app) *cobra.Command {
	o := &sandboxExec{app: a}
	cmd := &cobra.Command{
		Use:   "exec [flags] -- <program> [<argument>...]",
		Short: "Run a program as the programs of plans are run",
		Long: `Run a program confined as those of plans are: over a copy of the project that is
gone afterwards, without a network and without your home. It shows what the program
prints and ends with its exit status; what it changed in the copy is listed.

With --ro there is no copy: the program sees the project itself and cannot change
it. With --plan it sees the sandbox of a plan and cannot change that either.`,
		Example: `  agents sandbox exec -- go test ./...
  agents sandbox exec --ro -- sh -c 'grep -rn panic . | head'
  agents sandbox exec --net=example.org -- curl -sS https://example.org/
  agents sandbox exec --plan @last -- ls -la`,
		Annotations: does(a2a.SandboxExec().Method),
		Args:        cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return usage(cmd.CommandPath(), "name the program to run, after --")
			case o.q.Plan != "" && a.flags.project != "":
				return usage(cmd.CommandPath(), "give either --plan or --project")
			}
			o.q.Argv, o.q.Project = args, a.flags.project
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.q.Plan, "plan", "", "look into the sandbox of this plan")
	cmd.Flags().BoolVar(&o.q.ReadOnly, "ro", false, "see the project itself, and change nothing")
	cmd.Flags().StringVar(&o.q.Network, "net", "", "the network: any, or hosts with commas between them")
	cmd.Flags().Lookup("net").NoOptDefVal = "any"
	cmd.Flags().SetInterspersed(false)
	return cmd
}

func (o *sandboxExec) run(ctx context.Context) error {
	var mu sync.Mutex
	var lost error
	v, err := look(ctx, o.app, a2a.SandboxExec(), o.q, func(e plan.Event) {
		mu.Lock()
		defer mu.Unlock()
		if err := o.print(e); err != nil && lost == nil {
			lost = err
		}
	})
	mu.Lock()
	defer mu.Unlock()
	if err != nil {
		return errors.Join(err, lost)
	}
	out := output{schema: "agents.sandbox-exec.v1", data: v, human: func(*printer) {}}
	if len(v.Refused) > 0 {
		out.warnings = append(out.warnings, "the sandbox does not let programs reach "+strings.Join(v.Refused, ", "))
	}
	if v.Stopped != "" {
		out.warnings = append(out.warnings, "stopped: "+v.Stopped)
	}
	if o.app.format.human() && len(v.Changed) > 0 && !o.app.flags.quiet {
		o.app.say("changed in the copy, which is gone:")
		for _, c := range v.Changed {
			o.app.say("  %s %s", c.Status, c.Path)
		}
	}
	if v.Backend == "none" {
		out.warnings = append(out.warnings, "nothing confined the program")
	}
	o.app.put(out)
	o.app.exit = v.Exit
	return lost
}

// print shows output as it comes: as it is, unless a terminal shows it. Formats
// for programs get it as lines of jsonl, or not at all.
func (o *sandboxExec) print(e plan.Event) error {
	if e.Type != "sandbox.output" {
		return nil
	}
	a := o.app
	if a.format == JSONL {
		b, err := encodeJSON(e, false)
		if err != nil {
			return err
		}
		return a.writeBytes(a.env.Stdout, b)
	}
	var data a2a.SandboxOutput
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return fault.New(fault.Internal, "read an event: %w", err)
	}
	to, b := a.env.Stdout, data.Bytes
	if !a.format.human() {
		to = a.env.Stderr // standard output is for the result
	}
	if a.env.StdoutTTY {
		b = []byte(escapeText(string(b)))
	}
	return a.writeBytes(to, b)
}
