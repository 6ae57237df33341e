package builtin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/jail"
	"github.com/cleveragents/agents/tool"
)

// The times of a command where Config gives none.
const (
	shellTimeout    = 2 * time.Minute
	maxShellTimeout = 30 * time.Minute
)

type shellArgs struct {
	Argv           []string `json:"argv"`
	Script         string   `json:"script"`
	Dir            string   `json:"dir"`
	TimeoutSeconds int      `json:"timeout_seconds"`
}

// More seconds than there may be are cut, not refused: an actor that was written
// for a higher limit still works. Exactly one of argv and script is wanted, which is said in words: several
// model providers refuse a schema with oneOf at its top.
const shellSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": [],
  "properties": {
    "argv": {"type": "array", "minItems": 1, "items": {"type": "string"}, "description": "a program and its arguments, run without a shell; give this or script"},
    "script": {"type": "string", "minLength": 1, "description": "a script for sh -c; give this or argv"},
    "dir": {"type": "string", "description": "directory to run in, relative to the project's root; the root when not given"},
    "timeout_seconds": {"type": "integer", "minimum": 1, "description": "%d when not given, at most %d"}
  }
}`

func shellTool(c Config) entry {
	s := shell{c.Jail, seconds(c.ShellTimeout, shellTimeout), seconds(c.ShellMaxTimeout, maxShellTimeout)}
	s.usual = min(s.usual, s.most)
	return working("shell", fmt.Sprintf(shellSchema, s.usual, s.most), s.run)
}

type shell struct {
	jail        *jail.Jail
	usual, most int // seconds
}

// seconds is a time in whole seconds, or the usual one where none is given.
func seconds(d, usual time.Duration) int {
	if d <= 0 {
		d = usual
	}
	return max(1, int(d/time.Second))
}

func (s shell) run(ctx context.Context, w *work, a shellArgs) (tool.Result, error) {
	if (a.Script == "") == (len(a.Argv) == 0) {
		return tool.Result{}, fault.New(fault.Invalid, "give either argv or script")
	}
	argv := a.Argv
	if a.Script != "" {
		argv = []string{"sh", "-c", a.Script}
	}
	dir, err := w.directory(a.Dir)
	if err != nil {
		return tool.Result{}, err
	}
	seconds := a.TimeoutSeconds
	if seconds <= 0 {
		seconds = s.usual
	}
	seconds = min(seconds, s.most)
	res, err := s.jail.Run(ctx, jail.Order{
		Tree: w.in.Dir, At: w.in.At, Dir: dir, Argv: argv, Scratch: w.in.Scratch, Network: w.in.Network, Must: w.in.Confine,
		Timeout: time.Duration(seconds) * time.Second,
	})
	if err != nil {
		return tool.Result{}, err
	}
	return report(res, seconds), nil
}

// report turns how a program ended into what the model sees.
func report(res jail.Result, seconds int) tool.Result {
	out := tool.Result{Status: tool.OK, Exit: &res.Exit, Backend: string(res.Backend)}
	note := ""
	switch {
	case res.TimedOut:
		out.Status, note = tool.Exceeded, fmt.Sprintf("[stopped: still running after %d s]", seconds)
	case res.Flooded:
		out.Status, note = tool.Exceeded, fmt.Sprintf("[stopped: it wrote %d bytes of output]", res.Total)
	case res.Over != "":
		out.Status, note = tool.Exceeded, fmt.Sprintf("[stopped: over its limit of %s]", res.Over)
	case res.Signal != "":
		out.Status, note = tool.Failed, fmt.Sprintf("[ended by %s]", res.Signal)
	case res.Exit != 0:
		out.Status, note = tool.Failed, fmt.Sprintf("[exit status %d]", res.Exit)
	case len(res.Output) == 0:
		note = "[no output]"
	}
	if len(res.Refused) > 0 {
		refused := fmt.Sprintf("[the sandbox does not let programs reach %s]", strings.Join(res.Refused, ", "))
		note = strings.TrimSuffix(refused+"\n"+note, "\n")
	}
	out.Output = cut(res.Output)
	if len(res.Output) > maxOutput {
		out.Spill = res.Output
	}
	if note != "" {
		if out.Output != "" && !strings.HasSuffix(out.Output, "\n") {
			out.Output += "\n"
		}
		out.Output += note
	}
	return out
}

// cut keeps the beginning and the end of a long output, with a line between
// that says what is left out and how to see it.
func cut(b []byte) string {
	if len(b) <= maxOutput {
		return valid(string(b))
	}
	head := runeStart(b, maxOutput/2)
	tail := runeStart(b, len(b)-maxOutput/2)
	return fmt.Sprintf("%s\n[%d bytes are left out here; see them with page, hash=%s offset=%d]\n%s",
		valid(string(b[:head])), tail-head, hash(b), head, valid(string(b[tail:])))
}
