package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/plan"
)

type planTree struct {
	app        *app
	superseded bool
	depth      int
	types      []string
}

func newPlanTree(a *app) *cobra.Command {
	o := &planTree{app: a}
	cmd := &cobra.Command{
		Use:   "tree [<plan>]",
		Short: "Show a plan's decisions as a tree",
		Long: `Show the decisions of a plan as a tree: type, question and what was chosen, with the
end of the id that "agents plan explain" takes. A decision that was replaced is left
out, and what hangs below it moves up, unless --show-superseded is given.`,
		Example:     "  agents plan tree\n  agents --format=json plan tree @last --show-superseded",
		Annotations: using(does(a2a.PlanTree().Method), "wide"),
		Args:        between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.depth < 0 {
				return usage(cmd.CommandPath(), "--depth %d is negative", o.depth)
			}
			return o.run(cmd.Context(), refOr(args))
		},
	}
	cmd.Flags().BoolVar(&o.superseded, "show-superseded", false, "the replaced decisions too")
	cmd.Flags().IntVar(&o.depth, "depth", 0, "only so many levels; 0 is all")
	cmd.Flags().StringArrayVar(&o.types, "type", nil, "only decisions of this type; repeatable")
	return cmd
}

// newTree is plan tree under a shorter name.
func newTree(a *app) *cobra.Command {
	cmd := newPlanTree(a)
	cmd.Example = "  agents tree\n  agents tree @last --show-superseded"
	return cmd
}

func (o *planTree) run(ctx context.Context, ref string) error {
	v, err := call(ctx, o.app, a2a.PlanTree(), a2a.RefQuery{Ref: ref})
	if err != nil {
		return err
	}
	v.Roots = o.prune(v.Roots, 1)
	o.app.put(output{schema: "agents.decision-tree.v1", data: v, human: func(p *printer) {
		p.printf("%s %s %s", p.bold(v.Plan.Name), p.dim(p.short(string(v.Plan.ID))), stateWord(p.styles, v.Plan.Status))
		drawTree(p, v.Roots, "")
	}})
	return nil
}

// prune returns a copy with only the wanted decisions; the children of one that
// is left out take its place.
func (o *planTree) prune(nodes []*plan.Tree, level int) []*plan.Tree {
	if o.depth > 0 && level > o.depth {
		return nil
	}
	var out []*plan.Tree
	for _, n := range nodes {
		d := n.Decision
		hide := !o.superseded && d.Superseded != "" || len(o.types) > 0 && !slices.Contains(o.types, string(d.Type))
		if hide {
			out = append(out, o.prune(n.Children, level)...)
			continue
		}
		out = append(out, &plan.Tree{Decision: d, Children: o.prune(n.Children, level+1)})
	}
	return out
}

func drawTree(p *printer, nodes []*plan.Tree, indent string) {
	for i, n := range nodes {
		branch, below := "├─ ", "│  "
		if i == len(nodes)-1 {
			branch, below = "└─ ", "   "
		}
		under := indent + below + "   "
		if len(n.Children) > 0 {
			under = indent + below + "│  "
		}
		p.flow(string(p.dim(safe(indent+branch))), string(p.dim(safe(under))), string(decisionLine(p, n.Decision)))
		drawTree(p, n.Children, indent+below)
	}
}

// decisionLine is a decision in one line.
func decisionLine(p *printer, d plan.Decision) safe {
	parts := []safe{p.dim(p.short(string(d.ID))), p.note(string(d.Type)), toSafe(d.Question), "→", p.bold(d.Chosen)}
	if n := len(d.Alternatives); n > 0 {
		parts = append(parts, p.dim("("+plural(n, "alternative")+")"))
	}
	if d.Implicit {
		parts = append(parts, p.warn("[implicit]"))
	}
	if d.Superseded != "" {
		parts = append(parts, p.warn("[superseded by "+p.short(string(d.Superseded))+"]"))
	}
	words := make([]string, len(parts))
	for i, w := range parts {
		words[i] = string(w)
	}
	return safe(strings.Join(words, " "))
}
