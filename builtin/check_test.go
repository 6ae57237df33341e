package builtin

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/tool"
)

func TestCheck(t *testing.T) {
	type outcome struct {
		Verdict tool.Verdict
		Exit    int // -1: none
		Message string
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name string
		ctx  context.Context
		v    tool.Validation
		want outcome
	}{
		{"passed", t.Context(), tool.Validation{Command: "echo one; echo; echo ok two; echo"}, outcome{tool.Passed, 0, "exit 0: ok two"}},
		{"silent", t.Context(), tool.Validation{Argv: []string{"true"}}, outcome{tool.Passed, 0, "exit 0"}},
		{"failed", t.Context(), tool.Validation{Command: "echo FAIL x >&2; exit 2"}, outcome{tool.NotPassed, 2, "exit 2: FAIL x"}},
		{"argv", t.Context(), tool.Validation{Argv: []string{"sh", "-c", "exit 7"}}, outcome{tool.NotPassed, 7, "exit 7"}},
		{"signal", t.Context(), tool.Validation{Command: "kill -ABRT $$"}, outcome{tool.NotPassed, 134, "exit 134"}},
		{"in the tree", t.Context(), tool.Validation{Argv: []string{"cat", "f"}}, outcome{tool.Passed, 0, "exit 0: inside"}},
		{"no program", t.Context(), tool.Validation{Argv: []string{"no-such-program"}}, outcome{tool.CouldNotLook, -1, `program "no-such-program" is not on the PATH`}},
		{"no program in a script", t.Context(), tool.Validation{Command: "no-such-program 2>/dev/null"}, outcome{tool.CouldNotLook, 127, "exit 127"}},
		{"not executable", t.Context(), tool.Validation{Argv: []string{"./f"}}, outcome{tool.CouldNotLook, 126, "exit 126: sh: 10: exec: ./f: Permission denied"}},
		{"timeout", t.Context(), tool.Validation{Command: "echo waiting; sleep 600", Timeout: 1}, outcome{tool.CouldNotLook, -1, "still running after 1 s: waiting"}},
		{"cancelled", cancelled, tool.Validation{Command: "true"}, outcome{tool.CouldNotLook, -1, "stopped: context canceled"}},
		{"escapes", t.Context(), tool.Validation{Command: `printf 'a\033[31mb\rc\377\n'; exit 1`}, outcome{tool.NotPassed, 1, "exit 1: a[31mbc\uFFFD"}},
		{"long line", t.Context(), tool.Validation{Command: `printf '%500s\n' x | tr ' ' y`}, outcome{tool.Passed, 0, "exit 0: " + strings.Repeat("y", 200) + "…"}},
	}
	b := newBench(t, map[string]string{"f": "inside\n"})
	c := NewChecker(testJail(t), 0)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := c.Check(tt.ctx, engine.Place{Dir: b.dir}, tt.v)
			if err != nil {
				t.Fatal(err)
			}
			got := outcome{out.Verdict, -1, out.Message}
			if out.Exit != nil {
				got.Exit = *out.Exit
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestCheckKeepsABoundedOutput(t *testing.T) {
	out, err := NewChecker(testJail(t), 0).Check(t.Context(), engine.Place{Dir: t.TempDir()}, tool.Validation{Command: "yes | head -c 20000000; echo end"})
	if err != nil || out.Verdict != tool.Passed || out.Message != "exit 0: end" {
		t.Errorf("got %v %q, %v", out.Verdict, out.Message, err)
	}
	if n := len(out.Output); n > maxCheckOutput+100 || n < maxCheckOutput {
		t.Errorf("%d bytes are kept", n)
	}
}

func TestCheckWantsOneProgram(t *testing.T) {
	c := NewChecker(testJail(t), 0)
	for _, v := range []tool.Validation{{Name: "x"}, {Name: "x", Command: "true", Argv: []string{"true"}}} {
		if _, err := c.Check(t.Context(), engine.Place{Dir: t.TempDir()}, v); !fault.Is(err, fault.Invalid) {
			t.Errorf("%+v: %v", v, err)
		}
	}
}

func TestUsualTimeOfAValidation(t *testing.T) {
	out, err := NewChecker(testJail(t), time.Second).Check(t.Context(), engine.Place{Dir: t.TempDir()}, tool.Validation{Command: "sleep 600"})
	if err != nil || out.Verdict != tool.CouldNotLook || !strings.Contains(out.Message, "still running after 1 s") {
		t.Errorf("%+v, %v", out, err)
	}
}
