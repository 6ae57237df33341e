package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/crash"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/policy"
	"github.com/cleveragents/agents/tool"
)

func required(v tool.Validation) bool { return v.Mode == tool.Required }

// passes reports whether a verdict lets the work through. A validation that
// was skipped because its command is empty was not asked for.
func passes(v tool.Verdict) bool { return v == tool.Passed || v == tool.Skipped }

// lastResult is the newest result of a validation for a change set.
func (r *run) lastResult(name, hash string) (evidence.ValidationResult, bool) {
	for _, res := range slices.Backward(r.results) {
		if res.Name == name && res.Attempt == r.p.Attempt && res.ChangeSet == hash {
			return res, true
		}
	}
	return evidence.ValidationResult{}, false
}

// stepValidation runs the next validation that has no result for the change
// set as it is now, in this round; it returns false when none is left.
func (r *run) stepValidation(ctx context.Context) (bool, error) {
	hash := r.changed.Hash()
	for _, v := range r.p.Action.Validations {
		res, ok := r.lastResult(v.Name, hash)
		if ok && (passes(res.Verdict) || res.Round == r.p.Fixes) {
			continue
		}
		return true, r.validate(ctx, v, hash)
	}
	return false, nil
}

// validate runs one validation in the sandbox and records its verdict. A
// validation only looks: whatever it changes is put back.
func (r *run) validate(ctx context.Context, v tool.Validation, hash string) error {
	return r.validateThen(ctx, v, hash, nil)
}

// validateThen calls after, if it is not nil, between the look and its record.
func (r *run) validateThen(ctx context.Context, v tool.Validation, hash string, after func() error) error {
	res := evidence.ValidationResult{
		ID: ident.ResultID(r.IDs.New()), Plan: r.p.ID, Attempt: r.p.Attempt, Round: r.p.Fixes,
		Name: v.Name, Mode: v.Mode, ChangeSet: hash, Started: r.Now(),
	}
	out, g, err := r.check(ctx, v)
	if after != nil {
		err = errors.Join(err, after())
	}
	if err != nil {
		return err
	}
	crash.Point("engine.validated")
	res.Verdict, res.Exit, res.Message, res.Finished = out.Verdict, out.Exit, out.Message, r.Now()
	res.Backend = out.Backend
	if res.Output, err = r.put(ctx, out.Output); err != nil {
		return err
	}
	ev := r.event(r.p.ID, "validation.finished", fields{
		"name": v.Name, "mode": v.Mode, "verdict": res.Verdict, "message": res.Message,
	})
	next := r.p
	next.Checking = false
	err = r.commit(ctx, next, func(tx Tx) error {
		if g != nil {
			if err := tx.InsertGap(g); err != nil {
				return err
			}
		}
		return tx.InsertResult(res)
	}, ev)
	if err == nil {
		r.results = append(r.results, res)
	}
	return err
}

// check runs the program of a validation. The plan says meanwhile that one is
// running, so that what a killed one left is not taken for a person's work.
// The gap tells what it changed.
func (r *run) check(ctx context.Context, v tool.Validation) (out CheckOutcome, g *evidence.Gap, err error) {
	values := r.values()
	if v.Command, err = actor.Expand(v.Command, values); err != nil {
		return out, nil, fault.New(fault.Invalid, "validation %s: %w", v.Name, err)
	}
	v.Argv = slices.Clone(v.Argv)
	for i := range v.Argv {
		if v.Argv[i], err = actor.Expand(v.Argv[i], values); err != nil {
			return out, nil, fault.New(fault.Invalid, "validation %s: %w", v.Name, err)
		}
	}
	if strings.TrimSpace(v.Command) == "" && len(v.Argv) == 0 {
		return CheckOutcome{Verdict: tool.Skipped, Message: "no command was given"}, nil, nil
	}
	box, err := r.sandbox(ctx)
	if err != nil {
		return out, nil, err
	}
	next := r.p
	next.Checking = true
	if err := r.commit(ctx, next, nil); err != nil {
		return out, nil, err
	}
	out, err = r.Checker.Check(ctx, r.place(box), v)
	if ctx.Err() != nil {
		return out, nil, ctx.Err()
	}
	if err != nil {
		return out, nil, fmt.Errorf("validation %s: %w", v.Name, err)
	}
	crash.Point("engine.checked")
	g, err = r.putBack(ctx, box, evidence.GapUntracked, "something was changed while validation "+v.Name+" ran")
	return out, g, err
}

