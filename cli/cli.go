// Package cli is the command line: a door that turns words into operations of
// package a2a and answers into text or JSON.
//
// Main builds the command tree, parses the arguments, opens the client only
// when a command needs it, does one operation, and turns the answer into an
// exit status (help topic exit-codes). Standard output carries the result and
// nothing else; progress, questions and errors go to standard error. Text that
// comes from plans, models and files reaches a terminal only through escape.go.
//
// The package decides nothing about plans: what may happen and what is next
// comes with the answer. It reads no environment, clock or file but through
// Env, so that tests run it in process.
package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/config"
)

// Env is everything of the outside that the command line touches.
type Env struct {
	// Open connects to whoever answers operations. It is called at most once,
	// and not at all by version, help and completion.
	Open func(ctx context.Context, o Options) (a2a.Client, io.Closer, error)
	// Demo makes the world of the demonstration; nil means that there is none.
	Demo func(ctx context.Context, keep bool, set config.Settings) (*DemoWorld, error)

	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// Which of the three is a terminal.
	StdinTTY, StdoutTTY, StderrTTY bool
	Width                          int // columns of the terminal; 0 means 80

	// Now is the clock; nil says that moments are shown as they are.
	Now      func() time.Time
	Getenv   func(string) string
	Getwd    func() (string, error)
	ReadFile func(path string) ([]byte, error) // regular files; may stop after decode.MaxBytes+1
	IsDir    func(path string) bool            // nil says yes
	// Create makes a new file; one that is there is fault.Exists. OpenFile opens
	// a regular file. Nil says that there are no files.
	Create   func(path string) (NewFile, error)
	OpenFile func(path string) (io.ReadSeekCloser, error)
	// ReadConfig reads the person's configuration, "" in the usual place, and
	// tells where it is; the text is nil when it is not there. May be nil.
	ReadConfig func(path string) (where string, text []byte, err error)
	Vars       func(prefix string) map[string]string // of the environment; may be nil
	// Edit has a person change a text in the editor; nil where there is none.
	Edit func(ctx context.Context, name, text string) (string, error)
	// Signals carries what a person sends with Ctrl-C. May be nil.
	Signals <-chan os.Signal
	Version Version
}

// NewFile is a file that is being written. Close keeps it and is the last word
// of whether it is whole; Discard removes it.
type NewFile interface {
	io.WriteCloser
	Discard()
}

// Options say where the program keeps its data; "" means the default place.
type Options struct {
	DataDir string
	Dir     string // where the person is
	// ConfigFile is the person's configuration, and Settings what it and the
	// environment say.
	ConfigFile string
	Settings   config.Settings
	// Existing refuses to make what is not there: a look must leave no trace.
	Existing bool
	// Unopened asks for a client that opens the data only as far as it can: the
	// operation has to work where the data cannot be opened.
	Unopened bool
}

// DemoWorld is a project with a bug and everything that is needed to mend it,
// apart from the user's data.
type DemoWorld struct {
	Client a2a.Client
	Dir    string // the project
	Action string // mends it
	Kept   string // where it stays, when it was asked to
	Open   string // why its programs run unconfined; "" when they do not
	// Check runs the project's own test.
	Check func(ctx context.Context) (output string, passed bool, err error)
	// Close closes the client and removes everything that is not kept.
	Close func() error
}

// Version is what the program says about itself.
type Version struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Date    string `json:"date,omitempty"`
	Go      string `json:"go,omitempty"`
}

// Main runs one command line, without the program's name, and returns the exit
// status of the process.
func Main(ctx context.Context, args []string, env Env) int {
	a := newApp(env, args)
	root := newRoot(a)
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		a.completes(root) // a walk over all flags: half of the time that a command needs to start
	}
	root.SetArgs(args)
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = a.lost
	}
	if a.closer != nil {
		err = errors.Join(err, a.closer.Close())
	}
	return a.finish(ctx, err)
}
