package local

import (
	"context"
	"encoding/json"
	"time"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/policy"
	"github.com/cleveragents/agents/resource"
)

func (f *Facade) sandboxHandlers() []a2a.Handler {
	return []a2a.Handler{a2a.Handle(a2a.SandboxExec(), f.sandboxExec)}
}

func (f *Facade) sandboxExec(ctx context.Context, q a2a.SandboxExecRequest, emit func(plan.Event)) (v a2a.SandboxExecView, err error) {
	if len(q.Argv) == 0 || q.Argv[0] == "" {
		return v, fault.New(fault.Invalid, "no program is named")
	}
	if q.Plan != "" && q.Project != "" {
		return v, fault.New(fault.Invalid, "give either a plan or a project")
	}
	var network policy.Network
	if q.Network != "" {
		if network, err = policy.ParseNetwork(q.Network); err != nil {
			return v, err
		}
	}
	x := engine.Exec{Argv: q.Argv, ReadOnly: q.ReadOnly, Out: tells{emit, f.Engine.Now}}
	var out engine.ExecOutcome
	var set plan.ChangeSet
	if q.Plan != "" {
		p, err := f.plan(ctx, q.Plan)
		if err != nil {
			return v, err
		}
		if out, err = f.Engine.Look(ctx, p, network, x); err != nil {
			return v, err
		}
	} else {
		r, err := f.firstResource(ctx, q.Project)
		if err != nil {
			return v, err
		}
		if out, set, err = f.Engine.Try(ctx, r, network, x); err != nil {
			return v, err
		}
	}
	d, err := f.show(ctx, a2a.DiffView{}, set)
	return a2a.SandboxExecView{Exit: out.Exit, Backend: out.Backend, Stopped: out.Stopped, Refused: out.Refused, Changed: stats(d)}, err
}

// firstResource is the resource whose tree programs of the project's plans see.
func (f *Facade) firstResource(ctx context.Context, ref string) (r resource.Resource, err error) {
	name, err := f.projectName(ctx, ref)
	if err != nil {
		return r, err
	}
	err = f.view(ctx, func(tx engine.Tx) error {
		p, err := tx.Project(name)
		if err != nil {
			return err
		}
		if len(p.Links) == 0 {
			return fault.New(fault.NotFound, "project %s has no linked resource", name).
				WithHint("agents init DIR, or agents resource add … and agents project link-resource %s …", name)
		}
		r, err = tx.Resource(p.Links[0].Resource)
		return err
	})
	return r, err
}

// tells sends what a program prints as events.
type tells struct {
	emit func(plan.Event)
	now  func() time.Time
}

func (t tells) Write(b []byte) (int, error) {
	if t.emit == nil {
		return len(b), nil
	}
	data, err := json.Marshal(a2a.SandboxOutput{Bytes: b})
	if err != nil {
		return 0, err
	}
	t.emit(plan.Event{At: t.now(), Type: "sandbox.output", Data: data})
	return len(b), nil
}
