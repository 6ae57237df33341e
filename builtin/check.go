package builtin

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/jail"
	"github.com/cleveragents/agents/tool"
)

// The bounds of a validation.
const (
	checkTimeout    = 10 * time.Minute // where neither the validation nor NewChecker gives one
	maxCheckTimeout = 3600             // seconds
	maxCheckOutput  = 1 << 20
	maxMessage      = 200
)

// The two exits by which a shell, env and their like say that a program could
// not be run at all.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

type checker struct {
	jail  *jail.Jail
	usual int // seconds
}

// NewChecker returns the engine.Checker that runs validations as programs. One
// that gives no time of its own may run for timeout; 0 means ten minutes.
func NewChecker(j *jail.Jail, timeout time.Duration) engine.Checker {
	return checker{j, seconds(timeout, checkTimeout)}
}

// checksName is what validations keep apart from what tools keep: a tool cannot
// put into a cache what a validation then believes.
const checksName = "checks"

// Check runs one validation in a place. Exit 0 is passed; a program that is not
// there, does not end in time or is cancelled could not look; anything else is
// failed. An error is a validation that says not what to run, or a fault of
// ours.
func (c checker) Check(ctx context.Context, in engine.Place, v tool.Validation) (engine.CheckOutcome, error) {
	argv := v.Argv
	switch {
	case (v.Command == "") == (len(v.Argv) == 0):
		return engine.CheckOutcome{}, fault.New(fault.Invalid, "validation %s: give either command or argv", v.Name)
	case v.Command != "":
		argv = []string{"sh", "-c", v.Command}
	}
	limit := v.Timeout
	if limit <= 0 {
		limit = c.usual
	}
	limit = min(limit, maxCheckTimeout)
	scratch := in.Scratch
	if scratch != "" {
		scratch = filepath.Join(scratch, checksName)
	}
	res, err := c.jail.Run(ctx, jail.Order{
		Tree: in.Dir, At: in.At, Argv: argv, Scratch: scratch, Fresh: true, Network: in.Network, Must: in.Confine,
		MaxOutput: maxCheckOutput, Timeout: time.Duration(limit) * time.Second,
	})
	switch {
	case fault.Is(err, fault.Internal), fault.CodeOf(err) == jail.NoSandbox:
		return engine.CheckOutcome{}, err
	case err != nil:
		return engine.CheckOutcome{Verdict: tool.CouldNotLook, Message: oneLine(err.Error()), Output: res.Output}, nil
	}
	return outcome(res, limit), nil
}

func outcome(res jail.Result, seconds int) engine.CheckOutcome {
	out := engine.CheckOutcome{Verdict: tool.NotPassed, Exit: &res.Exit, Output: res.Output, Backend: string(res.Backend)}
	how := fmt.Sprintf("exit %d", res.Exit)
	switch {
	case res.TimedOut:
		out.Verdict, out.Exit, how = tool.CouldNotLook, nil, fmt.Sprintf("still running after %d s", seconds)
	case res.Flooded:
		out.Verdict, out.Exit, how = tool.CouldNotLook, nil, fmt.Sprintf("stopped after %d bytes of output", res.Total)
	case res.Over != "":
		out.Verdict, out.Exit, how = tool.CouldNotLook, nil, "stopped: over its limit of "+res.Over
	case res.Signal != "":
		how = "ended by " + res.Signal
	case res.Exit == exitNotExecutable, res.Exit == exitNotFound:
		out.Verdict = tool.CouldNotLook
	case res.Exit == 0:
		out.Verdict = tool.Passed
	}
	if len(res.Refused) > 0 {
		how += " (it may not reach " + strings.Join(res.Refused, ", ") + ")"
	}
	out.Message = how
	if last := lastLine(res.Output); last != "" {
		out.Message += ": " + last
	}
	return out
}

// lastLine is the last line that says something, fit to be shown in one line.
func lastLine(b []byte) string {
	lines := strings.Split(string(b[max(0, len(b)-maxOutput):]), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if l := oneLine(lines[i]); l != "" {
			return l
		}
	}
	return ""
}

// oneLine takes out what is not printable and cuts.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, valid(s))
	return clip(strings.TrimSpace(s), maxMessage)
}
