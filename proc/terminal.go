package proc

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/cleveragents/agents/fault"
)

// Terminal runs a program of the person's, such as an editor, in the foreground:
// it has the terminal of this process, and its environment without the names
// that sound like a secret. It waits until the program ends by itself, and
// kills it when the context ends. Nothing that an agent wrote may run so.
func Terminal(ctx context.Context, argv []string) error {
	path, err := Lookup(argv[0])
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, path, argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stderr, os.Stderr // our result has standard output
	cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return soundsSecret(name)
	})
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &exit):
		return fault.New(fault.Unavailable, "%s ended with %s", argv[0], exit.ProcessState)
	case err != nil:
		return fault.New(fault.Unavailable, "start %s: %w", argv[0], err)
	}
	return nil
}

// Vars returns the variables of this process whose names begin with prefix.
func Vars(prefix string) map[string]string {
	out := map[string]string{}
	for _, kv := range os.Environ() {
		if name, value, ok := strings.Cut(kv, "="); ok && strings.HasPrefix(name, prefix) {
			out[name] = value
		}
	}
	return out
}
