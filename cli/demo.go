package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

type demoCmd struct {
	app   *app
	keep  bool
	step  bool
	world *DemoWorld
	acts  int
}

func newDemo(a *app) *cobra.Command {
	o := &demoCmd{app: a}
	cmd := &cobra.Command{
		Use:         "demo",
		Annotations: map[string]string{noteSays: "yes"},
		Aliases:     []string{"quickstart"},
		Short:       "See a whole plan run, without a model or a key",
		Long: `Make a small project with a bug in a directory of its own and carry a plan through
it, from action to applied files. The model is scripted: what it says is fixed, and
everything else — tools, sandbox, validation, records — is what your plans use.
Nothing of yours is touched, and nothing is left behind without --keep.`,
		Example: "  agents demo\n  agents demo --step\n  agents demo --format jsonl",
		Args:    between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case a.env.Demo == nil:
				return fault.New(fault.NotImplemented, "this build has no demo")
			case o.step && !a.ask:
				return usage(cmd.CommandPath(), "--step needs a terminal and somebody to press Enter")
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&o.keep, "keep", false, "leave the demo project and its records on disk")
	cmd.Flags().BoolVar(&o.step, "step", false, "wait for Enter before every step")
	return cmd
}

// run opens the demo's own world and plays it. The client of the demo stands
// in for the one of the user's data, so that every act is a command that
// exists.
func (o *demoCmd) run(ctx context.Context) (err error) {
	a := o.app
	world, err := interruptible(ctx, a, func(ctx context.Context) (*DemoWorld, error) { return a.env.Demo(ctx, o.keep, a.settings) })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, world.Close()) }()
	o.world, a.opened = world, world.Client
	id, err := o.play(ctx)
	if err == nil {
		err = o.end(ctx, id)
	}
	if err != nil && !o.keep && a.out != nil {
		a.out.next = nil // commands about a world that is gone in a moment
	}
	return err
}

// play is the acts up to the applied plan.
func (o *demoCmd) play(ctx context.Context) (id string, err error) {
	a := o.app
	if err := o.act(ctx, "A small project, and its own test finds a bug", "sh test.sh"); err != nil {
		return "", err
	}
	if err := o.check(ctx, false); err != nil {
		return "", err
	}
	if err := o.act(ctx, "A plan decides (read-only), works in a sandbox, and is checked. The model is scripted: no key, no network",
		"agents plan use "+o.world.Action+" -p . --automation-profile auto"); err != nil {
		return "", err
	}
	use := a2a.PlanUseRequest{Action: o.world.Action, Project: o.world.Dir, Profile: "auto", Start: true}
	if err := follow(ctx, a, a2a.PlanUse(), use, toExecute); err != nil {
		return "", err
	}
	out, ok := a.out.data.(a2a.PlanOutcome)
	if !ok {
		return "", fault.New(fault.Internal, "the demo's plan answered %T", a.out.data)
	}
	id = string(out.Plan.ID)
	if err := o.act(ctx, "What it decided, and what it weighed", "agents plan tree"); err != nil {
		return id, err
	}
	if err := (&planTree{app: a}).run(ctx, id); err != nil {
		return id, err
	}
	o.show()
	if err := o.act(ctx, "What it would change; the real file is as it was", "agents plan diff"); err != nil {
		return id, err
	}
	if err := (&planDiff{app: a}).run(ctx, a2a.PlanDiffQuery{Ref: id}); err != nil {
		return id, err
	}
	o.show()
	diff, ok := a.out.data.(a2a.DiffView)
	if !ok {
		return id, fault.New(fault.Internal, "the demo's diff answered %T", a.out.data)
	}
	if err := o.act(ctx, "A person says yes", "agents plan apply"); err != nil {
		return id, err
	}
	return id, follow(ctx, a, a2a.PlanApply(), a2a.PlanApplyRequest{Ref: id, Expect: diff.Hash}, toApplied)
}

