package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/config"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/policy"
)

const (
	// completionTime is how long a person who pressed Tab waits at most.
	completionTime = 100 * time.Millisecond
	// mostCandidates is how many plans are offered at most.
	mostCandidates = 50
)

// candidate is a word that may come next, and what it stands for.
type candidate struct{ word, means string }

// source finds the candidates of one kind of word. It makes nothing that is not
// there.
type source func(ctx context.Context, c a2a.Client) ([]candidate, error)

// completes gives every command and flag its candidates. What an argument is
// stands in the usage of the command: <plan>, <action>, and so on.
func (a *app) completes(root *cobra.Command) {
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for _, s := range c.Commands() {
			walk(s)
		}
		if !c.HasSubCommands() && c.ValidArgsFunction == nil && len(c.ValidArgs) == 0 {
			c.ValidArgsFunction = func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
				return a.candidates(cmd, placeholder(cmd.Use, len(args)), word)
			}
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if kind := flagKind(f.Name); kind != "" {
				// It fails only for a flag that has candidates already.
				_ = c.RegisterFlagCompletionFunc(f.Name, func(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
					return a.candidates(cmd, kind, word)
				})
			}
		})
	}
	walk(root)
}

// placeholder returns what the argument at a place is in a usage such as
// "link-resource <project> <resource>...": its name, "" for nothing known. The
// last one goes on where it ends with dots. A new name is nothing known.
func placeholder(use string, at int) string {
	words := strings.Fields(use)
	if words[0] == "create" || words[0] == "add" {
		return ""
	}
	words = words[1:]
	if n := len(words); n > 0 && at >= n && strings.Contains(words[n-1], "...") {
		at = n - 1
	}
	if at >= len(words) {
		return ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.Trim(words[at], "[]{}."), "<"), ">")
}

func flagKind(name string) string {
	switch name {
	case "project", "plan", "format", "color", "log-level":
		return name
	case "automation-profile":
		return "profile"
	case "strategy-actor", "execution-actor":
		return "actor"
	}
	return ""
}

// fixed are the words of a kind that needs no store; ok is false for others.
func fixed(kind string) (words []candidate, ok bool) {
	switch kind {
	case "format":
		for _, f := range formats() {
			words = append(words, candidate{word: string(f)})
		}
	case "color":
		words = []candidate{{word: "auto"}, {word: "always"}, {word: "never"}}
	case "log-level":
		k, _ := config.Find(config.LogLevel)
		for _, v := range k.Values {
			words = append(words, candidate{word: v})
		}
	case "profile":
		for _, p := range policy.Builtin() {
			words = append(words, candidate{p.Name, p.Description})
		}
	case "key":
		for _, k := range config.Keys() {
			words = append(words, candidate{word: k.Name})
		}
	default:
		return nil, false
	}
	return words, true
}

