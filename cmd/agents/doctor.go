package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/proc"
	"github.com/cleveragents/agents/sandbox"
)

// doctor looks at what a plan needs from the machine and tells the way out of
// each problem. It writes one blob and reads it back, and removes unfinished files
// of blobs that a crash left.
func (w *world) doctor(ctx context.Context) []a2a.Finding {
	out := []a2a.Finding{
		{Name: "program", Level: "ok", Detail: fmt.Sprintf("agents %s, %s, %s/%s", release, runtime.Version(), runtime.GOOS, runtime.GOARCH)},
		{
			Name: "sandbox", Level: "warning",
			Detail: "backend " + sandbox.Backend + ": tools work in a private copy of the project, but a program that a tool starts runs with your rights and could reach other files and the network",
			Fix:    "where you do not trust the actor, give the action a safety_profile with require_human_approval: true, which asks before every step (agents help safety)",
		},
	}
	s, err := w.db.Status(ctx)
	switch {
	case err != nil:
		out = append(out, problem("store", err, "agents db status --check"))
	case len(s.Problems) > 0:
		out = append(out, a2a.Finding{Name: "store", Level: "problem", Detail: s.Where + ": " + s.Problems[0], Fix: "restore the file from a backup; nothing was deleted"})
	default:
		out = append(out, a2a.Finding{Name: "store", Level: "ok", Detail: fmt.Sprintf("%s, schema %d, %d bytes", s.Where, s.Schema, s.Bytes)})
	}
	if hash, err := w.blobs.Put(ctx, []byte("doctor\n")); err != nil {
		out = append(out, problem("blobs", err, "free space, or make "+w.paths.Blobs+" writable"))
	} else if _, err := w.blobs.Get(ctx, hash); err != nil {
		out = append(out, problem("blobs", err, "check the disk that holds "+w.paths.Blobs))
	} else {
		out = append(out, a2a.Finding{Name: "blobs", Level: "ok", Detail: w.paths.Blobs})
	}
	// A file that is being written now is younger than an hour.
	if n, err := w.blobs.Sweep(ctx, time.Now().Add(-time.Hour)); err != nil {
		out = append(out, problem("leftovers", err, "check the disk that holds "+w.paths.Blobs))
	} else if n > 0 {
		out = append(out, a2a.Finding{Name: "leftovers", Level: "ok", Detail: fmt.Sprintf("removed %d unfinished files that a crash had left", n)})
	}
	for _, name := range []string{"sh", "git"} {
		path, err := proc.Lookup(name)
		switch {
		case err == nil:
			out = append(out, a2a.Finding{Name: name, Level: "ok", Detail: path})
		case name == "sh":
			out = append(out, problem(name, err, "the shell tool and validations need a POSIX shell on PATH"))
		default:
			out = append(out, a2a.Finding{Name: name, Level: "ok", Detail: "not found; nothing needs it"})
		}
	}
	return append(out, a2a.Finding{
		Name: "models", Level: "ok",
		Detail: "scripted (no key, no network); actions without a model, such as builtin/command, need none",
	})
}

func problem(name string, err error, fix string) a2a.Finding {
	f := fault.As(err)
	if f.Hint != "" {
		fix = f.Hint
	}
	return a2a.Finding{Name: name, Level: "problem", Detail: f.Msg, Fix: fix}
}
