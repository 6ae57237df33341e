package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/big"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/fault"
)

// picker takes what is wanted out of a result (--jq, --template). It sees what
// --format json prints. It is read before the command does anything, so that a
// bad expression changes nothing.
type picker interface {
	// pick writes what it takes out of v. It stops when the context ends, at the
	// latest with the next value that it writes.
	pick(ctx context.Context, v any, w *gate) error
}

// settlePick reads --jq and --template, which imply JSON.
func (a *app) settlePick(cmd *cobra.Command) (err error) {
	g, name := &a.flags, cmd.CommandPath()
	flag := "--jq"
	switch {
	case g.jq == "" && g.template == "":
		return nil
	case g.template != "":
		flag = "--template"
	}
	if g.format != "" && a.format != JSON {
		return usage(name, "%s reads JSON: leave out --format %s", flag, g.format)
	}
	a.format = JSON
	if g.jq != "" && g.template != "" {
		return usage(name, "give either --jq or --template")
	}
	if cmd.Annotations[noteOp] == "" && !says(cmd) {
		return usage(name, "%s means nothing to %q", flag, name)
	}
	if g.jq != "" {
		a.pick, err = newQuery(name, g.jq)
	} else {
		a.pick, err = newTemplate(name, g.template)
	}
	return err
}

// says reports whether a command that does no operation has a result.
func says(cmd *cobra.Command) bool {
	v := cmd.Flags().Lookup("version")
	return cmd.Annotations[noteSays] != "" || v != nil && v.Changed
}

// writePicked writes what --jq or --template takes out of a result. Ctrl-C and
// --timeout end it even where the expression does not.
func (a *app) writePicked(ctx context.Context, env Envelope) error {
	b, err := encodeJSON(env, false)
	if err != nil {
		return err
	}
	v, err := plainValue(jsontext.NewDecoder(bytes.NewReader(b)))
	if err != nil {
		return fault.New(fault.Internal, "read the result: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if a.flags.timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, a.flags.timeout)
		defer stop()
	}
	out := &gate{w: a.env.Stdout, terminal: a.env.StdoutTTY}
	defer out.shut() // an expression without end writes nothing any more
	done := make(chan error, 1)
	go func() { done <- a.pick.pick(ctx, v, out) }()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for start := heap(); ; {
		select {
		case err = <-done:
			if err == nil || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return err
			}
			return timedOut(a.flags.timeout)
		case <-a.env.Signals:
			return fault.New(fault.Interrupted, "interrupted")
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return timedOut(a.flags.timeout)
			}
			return ctx.Err()
		case <-look.C:
			if heap() > start+maxGrowth {
				return fault.New(fault.Exhausted, "the expression takes more than %d MiB of memory", maxGrowth>>20)
			}
		}
	}
}

// What an expression may make the process grow by, and how often that is looked
// at: one without end must not take the machine's memory.
const (
	maxGrowth = 512 << 20
	lookEvery = 5 * time.Millisecond
)

// heap is how many bytes are in use.
func heap() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// gate is standard output for what an expression takes out of a result. On a
// terminal what would move or recolour is spelled out; a pipe gets the bytes.
// Safe for concurrent use.
type gate struct {
	mu       sync.Mutex
	w        io.Writer
	terminal bool
	closed   bool
}

// Write implements io.Writer.
func (g *gate) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return 0, io.ErrClosedPipe
	}
	text := b
	if g.terminal {
		text = []byte(escapeText(string(b)))
	}
	if _, err := g.w.Write(text); err != nil {
		return 0, fault.New(fault.Internal, "write the result: %w", err)
	}
	return len(b), nil
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

// plainValue reads one JSON value as maps, lists, texts and numbers: whole ones
// of any size, others as float64.
func plainValue(d *jsontext.Decoder) (v any, err error) {
	numbers := json.UnmarshalFromFunc(func(d *jsontext.Decoder, v *any) error {
		if d.PeekKind() != '0' {
			return errors.ErrUnsupported
		}
		t, err := d.ReadToken()
		if err != nil {
			return err
		}
		f, err := t.Float()
		if err != nil {
			return err
		}
		*v = f
		if n, ok := new(big.Int).SetString(t.String(), 10); ok {
			*v = n
			if n.IsInt64() && int64(int(n.Int64())) == n.Int64() {
				*v = int(n.Int64())
			}
		}
		return nil
	})
	err = json.UnmarshalDecode(d, &v, json.WithUnmarshalers(numbers), jsontext.AllowInvalidUTF8(true))
	return v, err
}
