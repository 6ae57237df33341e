package builtin

import (
	"context"
	"fmt"
	"time"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/jail"
)

// execTimeout is how long a program may run that a person asked for.
const execTimeout = 24 * time.Hour

type programs struct{ jail *jail.Jail }

// NewPrograms returns the engine.Programs that runs in a jail.
func NewPrograms(j *jail.Jail) engine.Programs { return programs{j} }

// Exec runs one program. Its output is not kept, and not bounded.
func (p programs) Exec(ctx context.Context, in engine.Place, x engine.Exec) (engine.ExecOutcome, error) {
	limit := x.Timeout
	if limit <= 0 {
		limit = execTimeout
	}
	res, err := p.jail.Run(ctx, jail.Order{
		Tree: in.Dir, At: in.At, Argv: x.Argv, Scratch: in.Scratch, ReadOnly: x.ReadOnly, Network: in.Network, Must: in.Confine,
		Timeout: limit, MaxOutput: 1, StopAt: 1 << 62, Tee: x.Out,
	})
	if err != nil {
		return engine.ExecOutcome{}, err
	}
	out := engine.ExecOutcome{Exit: res.Exit, Backend: string(res.Backend), Refused: res.Refused}
	switch {
	case res.TimedOut:
		out.Stopped = fmt.Sprintf("still running after %s", limit)
	case res.Over != "":
		out.Stopped = "over its limit of " + res.Over
	}
	return out, nil
}
