// Command agents is a command centre for AI agents: it turns a task into a plan
// that decides, works in a sandbox, and applies what passed.
//
// This file only starts the command line; wire.go puts the rooms together.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/cli"
	"github.com/cleveragents/agents/jail"
	"github.com/cleveragents/agents/proc"
)

func main() { os.Exit(run()) }

func run() int {
	jail.Enter(os.Args) // a program that is to be confined starts as this one
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// A reader that is gone is an error of the write, not the end of the
	// process: what was begun is put away. Nobody listens to the channel; the
	// children get the default back.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	width, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		width = 0 // not a terminal: the command line has a default
	}
	return cli.Main(context.Background(), os.Args[1:], cli.Env{
		Open: func(ctx context.Context, o cli.Options) (a2a.Client, io.Closer, error) {
			return open(ctx, o)
		},
		Demo:      runDemo,
		Stdin:     os.Stdin,
		Stdout:    os.Stdout,
		Stderr:    os.Stderr,
		StdinTTY:  term.IsTerminal(int(os.Stdin.Fd())),
		StdoutTTY: term.IsTerminal(int(os.Stdout.Fd())),
		StderrTTY: term.IsTerminal(int(os.Stderr.Fd())),
		Width:     width,
		Now:       time.Now,
		Getenv:    os.Getenv,
		Getwd:     os.Getwd,
		ReadFile:  readFile,
		IsDir:     isDir,
		Create:    createFile,
		OpenFile:  openFile,

		ReadConfig: readConfig,
		Vars:       proc.Vars,
		Edit:       editText,

		Signals: signals,
		Version: version(),
	})
}
