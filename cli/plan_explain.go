package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/plan"
)

type planExplain struct{ app *app }

func newPlanExplain(a *app) *cobra.Command {
	o := &planExplain{a}
	return &cobra.Command{
		Use:   "explain <decision>",
		Short: "Explain one decision",
		Long: `Explain one decision: the question, what was chosen and what was not, why, what the
actor knew, which decisions it stands on and which stand on it.`,
		Example:     "  agents plan tree\n  agents plan explain 7K3MQX2A",
		Annotations: using(does(a2a.PlanExplain().Method), "wide"),
		Args:        between(1, 1),
		RunE:        func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0]) },
	}
}

func (o *planExplain) run(ctx context.Context, ref string) error {
	v, err := call(ctx, o.app, a2a.PlanExplain(), a2a.RefQuery{Ref: ref})
	if err != nil {
		return err
	}
	o.app.put(output{schema: "agents.decision.v1", data: v, human: func(p *printer) { drawExplain(p, v) }})
	return nil
}

func drawExplain(p *printer, v a2a.ExplainView) {
	drawDecision(p, v.Decision)
	p.field("plan", v.Plan.Name+" "+p.short(string(v.Plan.ID)))
	if c := v.Call; c != nil {
		p.field("model call", fmt.Sprintf("%s, turn %d, %s/%s", p.short(string(c.ID)), c.Turn, c.Provider, c.Model))
	}
	related(p, "upstream", v.Upstream)
	related(p, "downstream impact", v.Downstream)
	if len(v.Hunks) > 0 {
		p.printf("%s", p.dim("changes:"))
	}
	shown := p.shown(len(v.Hunks))
	for _, h := range v.Hunks[:shown] {
		p.printf("  %s %s %s", h.Path, lineRanges(h.Ranges), p.dim(string(h.Origin)))
	}
	p.moreFiles(len(v.Hunks) - shown)
}

// drawDecision writes what was decided and on which ground.
func drawDecision(p *printer, d plan.Decision) {
	p.printf("decision %s %s", p.bold(d.ID), p.note(string(d.Type)))
	p.field("question", d.Question)
	p.field("chosen_option", d.Chosen)
	if len(d.Alternatives) == 0 {
		p.field("alternatives", "none recorded")
	}
	for i, o := range d.Alternatives {
		text := fmt.Sprintf("%d. %s", i+1, o.Option)
		if o.Why != "" {
			text += " (not chosen: " + o.Why + ")"
		}
		p.field("alternative", text)
	}
	p.field("confidence", confidence(d))
	p.block("rationale", d.Rationale)
	if len(d.Evidence) > 0 {
		p.field("cites", strings.Join(d.Evidence, ", "))
	}
	p.field("context", contextWord(d.Context))
	p.field("checkpoint", d.Checkpoint)
	if d.Implicit {
		p.field("implicit", p.warn("nobody recorded it: something changed outside a decision"))
	}
	if d.Superseded != "" {
		p.field("superseded", p.warn("by "+string(d.Superseded)))
	}
}

// confidence is the computed score; what the model claims is said to be that.
func confidence(d plan.Decision) string {
	text := "not computed (counts as 0)"
	if d.Confidence != nil {
		text = fmt.Sprintf("%.2f", *d.Confidence)
	}
	if d.Claimed != nil {
		text += fmt.Sprintf("; claimed by the model: %.2f", *d.Claimed)
	}
	return text
}

func contextWord(c plan.ContextSnapshot) string {
	var words []string
	if c.Manifest != "" {
		words = append(words, "manifest "+c.Manifest)
	}
	if c.ActorState != "" {
		words = append(words, "actor state "+c.ActorState)
	}
	if len(words) == 0 {
		return "none (no model was asked)"
	}
	return strings.Join(words, ", ")
}

func related(p *printer, title string, ds []plan.Decision) {
	if len(ds) == 0 {
		p.field(title, "none")
		return
	}
	p.printf("%s", p.dim(title+":"))
	for _, d := range ds {
		p.printf("  %s", decisionLine(p, d))
	}
}

// lineRanges are the new lines of a hunk, counted from 1.
func lineRanges(all []evidence.LineRange) string {
	var words []string
	for _, r := range all {
		switch {
		case r.To <= r.From:
		case r.To == r.From+1:
			words = append(words, fmt.Sprint(r.To))
		default:
			words = append(words, fmt.Sprintf("%d-%d", r.From+1, r.To))
		}
	}
	if len(words) == 0 {
		return ""
	}
	return "lines " + strings.Join(words, ",")
}
