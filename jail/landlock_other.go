//go:build !linux

package jail

import (
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/proc"
)

const errEnter = 125

func (j *Jail) landlocked(Order) (proc.Command, error) {
	return proc.Command{}, fault.New(fault.Unavailable, "a part of Linux")
}

func enter(string, string, []string) error {
	return fault.New(fault.Unavailable, "Landlock is a part of Linux")
}
