package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/crash"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

// stepModel lets a model actor take its next turn: compose, call, store the
// answer, and only then look at it.
func (r *run) stepModel(ctx context.Context) (bool, error) {
	if r.answerReady() {
		return r.readAnswer(ctx, *r.lastCall())
	}
	if !r.callOpen() {
		if stop, err := r.callLimits(ctx); stop || err != nil {
			return stop, err
		}
	}
	if err := r.heed(ctx); err != nil {
		return false, err
	}
	next, err := r.compose(ctx)
	if err != nil {
		return false, err
	}
	if next.over > 0 {
		w := r.worker()
		return true, r.pause(ctx, fault.Exhausted, "the prompt for %s/%s cannot be made small enough: %d tokens more than the %d that it may have cannot be left out (%s)",
			w.Provider, w.Name, next.over, r.budget(w), next.why)
	}
	c, err := r.openCall(ctx, next)
	if err != nil {
		return false, err
	}
	return r.makeCall(ctx, c, next.req)
}

// answerReady reports whether the worker's last word is an answer that nothing
// has come after.
func (r *run) answerReady() bool {
	last := r.lastCall()
	return last != nil && last.Answered() && !r.spokenTo(last.Turn)
}

// callOpen reports whether the last call was cut short before anything came of
// it. It is made again under its own number, within the limits that let it
// begin.
func (r *run) callOpen() bool {
	last := r.lastCall()
	return last != nil && !last.Answered() && last.Error == ""
}

// callLimits pauses the plan where no more calls may be made.
func (r *run) callLimits(ctx context.Context) (stop bool, err error) {
	if r.p.Repairs > maxRepairs {
		return true, r.pause(ctx, fault.Exhausted, "%d turns in a row were no use: %s", r.p.Repairs, r.lastTrouble(ctx))
	}
	w := r.worker()
	if r.turnsTaken() >= w.Turns() {
		return true, r.pause(ctx, fault.Exhausted, "%s made %d model calls, its limit", r.workerName(), w.Turns())
	}
	most := r.p.Profile.Safety.MaxCostPerPlan
	if most == nil {
		return false, nil
	}
	if !(r.cost() < *most) {
		return true, r.block(ctx, "the plan has spent $%.4f of $%.4f", r.cost(), *most)
	}
	if _, known := r.price(w.Provider, w.Name, actor.Usage{}); !known {
		// A limit that cannot be kept must not look as if it were.
		return true, r.block(ctx, "the plan may spend $%.4f, and the price of %s/%s is not known", *most, w.Provider, w.Name)
	}
	return false, nil
}

// price is what a call costs in USD, and whether that is known.
func (r *run) price(provider, model string, u actor.Usage) (usd float64, known bool) {
	if r.Price == nil {
		return 0, false
	}
	return r.Price(provider, model, u)
}

// spokenTo reports whether something was said to the worker since its turn, or
// the turn asked for tools whose results it has not seen.
func (r *run) spokenTo(turn int) bool {
	for _, in := range r.p.Inputs {
		if r.isWorkers(in.Phase, in.Attempt, in.Node) && in.After >= turn {
			return true
		}
	}
	for _, t := range r.phaseToolCalls() {
		if t.Turn == turn {
			return true
		}
	}
	return false
}

// openCall records that a call is about to be made. One that was recorded and
// has neither answer nor error was cut short by a crash: it is made again
// under its own number.
func (r *run) openCall(ctx context.Context, n composed) (evidence.Call, error) {
	left, err := r.putLeftOut(ctx, n.left)
	if err != nil {
		return evidence.Call{}, err
	}
	last := r.lastCall()
	if r.callOpen() {
		c := *last
		c.RequestKey, c.LeftOut = n.key, left
		return c, nil
	}
	next := r.p
	next.Turn++
	c := evidence.Call{
		ID: ident.CallID(r.IDs.New()), Plan: next.ID, Phase: next.Phase, Attempt: next.Attempt, Turn: next.Turn,
		Node: r.p.Node, Actor: r.actorNow().Name, Provider: n.req.Provider, Model: n.req.Model,
		RequestKey: n.key, LeftOut: left, Started: r.Now(),
	}
	var events []plan.Event
	if left != "" && (last == nil || last.LeftOut != left) {
		events = append(events, r.event(next.ID, "prompt.cut", fields{
			"turn": c.Turn, "turns": n.left.Turns, "results": n.left.Results,
			"tokens": n.cut.sent, "whole": n.cut.all, "budget": n.cut.budget,
		}))
	}
	events = append(events, r.event(next.ID, "call.started", fields{"turn": c.Turn, "model": c.Provider + "/" + c.Model, "actor": c.Actor}))
	err = r.commitRelaxed(ctx, next, func(tx Tx) error { return tx.InsertCall(c) }, events...)
	if err == nil {
		r.calls = append(r.calls, c)
	}
	return c, err
}

