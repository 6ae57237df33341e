package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// pageWidth is how wide the text of a generated page is.
const pageWidth = 80

// page is what is said about one command or topic, before it has a form.
type page struct {
	name     string // of the file, without its end: agents_plan_use, topic_names
	title    string // agents plan use
	short    string
	long     string
	usage    string
	commands [][2]string // name of the page, what it is for
	examples string
	flags    *pflag.FlagSet
	global   []string // limited global flags that mean something here, "*" for all
	text     string   // of a topic
	above    string   // the page of the group
}

// pages are all commands that are not hidden, and the topics.
func pages() []page {
	root := newRoot(newApp(newWorld(nil).env, nil))
	root.InitDefaultHelpCmd()
	var out []page
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		p := page{
			name: pageName(c), title: c.CommandPath(), short: c.Short, long: c.Long, usage: usageLine(c),
			examples: c.Example, flags: ownFlags(c),
		}
		if c.HasParent() {
			p.above = pageName(c.Parent())
			for _, f := range strings.Split(c.Annotations[noteUses], ",") {
				if f != "" {
					p.global = append(p.global, f)
				}
			}
		} else {
			p.global = []string{"*"}
		}
		out = append(out, p)
		at := len(out) - 1
		for _, s := range c.Commands() {
			if s.Hidden {
				continue
			}
			out[at].commands = append(out[at].commands, [2]string{pageName(s), s.Short})
			walk(s)
		}
	}
	walk(root)
	for _, t := range topics() {
		out[0].commands = append(out[0].commands, [2]string{"topic_" + t.name, t.short})
		out = append(out, page{name: "topic_" + t.name, title: "agents help " + t.name, short: t.short, text: strings.Trim(t.text(pageWidth), "\n"), above: "agents"})
	}
	return out
}

func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "_") }

func globals80() string {
	root := newRoot(newApp(newWorld(nil).env, nil))
	return flagUsages(root.PersistentFlags(), pageWidth)
}

