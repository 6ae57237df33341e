package local

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/tool"
)

// summary is a plan in one line.
func (f *Facade) summary(ctx context.Context, tx engine.Tx, p plan.Plan) (a2a.PlanSummary, error) {
	holder, err := tx.Holder(p.ID)
	if err != nil {
		return a2a.PlanSummary{}, err
	}
	marks, err := tx.Marks(p.ID)
	if err != nil {
		return a2a.PlanSummary{}, err
	}
	return a2a.PlanSummary{
		ID: p.ID, Name: p.Name, Action: p.Action.Name, Project: p.Project, Status: p.Status, Reason: p.Reason,
		Attempt: p.Attempt, Profile: p.Profile.Name, Created: p.Created.UTC().Format(time.RFC3339),
		Held:   holder != "" && f.Engine.Live.Alive(ctx, holder),
		Labels: engine.Labels(marks), Archived: marks[engine.MarkArchived] != "", Imported: marks[engine.MarkImported] != "",
	}, nil
}

// outcome tells where a plan is, why it stopped, and the exact commands with
// which a person goes on.
func (f *Facade) outcome(ctx context.Context, id ident.PlanID) (a2a.PlanOutcome, error) {
	var out a2a.PlanOutcome
	var p plan.Plan
	err := f.view(ctx, func(tx engine.Tx) (err error) {
		if p, err = tx.Plan(id); err != nil {
			return err
		}
		if out.Plan, err = f.summary(ctx, tx, p); err != nil {
			return err
		}
		out.Approvals, err = tx.Approvals(id, true)
		return err
	})
	if err != nil {
		return out, err
	}
	if out.Plan.Imported { // history: nothing goes on
		out.Changed, err = f.statsOf(ctx, p, true)
		return out, err
	}
	out.Next = f.next(ctx, p, out.Approvals)
	if p.Fault != "" && (p.State == plan.Errored || p.State == plan.Paused || p.State == plan.Blocked || p.State == plan.Constrained) {
		out.Fault = &a2a.FaultView{Kind: p.Fault, Message: p.Reason}
		if len(out.Next) > 0 {
			out.Fault.Hint = out.Next[0]
		}
		if p.State == plan.Errored && p.Hint != "" {
			out.Fault.Hint = p.Hint
		}
		if out.Fault.Output, err = f.failedOutput(ctx, p); err != nil {
			return out, err
		}
	}
	if p.State == plan.Cancelled {
		out.Fault = &a2a.FaultView{Kind: fault.Cancelled.String(), Message: p.Reason}
	}
	if out.Changed, err = f.statsOf(ctx, p, false); err != nil {
		return out, err
	}
	if n := len(p.Landed); n > 0 {
		out.Landed = &p.Landed[n-1]
		if p.State != plan.Applied {
			rest, err := f.Engine.ToApply(ctx, p.ID, nil)
			if err != nil {
				return out, err
			}
			out.Rest = len(rest)
		}
	}
	if out.Ungated, err = f.ungated(ctx, p); err != nil {
		return out, err
	}
	out.Answer, err = f.Engine.AnswerOf(ctx, p)
	return out, err
}

// ungated reports whether a plan that changes something is applied, or on the way
// there, without a required validation that ran.
func (f *Facade) ungated(ctx context.Context, p plan.Plan) (bool, error) {
	if p.Changed == "" || p.Phase != plan.PhaseApply && len(p.Landed) == 0 {
		return false, nil
	}
	passed := false
	err := f.view(ctx, func(tx engine.Tx) error {
		results, err := tx.Results(p.ID)
		for _, r := range results {
			passed = passed || r.Mode == tool.Required && r.Verdict == tool.Passed
		}
		return err
	})
	return !passed, err
}

// statsOf is how much the plan changes. Of an imported plan the files may have
// stayed where it was made.
func (f *Facade) statsOf(ctx context.Context, p plan.Plan, imported bool) ([]a2a.FileStat, error) {
	d, err := f.diff(ctx, p, nil)
	if imported && fault.Is(err, fault.NotFound) {
		return []a2a.FileStat{}, nil
	}
	return stats(d), err
}