// makeCall calls the model and stores what came of it.
func (r *run) makeCall(ctx context.Context, c evidence.Call, req actor.Request) (bool, error) {
	started := r.Now()
	calling, stop := r.listen(ctx)
	resp, err := r.generate(calling, req)
	spoken := stop()
	if ctx.Err() != nil {
		return false, ctx.Err() // the call stays open and is made again
	}
	if err != nil && spoken {
		return false, r.commit(ctx, r.p, nil, r.event(r.p.ID, "call.cut", fields{"turn": c.Turn, "reason": "a person has something to say"}))
	}
	crash.Point("engine.answered")
	if err != nil {
		return r.callFailed(ctx, c, err)
	}
	if c.Manifest, c.Request, err = r.manifest(ctx, resp, req); err != nil {
		return false, err
	}
	c.Resolved, c.Stop, c.Usage, c.Attempts = resp.Model, resp.Stop, resp.Usage, max(resp.Wire.Attempts, 1)
	c.Cost, c.Priced = r.price(c.Provider, c.Model, c.Usage)
	if c.Response, err = r.put(ctx, resp.Wire.Response); err != nil {
		return false, err
	}
	for i := range resp.Message.Pieces {
		resp.Message.Pieces[i].Slot, resp.Message.Pieces[i].Origin = "message", "call:"+string(c.ID)
	}
	message, err := json.Marshal(resp)
	if err != nil {
		return false, fault.New(fault.Internal, "encode answer: %w", err)
	}
	if c.Message, err = r.put(ctx, message); err != nil {
		return false, err
	}
	c.Finished = r.finished()
	ev := r.event(r.p.ID, "call.finished", fields{
		"turn": c.Turn, "model": c.Provider + "/" + c.Model, "input": c.Usage.Input, "output": c.Usage.Output,
		"stop": c.Stop, "ms": r.elapsed(started),
	})
	next := r.p
	next.ThrottledSince = nil
	if err := r.storeCall(ctx, next, c, ev); err != nil {
		return false, err
	}
	crash.Point("engine.recorded")
	return false, nil
}

func (r *run) storeCall(ctx context.Context, next plan.Plan, c evidence.Call, ev plan.Event) error {
	err := r.commit(ctx, next, func(tx Tx) error { return tx.UpdateCall(c) }, ev)
	if err != nil {
		return err
	}
	for i := range r.calls {
		if r.calls[i].ID == c.ID {
			r.calls[i] = c
		}
	}
	return nil
}

// generate calls the model, trying again after a transient failure as often as
// the profile allows. The text is told as it comes and not stored twice.
func (r *run) generate(ctx context.Context, req actor.Request) (actor.Response, error) {
	progress := func(delta string) {
		r.tell(r.event(r.p.ID, "model.text", fields{"text": delta}))
	}
	for try := 0; ; try++ {
		resp, err := r.Model.Generate(ctx, req, progress)
		_, long := r.longWait(err)
		if err == nil || long || !fault.Is(err, fault.Unavailable) || try >= r.retries() || ctx.Err() != nil {
			resp.Wire.Attempts = try + 1
			return resp, err
		}
		wait := backoff(try, err)
		r.tell(r.event(r.p.ID, "call.retry", fields{"try": try + 1, "wait_ms": wait.Milliseconds(), "error": fault.As(err).Msg}))
		if err := r.sleep(ctx, wait); err != nil {
			return actor.Response{}, err
		}
	}
}

// manifest stores what each byte of the request was and checks that what was
// composed is what was sent: the wire check. It returns the manifest's blob and
// the hash of the bytes that were sent.
func (r *run) manifest(ctx context.Context, resp actor.Response, req actor.Request) (blob, sent string, err error) {
	got, err := r.requests.Next(resp.Wire.Request, req)
	if err != nil {
		return "", "", fmt.Errorf("wire check: %w", err)
	}
	if missing := got.Mismatches; len(missing) > 0 {
		return "", "", fault.New(fault.Corrupt, "wire check: %d of %d parts of the request are not in the bytes that were sent, first %s: %s",
			len(missing), len(got.Parts), nameOf(got.Parts, missing[0].Part), missing[0].Why).WithCode("WireCheck")
	}
	for _, t := range got.Fresh {
		if _, known := r.cache[t.Blob]; known {
			continue
		}
		if _, err := r.put(ctx, []byte(t.Text)); err != nil {
			return "", "", err
		}
	}
	body, err := json.Marshal(got.Manifest)
	if err != nil {
		return "", "", fault.New(fault.Internal, "encode manifest: %w", err)
	}
	if blob, err = r.put(ctx, body); err != nil {
		return "", "", err
	}
	r.requests.Stored(blob)
	return blob, got.Manifest.Body, nil
}

func nameOf(parts []evidence.Part, i int) string {
	if i < 0 || i >= len(parts) {
		return "?"
	}
	return parts[i].Slot + " " + parts[i].Origin
}