// markdown is a page as docs/cli has it.
func markdown(p page) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", p.title)
	fence := func(title, text string) {
		if title != "" {
			title = "## " + title + "\n\n"
		}
		fmt.Fprintf(&b, "%s```text\n%s\n```\n\n", title, strings.TrimRight(text, "\n"))
	}
	if p.text != "" {
		fmt.Fprintf(&b, "%s.\n\n", strings.ToUpper(p.short[:1])+p.short[1:])
		fence("", p.text)
	} else {
		fmt.Fprintf(&b, "%s\n\n", strings.NewReplacer("<", "\\<", "*", "\\*", "_", "\\_").Replace(p.long))
		fence("Usage", p.usage)
	}
	if len(p.commands) > 0 {
		b.WriteString("## More\n\n")
		for _, c := range p.commands {
			fmt.Fprintf(&b, "- [%s](%s.md): %s\n", strings.ReplaceAll(strings.Replace(c[0], "topic_", "agents help ", 1), "_", " "), c[0], c[1])
		}
		b.WriteString("\n")
	}
	if p.examples != "" {
		fence("Examples", strings.ReplaceAll(strings.TrimPrefix(p.examples, "  "), "\n  ", "\n"))
	}
	if p.flags != nil && p.flags.HasAvailableFlags() {
		fence("Flags", flagUsages(p.flags, pageWidth))
	}
	switch {
	case slices.Contains(p.global, "*"):
		fence("Global flags", globals80())
	case p.text == "":
		b.WriteString("The [global flags](agents.md#global-flags) hold here too")
		for i, f := range p.global {
			fmt.Fprintf(&b, "%s `--%s`", map[bool]string{true: ", also", false: " and"}[i == 0], f)
		}
		b.WriteString(".\n\n")
	}
	if p.above != "" {
		fmt.Fprintf(&b, "Up: [%s](%s.md)\n", strings.ReplaceAll(p.above, "_", " "), p.above)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// manName is the name of a man page and its section: commands are in 1, topics
// in 7.
func manName(name string) (string, string) {
	if topic, ok := strings.CutPrefix(name, "topic_"); ok {
		return "agents-" + topic, "7"
	}
	return strings.ReplaceAll(name, "_", "-"), "1"
}

// man is a page for the program man.
func man(p page) string {
	var b strings.Builder
	name, section := manName(p.name)
	fmt.Fprintf(&b, ".TH \"%s\" \"%s\" \"\" \"agents\" \"CleverAgents\"\n.SH NAME\n%s \\- %s\n", strings.ToUpper(name), section, roff(name), roff(p.short))
	verbatim := func(title, text string) {
		fmt.Fprintf(&b, ".SH %s\n.nf\n%s\n.fi\n", title, roff(strings.TrimRight(text, "\n")))
	}
	if p.text != "" {
		verbatim("DESCRIPTION", p.text)
	} else {
		fmt.Fprintf(&b, ".SH SYNOPSIS\n%s\n.SH DESCRIPTION\n%s\n", roff(p.usage), strings.ReplaceAll(roff(p.long), "\n\n", "\n.PP\n"))
	}
	if p.examples != "" {
		verbatim("EXAMPLES", p.examples)
	}
	if p.flags != nil && p.flags.HasAvailableFlags() {
		verbatim("OPTIONS", flagUsages(p.flags, pageWidth))
	}
	switch {
	case slices.Contains(p.global, "*"):
		verbatim("GLOBAL OPTIONS", globals80())
	case len(p.global) > 0:
		fmt.Fprintf(&b, ".SH GLOBAL OPTIONS\nThose of agents(1), also %s.\n", roff("--"+strings.Join(p.global, ", --")))
	case p.text == "":
		b.WriteString(".SH GLOBAL OPTIONS\nThose of agents(1).\n")
	}
	var also []string
	for _, c := range p.commands {
		n, s := manName(c[0])
		also = append(also, roff(n)+"("+s+")")
	}
	if p.above != "" {
		n, s := manName(p.above)
		also = append([]string{roff(n) + "(" + s + ")"}, also...)
	}
	fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", strings.Join(also, ",\n"))
	return b.String()
}

// roff makes text of which nothing is a command of roff.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	var b strings.Builder
	for _, r := range strings.Join(lines, "\n") {
		if r < 0x80 {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\[u%04X]`, r)
		}
	}
	return b.String()
}

// TestPages fails when docs/cli or docs/man is not what the commands say;
// AGENTS_UPDATE=1 writes both anew.
func TestPages(t *testing.T) {
	want := map[string]string{}
	for _, p := range pages() {
		want["../docs/cli/"+p.name+".md"] = markdown(p)
		name, section := manName(p.name)
		want["../docs/man/"+name+"."+section] = man(p)
	}
	for _, dir := range []string{"../docs/cli", "../docs/man"} {
		if os.Getenv("AGENTS_UPDATE") != "" {
			if err := os.MkdirAll(dir, 0o750); err != nil {
				t.Fatal(err)
			}
		}
		there, err := filepath.Glob(dir + "/*")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range there {
			if _, ok := want[file]; !ok {
				t.Errorf("%s belongs to no command: remove it", file)
			}
		}
	}
	for file, text := range want {
		if os.Getenv("AGENTS_UPDATE") != "" {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("%v: AGENTS_UPDATE=1 go test ./cli -run TestPages makes it", err)
			continue
		}
		if d := cmp.Diff(strings.Split(text, "\n"), strings.Split(string(got), "\n")); d != "" {
			t.Errorf("%s is out of date; AGENTS_UPDATE=1 go test ./cli -run TestPages renews it (-want +got):\n%s", file, d)
		}
	}
}

func TestRoff(t *testing.T) {
	if got, want := roff(".a --b\n'c\\d\n e…"), "\\&.a \\-\\-b\n\\&'c\\ed\n e\\[u2026]"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
