package cli

import (
	"strings"
	"testing"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "abc", 0}, {"abc", "", 3}, {"", "ab", 2}, {"explian", "explain", 2}, {"kitten", "sitting", 3}, {"lst", "list", 1}, {strings.Repeat("a", 65), "a", 64}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// A word that is no command is refused with and without --help.
func TestUnknownCommandsAndHelp(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"bogus --help", `unknown command "bogus" for "agents"`},
		{"--help bogus", `unknown command "bogus" for "agents"`},
		{"bogus", `unknown command "bogus" for "agents"`},
		{"plna --help", "did you mean plan?"},
		{"plan explian -h", "did you mean explain?"},
		{"explain", " or plan explain?"},
		{"help explian", " or plan explain?"},
		{"help exit-code", "did you mean help exit-codes?"},
		{"help plan shwo", "did you mean show?"},
		{"PLAN", "did you mean plan?"},
	} {
		w := newWorld(nil)
		w.want(t, 2, strings.Fields(c.args)...)
		if !strings.Contains(w.err.String(), c.want) || w.out.Len() > 0 {
			t.Errorf("%s: stdout %q, stderr %q, want %q", c.args, &w.out, &w.err, c.want)
		}
	}
	w := newWorld(nil)
	w.want(t, 0, "plan", "--help")
	w.want(t, 0, "plan", "show", "anything", "--help")
}

func TestLogFlags(t *testing.T) {
	w := newWorld(answers())
	w.want(t, 0, "-C", "sub", "plan", "list", "--log-level", "debug", "--log-file", "a.log")
	if got := w.opts.Settings.Text("log.level") + " " + w.opts.Settings.Text("log.file"); got != "debug /home/ann/shop/sub/a.log" {
		t.Errorf("the log is set to %s", got)
	}
	w.want(t, 2, "plan", "list", "--log-level", "loud")
	if !strings.Contains(w.err.String(), `"loud" is not one of debug, info, warn, error`) {
		t.Errorf("stderr %s", &w.err)
	}
	w.want(t, 2, "plan", "list", "--log-file", "")
}
