package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

type planDiff struct {
	app            *app
	stat, nameOnly bool
}

func newPlanDiff(a *app) *cobra.Command {
	o := &planDiff{app: a}
	cmd := &cobra.Command{
		Use:   "diff [<plan> [<path>...]]",
		Short: "Show what a plan changes",
		Long: `Show what a plan would change in the real resource, or has changed: all of it, or
only some paths. What a terminal would act on is spelled out; the exact bytes are
in --format json, field unified.`,
		Example:     "  agents plan diff\n  agents plan diff @last --stat\n  agents plan diff 7K3M README.md",
		Annotations: using(does(a2a.PlanDiff().Method, a2a.PlanShow().Method), "wide"),
		Args:        between(0, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.stat && o.nameOnly {
				return usage(cmd.CommandPath(), "give either --stat or --name-only")
			}
			q := a2a.PlanDiffQuery{Ref: refOr(args)}
			if len(args) > 1 {
				q.Paths = args[1:]
			}
			return o.run(cmd.Context(), q)
		},
	}
	cmd.Flags().BoolVar(&o.stat, "stat", false, "only how much each file changes")
	cmd.Flags().BoolVar(&o.nameOnly, "name-only", false, "only the paths")
	return cmd
}

// newDiff is plan diff under a shorter name.
func newDiff(a *app) *cobra.Command {
	cmd := newPlanDiff(a)
	cmd.Example = "  agents diff\n  agents diff @last --stat"
	return cmd
}

func (o *planDiff) run(ctx context.Context, q a2a.PlanDiffQuery) error {
	v, err := call(ctx, o.app, a2a.PlanDiff(), q)
	if err != nil {
		return err
	}
	var gate *a2a.PlanView // whether anything checked it is part of what a person has to see
	if o.app.format.human() && !o.nameOnly && (o.stat || o.app.format == Rich) {
		show, err := call(ctx, o.app, a2a.PlanShow(), a2a.RefQuery{Ref: string(v.Plan.ID)})
		if err != nil {
			return err
		}
		gate = &show
	}
	o.app.put(output{schema: "agents.diff.v1", data: v, human: func(p *printer) { o.draw(p, v, gate) }})
	return nil
}

func (o *planDiff) draw(p *printer, v a2a.DiffView, gate *a2a.PlanView) {
	switch {
	case o.nameOnly:
		for _, f := range v.Files {
			p.printf("%s", f.Path)
		}
		return
	case o.stat:
		var stats []a2a.FileStat
		for _, f := range v.Files {
			stats = append(stats, f.FileStat)
		}
		fileStats(p, stats)
	default:
		drawDiff(p, v)
	}
	if gate != nil {
		p.field("validations", gating(p.styles, *gate))
	}
	if v.Ignored {
		p.field("left out", "changed paths that the resource's own rules ignore")
	}
}

// fileStats lists changed files, one a line, and their sum.
func fileStats(p *printer, all []a2a.FileStat) {
	added, removed, shown := 0, 0, p.shown(len(all))
	for i, f := range all {
		added, removed = added+f.Added, removed+f.Removed
		if i >= shown {
			continue
		}
		size := safe("binary")
		if !f.Binary {
			size = p.good("+"+itoa(f.Added)) + " " + p.bad("-"+itoa(f.Removed))
		}
		p.printf("%s %s %s", p.note(padded(f.Status, 8)), f.Path, size)
	}
	p.moreFiles(len(all) - shown)
	if len(all) > 1 {
		p.printf("%s, %s %s", plural(len(all), "file"), p.good("+"+itoa(added)), p.bad("-"+itoa(removed)))
	}
}

// linkMode is the mode of a symbolic link, as git writes it.
const linkMode = "120000"

// drawDiff writes the changes as a unified diff.
func drawDiff(p *printer, v a2a.DiffView) {
	apart := byThemselves(v.Files)
	for _, f := range v.Files {
		if f.Runs == "" {
			drawFile(p, f)
		}
	}
	if len(apart) == 0 {
		return
	}
	p.printf("%s", p.warn("runs by itself, and is approved apart:"))
	for _, f := range apart {
		p.printf("  %s %s", f.Path, p.warn("("+f.Runs+")"))
	}
	for _, f := range apart {
		drawFile(p, f)
	}
}

// byThemselves are the files that something runs without being asked.
func byThemselves(all []a2a.FileDiff) (out []a2a.FileDiff) {
	for _, f := range all {
		if f.Runs != "" {
			out = append(out, f)
		}
	}
	return out
}

func drawFile(p *printer, f a2a.FileDiff) {
	if f.OldMode != f.NewMode && f.OldMode != "" && f.NewMode != "" {
		p.printf("%s", p.note("mode of "+f.Path+": "+f.OldMode+" → "+f.NewMode))
	}
	switch {
	case f.Binary:
		p.printf("%s", p.note("binary file "+f.Path+" "+f.Status))
	case f.OldMode == linkMode || f.NewMode == linkMode:
		p.printf("%s", p.note("symbolic link "+f.Path+" "+f.Status+"; its text is where it leads"))
	case f.Unified == "" && f.Status != "mode":
		p.printf("%s", p.note("empty file "+f.Path+" "+f.Status))
	}
	for line := range strings.Lines(f.Unified) {
		p.WriteString(string(diffLine(p.styles, strings.TrimSuffix(line, "\n"))) + "\n")
	}
}

func diffLine(st styles, line string) safe {
	text := escapeText(line)
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "diff "):
		return st.bold(text)
	case strings.HasPrefix(line, "@@"):
		return st.note(text)
	case strings.HasPrefix(line, "+"):
		return st.good(text)
	case strings.HasPrefix(line, "-"):
		return st.bad(text)
	}
	return text
}