// stored finds the words of a kind in the store; nil for what is no kind.
func stored(kind string) source {
	switch kind {
	case "plan":
		return func(ctx context.Context, c a2a.Client) (out []candidate, err error) {
			v, err := a2a.Call(ctx, c, a2a.PlanList(), a2a.PlanListQuery{Limit: mostCandidates}, nil)
			for _, x := range v.Plans {
				out = append(out, candidate{shortID(x.ID), x.Name + " " + x.Status.String()})
			}
			return out, err
		}
	case "session":
		return func(ctx context.Context, c a2a.Client) (out []candidate, err error) {
			v, err := a2a.Call(ctx, c, a2a.SessionList(), a2a.SessionListQuery{Limit: mostCandidates}, nil)
			for _, x := range v.Sessions {
				out = append(out, candidate{x.Name, plural(x.Messages, "message") + " about " + x.Project})
			}
			return out, err
		}
	case "action":
		return func(ctx context.Context, c a2a.Client) (out []candidate, err error) {
			v, err := a2a.Call(ctx, c, a2a.ActionList(), a2a.ActionListQuery{}, nil)
			for _, x := range v.Actions {
				out = append(out, candidate{x.Action.Name, x.Action.Description})
			}
			return out, err
		}
	case "actor":
		return func(ctx context.Context, c a2a.Client) (out []candidate, err error) {
			v, err := a2a.Call(ctx, c, a2a.ActorList(), a2a.Nothing{}, nil)
			for _, x := range v.Actors {
				out = append(out, candidate{x.Actor.Name, x.Actor.Description})
			}
			return out, err
		}
	case "project":
		return func(ctx context.Context, c a2a.Client) (out []candidate, err error) {
			v, err := a2a.Call(ctx, c, a2a.ProjectList(), a2a.Nothing{}, nil)
			for _, x := range v.Projects {
				out = append(out, candidate{x.Project.Name, x.Project.Description})
			}
			return out, err
		}
	case "resource":
		return func(ctx context.Context, c a2a.Client) (out []candidate, err error) {
			v, err := a2a.Call(ctx, c, a2a.ResourceList(), a2a.ResourceListQuery{}, nil)
			for _, x := range v.Resources {
				out = append(out, candidate{x.Resource.Name, x.Resource.Location})
			}
			return out, err
		}
	case "provider":
		return func(ctx context.Context, c a2a.Client) (out []candidate, err error) {
			v, err := a2a.Call(ctx, c, a2a.ProviderList(), a2a.ProviderListQuery{}, nil)
			for _, x := range v.Providers {
				out = append(out, candidate{x.Provider.Name, string(x.Provider.Kind)})
			}
			return out, err
		}
	case "approval":
		return func(ctx context.Context, c a2a.Client) (out []candidate, err error) {
			v, err := a2a.Call(ctx, c, a2a.ApprovalList(), a2a.ApprovalListQuery{}, nil)
			for _, x := range v.Approvals {
				out = append(out, candidate{shortID(x.ID), x.Summary})
			}
			return out, err
		}
	case "decision":
		return func(ctx context.Context, c a2a.Client) ([]candidate, error) {
			v, err := a2a.Call(ctx, c, a2a.PlanTree(), a2a.RefQuery{Ref: last}, nil)
			return decisions(v.Roots), err
		}
	}
	return nil
}

func decisions(nodes []*plan.Tree) (out []candidate) {
	for _, n := range nodes {
		out = append(out, candidate{shortID(n.Decision.ID), n.Decision.Question + " → " + n.Decision.Chosen})
		out = append(out, decisions(n.Children)...)
	}
	return out
}

// candidates are the words of a kind that begin as typed, in the form that the
// shell's script reads. Files are left to the shell.
func (a *app) candidates(cmd *cobra.Command, kind, typed string) ([]string, cobra.ShellCompDirective) {
	switch kind {
	case "file", "dir", "path":
		return nil, cobra.ShellCompDirectiveDefault
	}
	words, ok := fixed(kind)
	if !ok {
		words = a.found(cmd, stored(kind))
	}
	var out []string
	for _, w := range words {
		if strings.HasPrefix(strings.ToLower(w.word), strings.ToLower(typed)) {
			line := string(escapeLine(w.word))
			if w.means != "" {
				line += "\t" + string(escapeLine(w.means))
			}
			out = append(out, line)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// found asks a source. Whatever goes wrong or takes too long is no candidates:
// nobody who pressed Tab wants to read an error.
func (a *app) found(cmd *cobra.Command, from source) []candidate {
	if from == nil || a.settleDir() != nil || a.settleConfig(cmd) != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
	defer cancel()
	done := make(chan []candidate, 1)
	go func() { // ends with the context; the process does not wait for it
		o := a.options()
		o.Existing = true
		c, closer, err := a.env.Open(ctx, o)
		if err != nil {
			done <- nil
			return
		}
		words, err := from(ctx, c)
		if cerr := closer.Close(); err != nil || cerr != nil {
			words = nil
		}
		done <- words
	}()
	select {
	case words := <-done:
		return words
	case <-ctx.Done():
		return nil
	}
}