// judgement is what the verdicts mean for the phase.
type judgement int

const (
	goOn   judgement = iota // nothing stands in the way
	workOn                  // the actor goes back to work
	halt                    // a person, or the end
)

// judge looks at the verdicts of this round. A required validation that did not
// pass goes back to the actor as often as the profile allows; then the plan
// stops.
func (r *run) judge(ctx context.Context) (judgement, error) {
	bad := r.failing()
	if len(bad) == 0 {
		return goOn, nil
	}
	names := bad[0].Name
	for _, b := range bad[1:] {
		names += ", " + b.Name
	}
	said := fmt.Sprintf("required validation %s: %s", names, bad[0].Message)
	if _, ok := r.lastWorker(); !ok {
		return halt, r.fail(ctx, fault.ValidationFailed, "%s", said)
	}
	if r.p.Fixes >= r.p.Profile.Safety.MaxRetriesPerStep && !r.p.FixGiven {
		return halt, r.fail(ctx, fault.ValidationFailed, "%s; still so in round %d of fixing", said, r.p.Fixes)
	}
	subject := fmt.Sprintf("%s/%d", r.p.Phase, r.p.Fixes)
	granted, err := r.grant(ctx, plan.ApproveFix, subject, r.changed.Hash())
	if err != nil {
		return halt, err
	}
	if granted == nil && !r.p.FixGiven && !r.p.Profile.Auto(policy.FixValidation, policy.Confidence{}) {
		if r.p.NoInput {
			return halt, r.fail(ctx, fault.ValidationFailed, "%s", said)
		}
		return halt, r.ask(ctx, plan.Approval{
			Kind: plan.ApproveFix, Subject: subject, Bound: r.changed.Hash(),
			Summary: "let the actor try to fix " + said,
		}, nil)
	}
	text, err := r.failureText(ctx, bad)
	if err != nil {
		return halt, err
	}
	next := r.p
	next.Fixes++
	next.FixGiven = false
	r.sendBack(&next, "validation", "validation:"+string(bad[0].ID), text)
	return workOn, r.commit(ctx, next, func(tx Tx) error { return spend(tx, granted) }, r.event(r.p.ID, "validation.fix", fields{"round": next.Fixes, "validations": names}))
}

// failing are the required validations whose newest result does not pass.
func (r *run) failing() []evidence.ValidationResult {
	var bad []evidence.ValidationResult
	hash := r.changed.Hash()
	for _, v := range r.p.Action.Validations {
		if res, ok := r.lastResult(v.Name, hash); ok && required(v) && !passes(res.Verdict) {
			bad = append(bad, res)
		}
	}
	return bad
}

// maxFailureText bounds what of one validation's output goes to the actor.
const maxFailureText = 8 << 10

func (r *run) failureText(ctx context.Context, bad []evidence.ValidationResult) (string, error) {
	var b strings.Builder
	for _, res := range bad {
		out, err := r.blob(ctx, res.Output)
		if err != nil {
			return "", err
		}
		text := strings.ToValidUTF8(string(out), "\uFFFD")
		if len(text) > maxFailureText {
			text = "…" + strings.ToValidUTF8(text[len(text)-maxFailureText:], "")
		}
		fmt.Fprintf(&b, "The required validation %s did not pass (%s): %s\n%s\n", res.Name, res.Verdict, res.Message, text)
	}
	b.WriteString("Find the cause, fix it, and finish again.")
	return b.String(), nil
}
