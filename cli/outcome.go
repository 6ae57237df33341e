package cli

import (
	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

// goal is what was ordered: how far a plan has to get for exit 0.
type goal int

const (
	toStop       goal = iota // wherever the profile lets it stop between phases
	toStrategize             // Strategize is done
	toExecute                // Execute is done
	toApplied                // the changes are in the real resource
	toRecorded               // the order itself is recorded; the plan may be anywhere
)

// verdict returns nil when the plan got as far as was ordered, and otherwise
// the fault that tells why it stopped, with the exit status of its kind.
func verdict(o a2a.PlanOutcome, g goal) error {
	if g == toRecorded {
		return nil
	}
	if d := o.DryRun; d != nil {
		if d.Stop == nil {
			return nil
		}
		return fault.New(kindNamed(d.Stop.Kind), "%s", d.Stop.Message).WithHint("%s", d.Stop.Hint)
	}
	if o.Fault != nil && o.Plan.State != plan.Applied {
		e := fault.New(kindNamed(o.Fault.Kind), "%s", o.Fault.Message)
		if o.Fault.Hint != "" {
			e = e.WithHint("%s", o.Fault.Hint)
		}
		if e.Kind == fault.Waiting && reached(o, g) {
			return nil
		}
		return e
	}
	if reached(o, g) {
		return nil
	}
	why := o.Plan.Reason
	if why == "" {
		why = "plan " + o.Plan.Name + " is " + o.Plan.Status.String()
	}
	switch o.Plan.State {
	case plan.Cancelled:
		return fault.New(fault.Cancelled, "%s", why)
	case plan.Blocked:
		return fault.New(fault.Blocked, "%s", why)
	case plan.Constrained:
		return fault.New(fault.Conflict, "%s", why)
	case plan.Errored:
		return fault.New(fault.Internal, "%s", why)
	}
	return fault.New(fault.Waiting, "%s", why)
}

// reached reports whether the plan got as far as g.
func reached(o a2a.PlanOutcome, g goal) bool {
	switch o.Plan.State {
	case plan.Errored, plan.Blocked, plan.Constrained, plan.Cancelled:
		return false
	}
	done := betweenPhases(o)
	switch g {
	case toStop:
		return done || o.Plan.State == plan.Applied
	case toStrategize:
		return done && o.Plan.Phase == plan.PhaseStrategize || after(o.Plan.Phase, plan.PhaseStrategize)
	case toExecute:
		return done && o.Plan.Phase == plan.PhaseExecute || after(o.Plan.Phase, plan.PhaseExecute)
	}
	return o.Plan.State == plan.Applied || o.Partial
}

// betweenPhases reports whether the plan stands between two phases: the work of its
// phase is done and at most the gate to the next one is closed.
func betweenPhases(o a2a.PlanOutcome) bool {
	switch o.Plan.State {
	case plan.Queued, plan.Complete:
		return true
	case plan.Waiting:
		for _, a := range o.Approvals {
			if a.Kind != plan.ApproveGate {
				return false
			}
		}
		return len(o.Approvals) > 0
	}
	return false
}

func after(p, than plan.Phase) bool { return rank(p) > rank(than) }

func rank(p plan.Phase) int {
	for i, q := range []plan.Phase{plan.PhaseAction, plan.PhaseStrategize, plan.PhaseExecute, plan.PhaseApply} {
		if p == q {
			return i
		}
	}
	return -1
}

// kindNamed returns the kind of that name; Internal for an unknown one.
func kindNamed(name string) fault.Kind {
	for k, m := range fault.Table() {
		if m.Name == name {
			return fault.Kind(k)
		}
	}
	return fault.Internal
}

// outcomeOutput is where a plan is now.
func outcomeOutput(o a2a.PlanOutcome) output {
	return output{schema: "agents.plan-outcome.v1", data: o, next: o.Next, human: func(p *printer) {
		p.printf("%s %s %s %s", p.bold(o.Plan.Name), p.dim(p.short(string(o.Plan.ID))), stateWord(p.styles, o.Plan.Status), heldWord(o.Plan.Held))
		if o.Fault != nil {
			p.field("stopped", o.Fault.Message)
			p.block("output", o.Fault.Output)
		} else {
			p.field("reason", o.Plan.Reason)
		}
		for _, a := range o.Approvals {
			p.field("approval", p.short(string(a.ID))+" "+a.Summary)
		}
		fileStats(p, o.Changed)
		landing(p, o)
		p.block("answer", o.Answer)
	}}
}

// landing tells what an apply did, or would do.
func landing(p *printer, o a2a.PlanOutcome) {
	if o.Already {
		p.printf("%s", p.note("already applied; nothing was done"))
	}
	if o.Ungated {
		p.field("validations", p.warn("ungated (no required validation)"))
	}
	if l := o.Landed; l != nil {
		if l.Commit != "" {
			p.field("commit", l.Commit[:min(12, len(l.Commit))]+" on "+l.Ref)
		}
		for _, note := range l.Notes {
			p.field("note", note)
		}
		for _, path := range l.Left {
			p.field("yours", path+" stays as you have it")
		}
	}
	if o.Rest > 0 {
		p.field("left", plural(o.Rest, "changed file")+" stay in the plan: agents plan apply "+string(o.Plan.ID))
	}
	d := o.DryRun
	if d == nil {
		return
	}
	p.field("dry run", plural(len(d.Files), "file")+" would be applied")
	fileStats(p, d.Files)
	if d.Rest > 0 {
		p.field("left", plural(d.Rest, "changed file")+" would stay in the plan")
	}
}

// stateWord paints phase/state by how much it needs a person.
func stateWord(st styles, s plan.Status) safe {
	switch s.State {
	case plan.Applied, plan.Complete:
		return st.good(s)
	case plan.Waiting, plan.Paused, plan.Blocked:
		return st.warn(s)
	case plan.Errored, plan.Constrained, plan.Cancelled:
		return st.bad(s)
	}
	return st.note(s)
}

func heldWord(held bool) string {
	if held {
		return "(being run)"
	}
	return ""
}
