package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
)

func newConfigEdit(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "edit",
		Short: "Change the configuration in your editor",
		Long: `Open a copy of your file, or with -p of what is set for one project, in $VISUAL or
$EDITOR. When the editor ends, the copy is checked and takes the place of the
original; with a mistake in it nothing is changed.`,
		Example:     "  agents config edit",
		Annotations: using(does(a2a.ConfigEdit().Method), "project"),
		Args:        between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.flags.noInput || a.env.Edit == nil {
				return usage(cmd.CommandPath(), "an editor needs a person (--no-input, or no terminal); agents config set changes one key")
			}
			return editConfig(cmd.Context(), a, a.named(cmd))
		},
	}
}

// editConfig gives the text to the editor until it is right or the person gives
// up.
func editConfig(ctx context.Context, a *app, project string) error {
	old, err := call(ctx, a, a2a.ConfigEdit(), a2a.ConfigEditRequest{Project: project})
	if err != nil {
		return err
	}
	text := old.Text
	for {
		if text, err = a.env.Edit(ctx, "config.toml", text); err != nil {
			return err
		}
		a.forgetSignals()
		v, err := call(ctx, a, a2a.ConfigEdit(), a2a.ConfigEditRequest{Project: project, Text: &text, Expect: old.Hash})
		if err == nil {
			a.put(output{schema: "agents.config-text.v1", data: v, human: func(p *printer) {
				if v.Changed {
					p.printf("changed %s", v.Where)
				} else {
					p.printf("nothing is changed in %s", v.Where)
				}
			}})
			return nil
		}
		if !a.ask || !fault.Is(err, fault.Invalid) {
			return fault.New(fault.KindOf(err), "nothing was changed: %w", err)
		}
		a.say("%s", fault.As(err).Msg)
		if again, cerr := a.confirm(ctx, "Open the editor again?"); cerr != nil || !again {
			return fault.New(fault.Invalid, "nothing was changed: %w", err)
		}
	}
}

// forgetSignals drops what was sent while another program had the terminal:
// Ctrl-C in an editor is a key like others.
func (a *app) forgetSignals() {
	for {
		select {
		case <-a.env.Signals:
		default:
			return
		}
	}
}
