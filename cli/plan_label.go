package cli

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type planLabel struct {
	app *app
	req a2a.PlanLabelRequest
}

func newPlanLabel(a *app) *cobra.Command {
	o := &planLabel{app: a}
	return &cobra.Command{
		Use:   "label <plan> [<key>=<value>|<key>-]...",
		Short: "Set, take away or show labels of a plan",
		Long: `Set labels of a plan with key=value and take them away with key-; alone it shows
those that there are. "agents plan list --label" finds plans by their labels.`,
		Example:     "  agents plan label @last team=red ticket=17\n  agents plan label 7K3M ticket-",
		Annotations: does(a2a.PlanLabel().Method),
		Args:        between(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.fill(cmd.CommandPath(), args); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
}

// fill reads the words that set and take away.
func (o *planLabel) fill(command string, args []string) error {
	o.req.Ref, o.req.Set = args[0], map[string]string{}
	seen := map[string]bool{}
	for _, w := range args[1:] {
		key, value, set := strings.Cut(w, "=")
		gone := false
		if !set {
			key, gone = strings.CutSuffix(w, "-")
		}
		switch {
		case key == "" || !set && !gone:
			return usage(command, "%q is neither key=value nor key-", w)
		case set && value == "":
			return usage(command, "%q has no value; %s- takes the label away", w, key)
		case seen[key]:
			return usage(command, "label %s is given twice", key)
		}
		seen[key] = true
		if gone {
			o.req.Remove = append(o.req.Remove, key)
		} else {
			o.req.Set[key] = value
		}
	}
	return nil
}

func (o *planLabel) run(ctx context.Context) error {
	v, err := call(ctx, o.app, a2a.PlanLabel(), o.req)
	if err != nil {
		return err
	}
	o.app.put(summaryOutput(v))
	return nil
}

// labelWords is labels in one line, by key.
func labelWords(labels map[string]string) string {
	var words []string
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		words = append(words, k+"="+labels[k])
	}
	return strings.Join(words, " ")
}
