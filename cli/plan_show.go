package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/tool"
)

type planShow struct {
	app                             *app
	checkpoints, validations, costs bool
}

func newPlanShow(a *app) *cobra.Command {
	o := &planShow{app: a}
	cmd := &cobra.Command{
		Use: "show [<plan>]", Aliases: []string{"get"},
		Short: "Show one plan with all that belongs to it",
		Long: `Show one plan: where it is, what it uses, what it changed, what was checked and what
it cost. For people the long lists are shown only where a flag asks for them; JSON
always has all.`,
		Example:     "  agents plan show\n  agents plan show 7K3M --validations --costs",
		Annotations: using(does(a2a.PlanShow().Method), "wide"),
		Args:        between(0, 1),
		RunE:        func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), refOr(args)) },
	}
	cmd.Flags().BoolVar(&o.checkpoints, "checkpoints", false, "list the checkpoints")
	cmd.Flags().BoolVar(&o.validations, "validations", false, "list every run of a validation")
	cmd.Flags().BoolVar(&o.costs, "costs", false, "list the model calls")
	return cmd
}

func (o *planShow) run(ctx context.Context, ref string) error {
	v, err := call(ctx, o.app, a2a.PlanShow(), a2a.RefQuery{Ref: ref})
	if err != nil {
		return err
	}
	o.app.put(output{schema: "agents.plan.v1", data: v, next: v.Next, human: func(p *printer) { o.draw(p, v) }})
	return nil
}

func (o *planShow) draw(p *printer, v a2a.PlanView) {
	x := v.Plan
	p.printf("%s %s %s", p.bold(x.Name), stateWord(p.styles, x.Status), heldWord(v.Held))
	p.field("id", x.ID)
	p.field("reason", x.Reason)
	p.field("project", x.Project)
	p.field("action", x.Action.Name)
	p.field("strategy", x.Strategy.Name)
	p.field("execution", x.Execution.Name)
	if x.Estimation != nil {
		p.field("estimation", x.Estimation.Name)
	}
	if x.Invariant != nil {
		p.field("invariants", x.Invariant.Name)
	}
	p.field("profile", x.Profile.Name+" (set by "+x.ProfileBy+")")
	p.field("attempt", x.Attempt)
	p.field("made", p.when(x.Created))
	p.field("touched", p.when(x.Updated))
	for _, l := range x.Landed {
		text := plural(l.Files, "file") + " " + p.when(l.At)
		if l.Commit != "" {
			text += ", commit " + l.Commit[:min(12, len(l.Commit))] + " on " + l.Ref
		}
		p.field("applied", text)
	}
	if v.Imported {
		p.field("imported", "history of another place")
	}
	p.field("labels", labelWords(v.Labels))
	p.field("decisions", v.Decisions)
	p.field("validations", gating(p.styles, v))
	p.field("checkpoints", len(v.Checkpoints))
	p.field("model calls", fmt.Sprintf("%d, %d tokens in, %d out, %s", len(v.Calls), v.Usage.Input, v.Usage.Output, costOf(v)))
	for _, a := range v.Approvals {
		p.field("approval", p.short(string(a.ID))+" "+string(a.State)+": "+a.Summary)
	}
	found := 0
	for _, g := range v.Gaps {
		if g.Kind == evidence.GapUntracked { // one a path, and the paths follow below
			found++
			continue
		}
		p.field("gap", string(g.Kind)+" "+g.Path+" "+g.Detail)
	}
	if found > 0 {
		p.field("found", plural(found, "change")+" that a tool made without naming it, such as a shell command's")
	}
	fileStats(p, v.Changed)
	if o.validations {
		p.printf("")
		results(p, v.Results)
	}
	if o.checkpoints {
		p.printf("")
		var rows [][]any
		for _, c := range v.Checkpoints {
			rows = append(rows, []any{p.bold(p.short(string(c.ID))), p.short(string(c.Decision)), c.Files, p.when(c.Created)})
		}
		p.rows([]string{"checkpoint", "decision", "files", "made"}, rows)
	}
	if o.costs {
		p.printf("")
		var rows [][]any
		for _, c := range v.Calls {
			rows = append(rows, []any{p.short(string(c.ID)), string(c.Phase), c.Turn, c.Provider + "/" + c.Model, c.Usage.Input, c.Usage.Output, price(c)})
		}
		p.rows([]string{"call", "phase", "turn", "model", "in", "out", "cost"}, rows)
	}
}

func results(p *printer, all []evidence.ValidationResult) {
	var rows [][]any
	for _, r := range all {
		rows = append(rows, []any{r.Attempt, r.Round, r.Name, string(r.Mode), verdictWord(p.styles, r.Verdict), r.Message})
	}
	p.rows([]string{"attempt", "round", "validation", "mode", "verdict", "message"}, rows)
}

func verdictWord(st styles, v tool.Verdict) safe {
	switch v {
	case tool.Passed:
		return st.good(v)
	case tool.NotPassed:
		return st.bad(v)
	}
	return st.warn(v)
}

// gating says what the last runs of the validations allow. Without a required
// validation the work is ungated, which is never shown as good.
func gating(st styles, v a2a.PlanView) safe {
	required := 0
	latest := map[string]tool.Verdict{}
	for _, c := range v.Plan.Action.Validations {
		if c.Mode == tool.Required {
			required++
			latest[c.Name] = ""
		}
	}
	if required == 0 {
		return st.warn("ungated (no required validation)")
	}
	for _, r := range v.Results {
		// What passed for other changes says nothing about these.
		if _, ok := latest[r.Name]; ok && (v.ChangeSet == "" || r.ChangeSet == v.ChangeSet) {
			latest[r.Name] = r.Verdict
		}
	}
	passed, skipped := 0, 0
	for _, verdict := range latest {
		switch verdict {
		case tool.Passed:
			passed++
		case tool.Skipped:
			skipped++
		}
	}
	text := fmt.Sprintf("%d of %d required passed", passed, required)
	switch {
	case skipped == required:
		return st.warn("ungated (no required validation ran)")
	case passed == required:
		return st.good(text)
	case passed+skipped == required:
		return st.warn(fmt.Sprintf("%s, %d skipped", text, skipped))
	}
	return st.bad(text)
}

// costOf is what a plan's calls have cost, as far as that is known.
func costOf(v a2a.PlanView) string {
	s := fmt.Sprintf("$%.4f", v.Cost)
	if v.Unpriced > 0 {
		s += fmt.Sprintf(" and %d of unknown price", v.Unpriced)
	}
	return s
}

func price(c evidence.Call) string {
	if !c.Priced {
		return "not known"
	}
	return fmt.Sprintf("$%.4f", c.Cost)
}