// callFailed records a call without an answer. What the model itself did wrong
// is said back to it a bounded number of times; anything else pauses the plan.
func (r *run) callFailed(ctx context.Context, c evidence.Call, cause error) (bool, error) {
	f := fault.As(cause)
	if wait, long := r.longWait(cause); long {
		return r.throttle(ctx, c, wait, f)
	}
	c.Error, c.Finished = f.Msg, r.finished()
	ev := r.event(r.p.ID, "call.failed", fields{"turn": c.Turn, "error": f.Msg, "kind": f.Kind.String()})
	next := r.p
	if _, account := f.Details["status"]; f.Kind == fault.Exhausted && !account {
		next.Repairs++
		next.Inputs = r.said(next.Turn, "repair", "call:"+string(c.ID), "Your last answer was not taken: "+f.Msg+". Answer again, shorter.")
		return false, r.storeCall(ctx, next, c, ev)
	}
	if err := r.storeCall(ctx, next, c, ev); err != nil {
		return false, err
	}
	return true, r.pause(ctx, f.Kind, "model %s/%s: %s", c.Provider, c.Model, f.Msg)
}

// said adds an input after that turn to those of the plan.
func (r *run) said(turn int, slot, origin, text string) []plan.Input {
	return append(append([]plan.Input{}, r.p.Inputs...), plan.Input{
		Phase: r.p.Phase, Attempt: r.p.Attempt, Node: r.p.Node, After: turn, Slot: slot, Origin: origin, Text: text,
	})
}

// readAnswer handles an answer that asks for no tool: the actor says that it is
// done, unless it has not done what the phase is for.
func (r *run) readAnswer(ctx context.Context, c evidence.Call) (bool, error) {
	resp, err := r.response(ctx, c)
	if err != nil {
		return false, err
	}
	next := r.p
	repair, last := "", true
	n, inGraph := r.actorNow().Node(r.p.Node)
	if inGraph {
		s, err := r.reduced(ctx, n, textOutcome(resp.Message.Text()))
		switch to, _ := r.actorNow().After(n.ID, true, s); {
		case fault.Is(err, fault.Invalid) && resp.Stop != actor.StopLength:
			repair = "Your answer cannot be kept: " + fault.As(err).Msg + ". Answer again, with that and nothing else."
		case err != nil && !fault.Is(err, fault.Invalid):
			return true, r.failBy(ctx, n, err)
		default:
			last = to == actor.End
		}
	}
	switch {
	case repair != "":
	case resp.Stop == actor.StopLength:
		repair = "Your last answer was cut at the length limit. Go on from there."
	case resp.Stop == actor.StopRefused:
		// Said for the next turn, so that a resume asks again.
		next.Inputs = r.said(next.Turn, "repair", "engine:"+string(r.p.Phase),
			"Your last answer was a refusal. A person looked at it and wants you to go on: do what you can of the task, or say what stands in the way.")
		return true, r.pauseAt(ctx, next, fault.Blocked, "the model refused: %s", clip(resp.Message.Text(), 200))
	case r.p.Phase == plan.PhaseStrategize && last && !r.hasStrategy():
		repair = "No strategy is recorded yet. Record at least one strategy_choice with the record_decision tool before you finish."
	case strings.TrimSpace(resp.Message.Text()) == "" && r.p.Phase == plan.PhaseExecute && !r.didAnything():
		repair = "Your last answer was empty and nothing has been done yet. Do the task with the tools, or say why it cannot be done."
	}
	if repair == "" {
		next.Repairs = 0
		if inGraph {
			return r.leaveNode(ctx, next, n, textOutcome(resp.Message.Text()), true)
		}
		next.ActorEnd = true
		return false, r.commit(ctx, next, nil)
	}
	next.Repairs++
	next.Inputs = r.said(next.Turn, "repair", "engine:"+string(r.p.Phase), repair)
	return false, r.commit(ctx, next, nil)
}

func (r *run) hasStrategy() bool {
	for _, d := range r.decisions {
		if d.Phase == plan.PhaseStrategize && d.Type == plan.StrategyChoice && d.Superseded == "" {
			return true
		}
	}
	return false
}

func (r *run) didAnything() bool { return len(r.phaseToolCalls()) > 0 }

// lastTrouble is the latest reason why a turn was no use: a call that was
// refused or what the actor was told.
func (r *run) lastTrouble(ctx context.Context) string {
	said, after := "", -1
	for _, in := range r.p.Inputs {
		if in.Slot == "repair" && in.Phase == r.p.Phase && in.Attempt == r.p.Attempt {
			said, after = in.Text, in.After
		}
	}
	for _, t := range slices.Backward(r.phaseToolCalls()) {
		if t.Turn < after {
			break
		}
		if !useless(t) {
			continue
		}
		if out, err := r.blob(ctx, t.Output); err == nil {
			return clip(t.Tool, 80) + ": " + clip(lastLine(string(out)), 200)
		}
	}
	if said != "" {
		return clip(said, 200)
	}
	return "see agents plan show " + string(r.p.ID)
}

// clip shortens s to at most n bytes at a letter's edge.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	cut := strings.ToValidUTF8(s[:n], "")
	return cut + "…"
}
