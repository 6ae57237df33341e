package cli

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

// fake answers operations from a table and keeps what it was asked.
type fake struct {
	answers map[string]any // method → answer, error, or func(ctx, req, emit) (any, error)
	asked   []string
	reqs    map[string]any
	opened  int
	data    string // the data directory it was opened with

	unopened bool // it was asked for without the data
	opts     Options
}

type answerer = func(ctx context.Context, req any, emit func(plan.Event)) (any, error)

func (f *fake) Do(ctx context.Context, method string, req any, emit func(plan.Event)) (any, error) {
	if emit == nil {
		emit = func(plan.Event) {}
	}
	short := strings.TrimPrefix(method, "_cleveragents/")
	f.asked = append(f.asked, short)
	if f.reqs == nil {
		f.reqs = map[string]any{}
	}
	f.reqs[short] = req
	switch a := f.answers[short].(type) {
	case nil:
		return nil, fault.New(fault.NotImplemented, "the test has no answer to %s", short)
	case error:
		return nil, a
	case answerer:
		return a(ctx, req, emit)
	default:
		return a, nil
	}
}

func (f *fake) Close() error { return nil }

// world is one in-process run of the command line.
type world struct {
	*fake
	env      Env
	vars     map[string]string
	files    map[string]string
	in       string
	edit     func(text string) string
	out, err bytes.Buffer
}

func newWorld(answers map[string]any) *world {
	w := &world{fake: &fake{answers: answers}, vars: map[string]string{}, files: map[string]string{}, edit: strings.Clone}
	w.env = Env{
		Open: func(_ context.Context, o Options) (a2a.Client, io.Closer, error) {
			w.opened++
			w.data, w.opts = o.DataDir, o
			return w.fake, w.fake, nil
		},
		Width:  100,
		Getenv: func(k string) string { return w.vars[k] },
		Getwd:  func() (string, error) { return "/home/ann/shop", nil },
		ReadFile: func(p string) ([]byte, error) {
			if t, ok := w.files[p]; ok {
				return []byte(t), nil
			}
			return nil, &fs.PathError{Op: "open", Path: p, Err: fs.ErrNotExist}
		},
		OpenFile: func(string) (io.ReadSeekCloser, error) { return nopSeeker{strings.NewReader("")}, nil },
		Edit:     func(_ context.Context, _, text string) (string, error) { return w.edit(text), nil },
		Version:  Version{Version: "1.2.3", Commit: "abcdef", Go: "go1.26"},
	}
	return w
}

type nopSeeker struct{ *strings.Reader }

func (nopSeeker) Close() error { return nil }

// terminal makes all three streams a terminal.
func (w *world) terminal() *world {
	w.env.StdinTTY, w.env.StdoutTTY, w.env.StderrTTY = true, true, true
	return w
}

func (w *world) run(args ...string) int {
	w.out.Reset()
	w.err.Reset()
	w.env.Stdin, w.env.Stdout, w.env.Stderr = strings.NewReader(w.in), &w.out, &w.err
	return Main(context.Background(), args, w.env)
}

// want runs the arguments and fails the test on another exit status.
func (w *world) want(t *testing.T, exit int, args ...string) {
	t.Helper()
	if got := w.run(args...); got != exit {
		t.Fatalf("agents %s: exit %d, want %d\nstdout: %s\nstderr: %s", strings.Join(args, " "), got, exit, &w.out, &w.err)
	}
}

// golden compares got with a file below testdata; AGENTS_UPDATE=1 renews it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name + ".golden"
	if os.Getenv("AGENTS_UPDATE") != "" {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); d != "" {
		t.Errorf("%s (-want +got):\n%s", path, d)
	}
}

// memory is a file that is made and never leaves the test.
type memory struct {
	bytes.Buffer
	closed, discarded bool
}

func (m *memory) Close() error { m.closed = true; return nil }

func (m *memory) Discard() { m.discarded = true }