// next is the commands that go on from where the plan is, best first.
func (f *Facade) next(ctx context.Context, p plan.Plan, approvals []plan.Approval) []string {
	cmd := func(format string, args ...any) string { return "agents " + fmt.Sprintf(format, args...) }
	switch p.State {
	case plan.Applied, plan.Cancelled:
		return nil
	case plan.Waiting:
		if p.WaitUntil != nil {
			break
		}
		var out []string
		for _, a := range approvals {
			if a.Kind != plan.ApproveGate {
				out = append(out, engine.AnswerCommand(a)+" && "+cmd("plan resume %s", p.ID), cmd("approval show %s", a.ID))
			}
		}
		if len(out) > 0 {
			return out
		}
		return f.begin(p, cmd)
	case plan.Queued, plan.Complete:
		return f.begin(p, cmd)
	case plan.Errored:
		again, on := cmd("plan retry %s", p.ID), cmd("plan resume %s", p.ID)
		if at := p.Execution; p.Phase == plan.PhaseExecute && !at.IsGraph() {
			again, on = on, again // a model may find the way by itself
		}
		return []string{again, on, cmd("plan show %s", p.ID)}
	case plan.Constrained:
		if at, err := f.Engine.Target.Stage(ctx, p.ID); err == nil && at == engine.StageHalf {
			return []string{cmd("plan apply %s --recover", p.ID), cmd("plan apply %s --abort", p.ID), cmd("plan diff %s", p.ID)}
		}
		return []string{cmd("plan diff %s", p.ID), cmd("plan apply %s", p.ID), cmd("plan apply %s --abort", p.ID), cmd("plan cancel %s", p.ID)}
	}
	return []string{cmd("plan resume %s", p.ID), cmd("plan show %s", p.ID)}
}

// begin is the command that enters the next phase, with what to look at first.
func (f *Facade) begin(p plan.Plan, cmd func(string, ...any) string) []string {
	switch p.Phase {
	case plan.PhaseAction:
		return []string{cmd("plan strategize %s", p.ID)}
	case plan.PhaseStrategize:
		return []string{cmd("plan execute %s", p.ID), cmd("plan tree %s", p.ID)}
	}
	return []string{cmd("plan apply %s", p.ID), cmd("plan diff %s", p.ID)}
}

func open(all []plan.Approval) []plan.Approval {
	var out []plan.Approval
	for _, a := range all {
		if a.State == plan.Open {
			out = append(out, a)
		}
	}
	return out
}

// maxFailedOutput bounds how much of a failed program's output is shown.
const maxFailedOutput = 4 << 10

// failedOutput is the end of what the program printed that the plan failed on:
// the newest required validation that did not pass, else the newest tool call
// that ended badly; "" when neither is why.
func (f *Facade) failedOutput(ctx context.Context, p plan.Plan) (string, error) {
	if p.Fault != fault.ValidationFailed.String() {
		return "", nil
	}
	blob := ""
	err := f.view(ctx, func(tx engine.Tx) error {
		results, err := tx.Results(p.ID)
		if err != nil {
			return err
		}
		if n := len(results); n > 0 && results[n-1].Verdict != tool.Passed {
			blob = results[n-1].Output
			return nil
		}
		calls, err := tx.ToolCalls(p.ID)
		if n := len(calls); n > 0 && calls[n-1].Status != tool.OK {
			blob = calls[n-1].Output
		}
		return err
	})
	if err != nil || blob == "" {
		return "", err
	}
	b, err := f.Engine.Blobs.Get(ctx, blob)
	if err != nil {
		return "", err
	}
	text := strings.ToValidUTF8(string(b), "\uFFFD")
	if len(text) > maxFailedOutput {
		text = text[len(text)-maxFailedOutput:]
		_, text, _ = strings.Cut(text, "\n") // begin with a whole line
	}
	return text, nil
}
