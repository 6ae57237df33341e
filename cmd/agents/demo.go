package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/cli"
	"github.com/cleveragents/agents/config"
	"github.com/cleveragents/agents/demo"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/llm/scripted"
	"github.com/cleveragents/agents/proc"
)

// runDemo makes a throw-away world: a directory with the demo project and data
// of its own, in which the demo's actors and action are registered.
func runDemo(ctx context.Context, keep bool, set config.Settings) (_ *cli.DemoWorld, err error) {
	top, err := os.MkdirTemp("", "agents-demo-")
	if err != nil {
		return nil, fault.New(fault.Unavailable, "demo: %w", err)
	}
	remove := func() error {
		if keep {
			return nil
		}
		return os.RemoveAll(top)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(top))
		}
	}()
	project := filepath.Join(top, "price")
	if err := os.Mkdir(project, 0o755); err != nil {
		return nil, fault.New(fault.Unavailable, "demo: %w", err)
	}
	if err := demo.Write(project); err != nil {
		return nil, err
	}
	client, closer, err := open(ctx, cli.Options{DataDir: filepath.Join(top, "data"), Settings: set})
	if err != nil {
		return nil, err
	}
	var why string
	if err := confinement(filepath.Join(top, "data"), "", proc.New(time.Now), set).Ready(ctx); err != nil {
		why = fault.As(err).Msg
	}
	if err := registerDemo(ctx, client, why != ""); err != nil {
		return nil, errors.Join(err, closer.Close())
	}
	programs := proc.New(time.Now)
	return &cli.DemoWorld{
		Client: client, Dir: project, Action: demo.Action, Kept: top, Open: why,
		Check: func(ctx context.Context) (string, bool, error) {
			res, err := programs.Run(ctx, proc.Command{
				Dir: project, Argv: []string{"sh", "test.sh"}, Env: proc.Env(nil), Timeout: time.Minute, MaxOutput: 1 << 16,
			})
			return string(res.Output), err == nil && res.Exit == 0, err
		},
		Close: func() error { return errors.Join(closer.Close(), remove()) },
	}, nil
}

// registerDemo adds the demo's actors and action as a user would.
func registerDemo(ctx context.Context, c a2a.Client, unconfined bool) error {
	for _, name := range demo.ActorFiles() {
		text, err := demo.Read(name)
		if err != nil {
			return err
		}
		if _, err := a2a.Call(ctx, c, a2a.ActorAdd(), a2a.ActorSource{File: name, Text: string(text)}, nil); err != nil {
			return err
		}
	}
	text, err := demo.Read(demo.ActionFile)
	if unconfined {
		text, err = demo.Unconfined()
	}
	if err != nil {
		return err
	}
	_, err = a2a.Call(ctx, c, a2a.ActionCreate(), a2a.ActionSource{File: demo.ActionFile, Text: string(text)}, nil)
	return err
}

// demoScript is what the scripted model says in the demonstration, read when it
// is first spoken to.
type demoScript struct{}

// Reply answers one request.
func (demoScript) Reply(r scripted.Request) (scripted.Reply, error) {
	text, err := demo.Read(demo.ScriptFile)
	if err != nil {
		return scripted.Reply{}, err
	}
	rules, err := scripted.Parse(demo.ScriptFile, text)
	if err != nil {
		return scripted.Reply{}, err
	}
	return rules.Reply(r)
}