// end shows that the bug is gone and how to go on with a project of one's own.
func (o *demoCmd) end(ctx context.Context, id string) error {
	a := o.app
	if err := o.act(ctx, "The real project's own test again", "sh test.sh"); err != nil {
		return err
	}
	if err := o.check(ctx, true); err != nil {
		return err
	}
	show, err := call(ctx, a, a2a.PlanShow(), a2a.RefQuery{Ref: id})
	if err != nil {
		return err
	}
	next := []string{
		"agents init .",
		`agents run builtin/command -p . --arg command="gofmt -s -w ." --arg validate="go build ./..." --automation-profile auto`,
		"agents plan apply @last",
	}
	kept := ""
	if o.keep {
		kept = o.world.Kept
	}
	var warnings []string
	if o.world.Open != "" {
		warnings = []string{"the demo's own programs ran unconfined: " + o.world.Open}
	}
	a.put(output{schema: "agents.demo.v1", next: next, warnings: warnings, data: demoResult{
		Plan: id, State: show.Plan.State, Decisions: show.Decisions, ModelCalls: len(show.Calls), ToolCalls: len(show.ToolCalls),
		Validations: len(show.Results), Kept: kept,
	}, human: func(p *printer) {
		p.printf("%s", p.good("The bug is gone."))
		p.printf("%s, %s, %s, %s — all on record.",
			plural(show.Decisions, "decision"), plural(len(show.Calls), "model call"),
			plural(len(show.ToolCalls), "tool call"), plural(len(show.Results), "validation run"))
		p.field("kept in", kept)
		p.printf("")
		p.printf("%s", p.bold("The same on your own code, without a model:"))
		for _, c := range next {
			p.printf("  %s", c)
		}
	}})
	a.flags.quiet = true // the commands are part of the text
	return nil
}

// demoResult is what the demonstration says to programs.
type demoResult struct {
	Plan        string     `json:"plan"`
	State       plan.State `json:"state"`
	Decisions   int        `json:"decisions"`
	ModelCalls  int        `json:"model_calls"`
	ToolCalls   int        `json:"tool_calls"`
	Validations int        `json:"validations"`
	Kept        string     `json:"kept,omitempty"`
}

// act announces the next act with the command that does it, and waits where
// the person wants to go step by step.
func (o *demoCmd) act(ctx context.Context, title, command string) error {
	a := o.app
	o.acts++
	if a.format.human() {
		st := styles{on: a.format == Rich && a.color(a.env.StdoutTTY)}
		text := "\n" + string(st.bold(itoa(o.acts)+". "+title)) + "\n" + string(st.dim("$ "+command)) + "\n"
		if err := a.writeBytes(a.env.Stdout, []byte(text)); err != nil {
			return err
		}
	}
	if !o.step {
		return nil
	}
	a.say("%s", styles{on: a.color(a.env.StderrTTY)}.dim("Enter goes on"))
	_, err := a.line(ctx)
	return err
}

// show writes the result of the act that was just done, for people only: a
// program gets the one result at the end.
func (o *demoCmd) show() {
	a := o.app
	if !a.format.human() {
		return
	}
	p := a.printer()
	a.out.human(p)
	_ = a.writeBytes(a.env.Stdout, p.Bytes()) // a reader that is gone fails the next act
}

// check runs the project's own test and fails when it does not end as the
// demonstration says it does.
func (o *demoCmd) check(ctx context.Context, want bool) error {
	text, passed, err := o.world.Check(ctx)
	if err != nil {
		return err
	}
	if passed != want {
		return fault.New(fault.Internal, "the demo project's test passed: %t, want %t:\n%s", passed, want, text)
	}
	if !o.app.format.human() {
		return nil
	}
	p := o.app.printer()
	for line := range strings.Lines(text) {
		paint := p.good
		if words := strings.Fields(line); slices.Contains(words, "FAIL") || slices.Contains(words, "failed") {
			paint = p.bad
		}
		p.WriteString("  " + string(paint(strings.TrimSuffix(line, "\n"))) + "\n")
	}
	return o.app.writeBytes(o.app.env.Stdout, p.Bytes())
}
