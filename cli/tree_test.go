package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
)

// leaves returns every command that does something, legacy ones left out.
func leaves(t *testing.T) []*cobra.Command {
	t.Helper()
	root := newRoot(newApp(newWorld(nil).env, nil))
	root.InitDefaultHelpCmd()
	var out []*cobra.Command
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if !c.HasSubCommands() && !c.Hidden {
			out = append(out, c)
		}
		for _, s := range c.Commands() {
			walk(s)
		}
	}
	walk(root)
	return out
}

// without are the leaves that touch no operation.
func without() []string {
	return []string{"agents completion", "agents version", "agents help", "agents demo"}
}

func TestEveryLeafIsAnOperation(t *testing.T) {
	methods := map[string]bool{}
	for _, info := range a2a.Table() {
		methods[info.Method] = false
	}
	for _, c := range leaves(t) {
		ops := c.Annotations[noteOp]
		if slices.Contains(without(), c.CommandPath()) {
			if ops != "" {
				t.Errorf("%s is listed as doing no operation and does %s", c.CommandPath(), ops)
			}
			continue
		}
		for _, m := range strings.Split(ops, ",") {
			if _, ok := methods[m]; !ok {
				t.Errorf("%s: operation %q is not in the table", c.CommandPath(), m)
			}
		}
		// A command that carries several methods has the one it is named after first.
		methods[strings.Split(ops, ",")[0]] = true
	}
	for m, reached := range methods {
		if !reached {
			t.Errorf("no command does %s", m)
		}
	}
}

func TestEveryLeafIsExplained(t *testing.T) {
	for _, c := range leaves(t) {
		switch {
		case c.Short == "" || len(c.Short) > 60:
			t.Errorf("%s: the short text has %d letters, want 1 to 60", c.CommandPath(), len(c.Short))
		case c.Long == "":
			t.Errorf("%s has no long text", c.CommandPath())
		case !strings.Contains(c.Example, "agents "+strings.TrimPrefix(c.CommandPath(), "agents ")):
			t.Errorf("%s: the example does not show it: %q", c.CommandPath(), c.Example)
		}
	}
}

// TestExamplesParse runs every example against answers, so that none shows a
// flag that is gone.
func TestExamplesParse(t *testing.T) {
	for _, c := range leaves(t) {
		for _, line := range strings.Split(strings.ReplaceAll(c.Example, "\\\n", " "), "\n") {
			words := split(line)
			if len(words) == 0 || words[0] != "agents" || slices.Contains(without(), c.CommandPath()) {
				continue
			}
			w := newWorld(answers())
			w.env.StdinTTY = c.CommandPath() == "agents config edit" // refused without a person
			for _, f := range []string{"fix-tests.yaml", "reviewer.yaml", "fixer.yaml"} {
				w.files["/home/ann/shop/"+f] = "name: x\n"
			}
			if got := w.run(words[1:]...); got == 2 || got == 3 {
				t.Errorf("%s: exit %d: %s", strings.TrimSpace(line), got, &w.err)
			}
		}
	}
}

// split cuts a line into words as a shell does, for single and double quotes.
func split(line string) []string {
	var words []string
	var word strings.Builder
	var quote rune
	open := false
	for _, r := range line + " " {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, open = r, true
		case quote == 0 && r == ' ':
			if open || word.Len() > 0 {
				words = append(words, word.String())
			}
			word.Reset()
			open = false
		default:
			word.WriteRune(r)
		}
	}
	return words
}

func TestNothingOpensWithoutNeed(t *testing.T) {
	for _, args := range [][]string{
		nil, {"version"}, {"--version"}, {"help"}, {"help", "plan", "use"}, {"help", "exit-codes"}, {"plan"}, {"plan", "--help"},
		{"completion", "bash"}, {"completion", "zsh"}, {"completion", "fish"}, {"completion", "powershell"}, {"__complete", "pl"},
	} {
		w := newWorld(answers())
		w.want(t, 0, args...)
		if w.opened != 0 {
			t.Errorf("agents %s opened the store", strings.Join(args, " "))
		}
		if w.out.Len() == 0 {
			t.Errorf("agents %s wrote nothing", strings.Join(args, " "))
		}
	}
}

func TestTopics(t *testing.T) {
	for _, topic := range topics() {
		w := newWorld(nil)
		w.want(t, 0, "help", topic.name)
		golden(t, "topic_"+topic.name, w.out.String())
	}
	w := newWorld(nil)
	w.want(t, 0, "help")
	golden(t, "help", w.out.String())
	w.want(t, 0, "plan", "use", "--help")
	golden(t, "help_plan_use", w.out.String())
}
