package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/cleveragents/agents/decode"
	"github.com/cleveragents/agents/fault"
)

// stdin stands for standard input wherever a file is expected.
const stdin = "-"

// read returns the text of a file, or of standard input for "-". More than
// decode.MaxBytes is refused.
func (a *app) read(path string) (string, error) {
	var b []byte
	var err error
	if path == stdin {
		b, err = io.ReadAll(io.LimitReader(a.env.Stdin, decode.MaxBytes+1))
	} else {
		b, err = a.env.ReadFile(a.abs(path))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fault.New(fault.NotFound, "no file %s", path)
	case err != nil:
		return "", fault.New(fault.Invalid, "read %s: %w", path, err)
	case len(b) > decode.MaxBytes:
		return "", fault.New(fault.Invalid, "%s is larger than %d bytes", path, decode.MaxBytes)
	}
	return string(b), nil
}

// confirm asks a yes-or-no question on the terminal; anything but yes is no.
func (a *app) confirm(ctx context.Context, question string) (bool, error) {
	_, _ = io.WriteString(a.env.Stderr, string(escapeLine(question))+" [y/N] ")
	line, err := a.line(ctx)
	if err != nil {
		return false, err
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true, nil
	}
	return false, nil
}

// line reads one line that a person types. The read cannot be taken back, so an
// interrupt leaves its goroutine behind; the process ends then.
func (a *app) line(ctx context.Context) (string, error) {
	if a.typed == nil {
		a.typed = bufio.NewReader(a.env.Stdin)
	}
	got := make(chan string, 1)
	go func() {
		s, _ := a.typed.ReadString('\n') // a closed terminal is an empty answer
		got <- s
	}()
	select {
	case s := <-got:
		return s, nil
	case <-a.env.Signals:
		a.say("")
		return "", fault.New(fault.Interrupted, "interrupted")
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
