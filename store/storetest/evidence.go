package storetest

import (
	"testing"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

func testDecisions(t *testing.T, w *world) {
	p := w.plans[0]
	a, b, c := w.decision(t, p), w.decision(t, p), w.decision(t, p)
	b.Parent, c.Parent = a.ID, b.ID
	w.update(t, func(tx engine.Tx) error {
		if err := tx.InsertDecision(&a, nil); err != nil {
			return err
		}
		if err := tx.InsertDecision(&b, []ident.DecisionID{a.ID}); err != nil {
			return err
		}
		return tx.InsertDecision(&c, []ident.DecisionID{b.ID, a.ID, b.ID}) // one edge, however often it is named
	})
	if a.Seq != 1 || b.Seq != 2 || c.Seq != 3 {
		t.Errorf("got seq %d, %d, %d, want 1, 2, 3", a.Seq, b.Seq, c.Seq)
	}
	edges := []plan.Influence{{Up: a.ID, Down: b.ID}, {Up: a.ID, Down: c.ID}, {Up: b.ID, Down: c.ID}}
	w.view(t, func(tx engine.Tx) error {
		same(t, "decisions", []plan.Decision{a, b, c}, func() ([]plan.Decision, error) { return tx.Decisions(p.ID) })
		same(t, "decision", c, func() (plan.Decision, error) { return tx.Decision(c.ID) })
		same(t, "influences", edges, func() ([]plan.Influence, error) { return tx.Influences(p.ID) })
		same(t, "influences of another plan", nil, func() ([]plan.Influence, error) { return tx.Influences(w.plans[1].ID) })
		absent(t, "decision", func() (plan.Decision, error) { return tx.Decision("none") })
		return nil
	})

	// T43: a correction is one transaction: the old decision points at the new
	// one whichever is written first.
	d := w.decision(t, p)
	b2 := w.decision(t, p)
	b2.ID, b2.Seq, b2.Parent, b2.Superseded = b.ID, b.Seq, b.Parent, d.ID
	w.update(t, func(tx engine.Tx) error {
		if err := tx.UpdateDecision(b2); err != nil {
			return err
		}
		return tx.InsertDecision(&d, nil)
	})
	w.view(t, func(tx engine.Tx) error {
		same(t, "superseded", b2, func() (plan.Decision, error) { return tx.Decision(b.ID) })
		return nil
	})

	w.fails(t, fault.Exists, func(tx engine.Tx) error { return tx.InsertDecision(&a, nil) })
	w.fails(t, fault.NotFound, func(tx engine.Tx) error { return tx.UpdateDecision(w.decision(t, p)) })
	b2.Superseded = "none"
	w.fails(t, fault.NotFound, func(tx engine.Tx) error { return tx.UpdateDecision(b2) })
	for name, bad := range map[string]func(d *plan.Decision) []ident.DecisionID{
		"parent":       func(d *plan.Decision) []ident.DecisionID { d.Parent = "none"; return nil },
		"plan":         func(d *plan.Decision) []ident.DecisionID { d.Plan = "none"; return nil },
		"up":           func(*plan.Decision) []ident.DecisionID { return []ident.DecisionID{"none"} },
		"another plan": func(d *plan.Decision) []ident.DecisionID { d.Plan, d.Parent = w.plans[1].ID, a.ID; return nil },
	} {
		x := w.decision(t, p)
		ups := bad(&x)
		err := w.s.Update(t.Context(), func(tx engine.Tx) error { return tx.InsertDecision(&x, ups) })
		if !fault.Is(err, fault.NotFound) {
			t.Errorf("decision with %s that is not there: got error %v", name, err)
		}
	}
	self := w.decision(t, p)
	w.fails(t, fault.Invalid, func(tx engine.Tx) error { return tx.InsertDecision(&self, []ident.DecisionID{self.ID}) })
	w.fails(t, fault.Invalid, func(tx engine.Tx) error { tx.InsertDecision(&self, []ident.DecisionID{self.ID}); return nil })
	w.update(t, func(tx engine.Tx) error { return tx.InsertDecision(&self, nil) })
	if self.Seq != 5 {
		t.Errorf("got seq %d after failed inserts, want 5", self.Seq)
	}
}

func testCheckpoints(t *testing.T, w *world) {
	d := w.decision(t, w.plans[0])
	var cs []plan.Checkpoint
	w.update(t, func(tx engine.Tx) error {
		if err := tx.InsertDecision(&d, nil); err != nil {
			return err
		}
		for _, of := range []ident.DecisionID{d.ID, "", d.ID} {
			c := filled[plan.Checkpoint](t, w.f)
			c.ID, c.Plan, c.Decision = ident.CheckpointID(w.ids.New()), w.plans[0].ID, of
			cs = append(cs, c)
			if err := tx.InsertCheckpoint(c); err != nil {
				return err
			}
		}
		return nil
	})
	w.view(t, func(tx engine.Tx) error {
		same(t, "checkpoints", cs, func() ([]plan.Checkpoint, error) { return tx.Checkpoints(w.plans[0].ID) })
		same(t, "checkpoint", cs[1], func() (plan.Checkpoint, error) { return tx.Checkpoint(cs[1].ID) })
		absent(t, "checkpoint", func() (plan.Checkpoint, error) { return tx.Checkpoint("none") })
		return nil
	})
	w.fails(t, fault.Exists, func(tx engine.Tx) error { return tx.InsertCheckpoint(cs[0]) })
	cs[0].ID, cs[0].Decision = ident.CheckpointID(w.ids.New()), "none"
	w.fails(t, fault.NotFound, func(tx engine.Tx) error { return tx.InsertCheckpoint(cs[0]) })
	other := plan.Checkpoint{ID: ident.CheckpointID(w.ids.New()), Plan: w.plans[1].ID, Created: d.Created}
	w.update(t, func(tx engine.Tx) error { return tx.InsertCheckpoint(other) })
	for range 2 {
		w.update(t, func(tx engine.Tx) error { return tx.DeleteCheckpoints(w.plans[0].ID) })
	}
	w.view(t, func(tx engine.Tx) error {
		same(t, "checkpoints", nil, func() ([]plan.Checkpoint, error) { return tx.Checkpoints(w.plans[0].ID) })
		same(t, "checkpoints of another plan", []plan.Checkpoint{other}, func() ([]plan.Checkpoint, error) { return tx.Checkpoints(w.plans[1].ID) })
		same(t, "the decision", d.ID, func() (ident.DecisionID, error) { got, err := tx.Decision(d.ID); return got.ID, err })
		return nil
	})
}

// call stores a full call in the first plan.
func (w *world) call(t *testing.T) evidence.Call {
	t.Helper()
	c := filled[evidence.Call](t, w.f)
	c.ID, c.Plan = ident.CallID(w.ids.New()), w.plans[0].ID
	w.update(t, func(tx engine.Tx) error { return tx.InsertCall(c) })
	return c
}

func testCalls(t *testing.T, w *world) {
	cs := []evidence.Call{w.call(t), w.call(t)}
	second := cs[0]
	second.ID = ident.CallID(w.ids.New())
	w.fails(t, fault.Exists, func(tx engine.Tx) error { return tx.InsertCall(second) })
	second.ID, second.Turn = cs[0].ID, second.Turn+1
	w.fails(t, fault.Exists, func(tx engine.Tx) error { return tx.InsertCall(second) })
	for _, other := range []func(c *evidence.Call){
		func(c *evidence.Call) { c.Turn++ },
		func(c *evidence.Call) { c.Attempt++ },
		func(c *evidence.Call) { c.Phase += "x" },
		func(c *evidence.Call) { c.Plan = w.plans[1].ID },
	} {
		c := cs[0]
		c.ID = ident.CallID(w.ids.New())
		other(&c)
		w.update(t, func(tx engine.Tx) error { return tx.InsertCall(c) })
		if c.Plan == w.plans[0].ID {
			cs = append(cs, c)
		}
	}
	next := filled[evidence.Call](t, w.f)
	next.ID, next.Plan, next.Phase, next.Attempt, next.Turn = cs[1].ID, cs[1].Plan, cs[1].Phase, cs[1].Attempt, cs[1].Turn
	cs[1] = next
	w.update(t, func(tx engine.Tx) error { return tx.UpdateCall(next) })
	w.view(t, func(tx engine.Tx) error {
		same(t, "calls", cs, func() ([]evidence.Call, error) { return tx.Calls(w.plans[0].ID) })
		same(t, "call", next, func() (evidence.Call, error) { return tx.Call(next.ID) })
		absent(t, "call", func() (evidence.Call, error) { return tx.Call("none") })
		return nil
	})
	w.fails(t, fault.NotFound, func(tx engine.Tx) error { return tx.UpdateCall(evidence.Call{ID: "none"}) })
	w.fails(t, fault.NotFound, func(tx engine.Tx) error { return tx.InsertCall(evidence.Call{ID: "x", Plan: "none"}) })
}

// toolCall stores a full tool call in the first plan.
func (w *world) toolCall(t *testing.T, of evidence.Call, d plan.Decision) evidence.ToolCall {
	t.Helper()
	c := filled[evidence.ToolCall](t, w.f)
	c.ID, c.Plan, c.Call, c.Decision = ident.ToolCallID(w.ids.New()), w.plans[0].ID, of.ID, d.ID
	w.update(t, func(tx engine.Tx) error { return tx.InsertToolCall(c) })
	return c
}

func testToolCalls(t *testing.T, w *world) {
	d, of := w.decision(t, w.plans[0]), w.call(t)
	w.update(t, func(tx engine.Tx) error { return tx.InsertDecision(&d, nil) })
	cs := []evidence.ToolCall{w.toolCall(t, of, d), w.toolCall(t, evidence.Call{}, plan.Decision{})}
	second := cs[0]
	second.ID = ident.ToolCallID(w.ids.New())
	w.fails(t, fault.Exists, func(tx engine.Tx) error { return tx.InsertToolCall(second) })
	second.Index++
	w.update(t, func(tx engine.Tx) error { return tx.InsertToolCall(second) })
	cs = append(cs, second)

	next := filled[evidence.ToolCall](t, w.f)
	next.ID, next.Plan, next.Call, next.Decision = cs[1].ID, cs[1].Plan, of.ID, d.ID
	next.Phase, next.Attempt, next.Turn, next.Index = cs[1].Phase, cs[1].Attempt, cs[1].Turn, cs[1].Index
	cs[1] = next
	w.update(t, func(tx engine.Tx) error { return tx.UpdateToolCall(next) })
	w.view(t, func(tx engine.Tx) error {
		same(t, "tool calls", cs, func() ([]evidence.ToolCall, error) { return tx.ToolCalls(w.plans[0].ID) })
		same(t, "tool call", next, func() (evidence.ToolCall, error) { return tx.ToolCall(next.ID) })
		absent(t, "tool call", func() (evidence.ToolCall, error) { return tx.ToolCall("none") })
		return nil
	})
	w.fails(t, fault.NotFound, func(tx engine.Tx) error { return tx.UpdateToolCall(evidence.ToolCall{ID: "none"}) })
	for _, bad := range []func(c *evidence.ToolCall){
		func(c *evidence.ToolCall) { c.Plan = "none" },
		func(c *evidence.ToolCall) { c.Call = "none" },
		func(c *evidence.ToolCall) { c.Decision = "none" },
	} {
		c := cs[0]
		c.ID, c.Index = ident.ToolCallID(w.ids.New()), 99
		bad(&c)
		w.fails(t, fault.NotFound, func(tx engine.Tx) error { return tx.InsertToolCall(c) })
	}
}

func testHunks(t *testing.T, w *world) {
	d, of := w.decision(t, w.plans[0]), w.call(t)
	w.update(t, func(tx engine.Tx) error { return tx.InsertDecision(&d, nil) })
	tc := w.toolCall(t, of, d)
	var hs []evidence.Hunk
	var gs []evidence.Gap
	for i := range 3 {
		h, g := filled[evidence.Hunk](t, w.f), filled[evidence.Gap](t, w.f)
		h.ID, h.Plan, h.Decision, h.Resource, h.Seq = ident.HunkID(w.ids.New()), w.plans[0].ID, d.ID, w.res[0].ID, 0
		h.ToolCall, h.Call = tc.ID, of.ID
		g.Plan, g.ToolCall, g.Seq = w.plans[0].ID, tc.ID, 0
		h.Before.Mode = 0o37777777777 // all bits of the field
		if i == 2 {
			h.ToolCall, h.Call, g.ToolCall = "", "", "" // by nobody we know
		}
		w.update(t, func(tx engine.Tx) error {
			if err := tx.InsertHunk(&h); err != nil {
				return err
			}
			return tx.InsertGap(&g)
		})
		if h.Seq != i+1 || g.Seq != i+1 {
			t.Errorf("got seq %d and %d, want %d", h.Seq, g.Seq, i+1)
		}
		hs, gs = append(hs, h), append(gs, g)
	}
	w.view(t, func(tx engine.Tx) error {
		same(t, "hunks", hs, func() ([]evidence.Hunk, error) { return tx.Hunks(w.plans[0].ID) })
		same(t, "gaps", gs, func() ([]evidence.Gap, error) { return tx.Gaps(w.plans[0].ID) })
		same(t, "hunks of another plan", nil, func() ([]evidence.Hunk, error) { return tx.Hunks(w.plans[1].ID) })
		same(t, "gaps of another plan", nil, func() ([]evidence.Gap, error) { return tx.Gaps(w.plans[1].ID) })
		return nil
	})
	w.fails(t, fault.Exists, func(tx engine.Tx) error { return tx.InsertHunk(&hs[0]) })
	for kind, bad := range map[fault.Kind]func(h *evidence.Hunk){
		fault.NotFound: func(h *evidence.Hunk) { h.Resource = "none" },
		fault.Invalid:  func(h *evidence.Hunk) { h.Decision = "" }, // every change belongs to a decision
	} {
		h := hs[0]
		h.ID = ident.HunkID(w.ids.New())
		bad(&h)
		w.fails(t, kind, func(tx engine.Tx) error { return tx.InsertHunk(&h) })
	}
	w.fails(t, fault.NotFound, func(tx engine.Tx) error { return tx.InsertGap(&evidence.Gap{Plan: "none"}) })
}

// testOrder: within one transaction a record may come before what it refers to.
func testOrder(t *testing.T, w *world) {
	d, of := w.decision(t, w.plans[0]), w.call(t)
	tc := evidence.ToolCall{ID: ident.ToolCallID(w.ids.New()), Plan: w.plans[0].ID, Call: of.ID, Decision: d.ID}
	h := evidence.Hunk{ID: ident.HunkID(w.ids.New()), Plan: w.plans[0].ID, ToolCall: tc.ID, Call: of.ID, Decision: d.ID, Resource: w.res[0].ID}
	g := evidence.Gap{Plan: w.plans[0].ID, ToolCall: tc.ID}
	cp := plan.Checkpoint{ID: ident.CheckpointID(w.ids.New()), Plan: w.plans[0].ID, Decision: d.ID}
	put := func(tx engine.Tx, what ...func(engine.Tx) error) error {
		for _, f := range what {
			if err := f(tx); err != nil {
				return err
			}
		}
		return nil
	}
	gap := func(tx engine.Tx) error { return tx.InsertGap(&g) }
	hunk := func(tx engine.Tx) error { return tx.InsertHunk(&h) }
	check := func(tx engine.Tx) error { return tx.InsertCheckpoint(cp) }
	toolCall := func(tx engine.Tx) error { return tx.InsertToolCall(tc) }
	decision := func(tx engine.Tx) error { return tx.InsertDecision(&d, nil) }
	for _, half := range [][]func(engine.Tx) error{{gap}, {hunk, toolCall}, {check}, {toolCall}, {gap, hunk, check, toolCall}} {
		w.fails(t, fault.NotFound, func(tx engine.Tx) error { return put(tx, half...) })
	}
	w.update(t, func(tx engine.Tx) error { return put(tx, gap, hunk, check, toolCall, decision) })
	if g.Seq != 1 || h.Seq != 1 {
		t.Errorf("got seq %d and %d after commits that failed, want 1", g.Seq, h.Seq)
	}
}

func testResults(t *testing.T, w *world) {
	var rs []evidence.ValidationResult
	for range 3 {
		r := filled[evidence.ValidationResult](t, w.f)
		r.ID, r.Plan = ident.ResultID(w.ids.New()), w.plans[0].ID
		w.update(t, func(tx engine.Tx) error { return tx.InsertResult(r) })
		rs = append(rs, r)
	}
	w.view(t, func(tx engine.Tx) error {
		same(t, "results", rs, func() ([]evidence.ValidationResult, error) { return tx.Results(w.plans[0].ID) })
		same(t, "results of another plan", nil, func() ([]evidence.ValidationResult, error) { return tx.Results(w.plans[1].ID) })
		return nil
	})
	w.fails(t, fault.Exists, func(tx engine.Tx) error { return tx.InsertResult(rs[0]) })
	rs[0].ID, rs[0].Plan = ident.ResultID(w.ids.New()), "none"
	w.fails(t, fault.NotFound, func(tx engine.Tx) error { return tx.InsertResult(rs[0]) })
}

// testNull stores records with nothing in them that may be left out: nil and
// empty, zero and unset stay apart.
func testNull(t *testing.T, w *world) {
	p, zero := w.plans[0].ID, 0.0
	none := plan.Decision{ID: ident.DecisionID(w.ids.New()), Plan: p}
	empty := plan.Decision{ID: ident.DecisionID(w.ids.New()), Plan: p, Alternatives: []plan.Option{}, Confidence: &zero, Claimed: &zero}
	exit := 0
	call := evidence.ToolCall{ID: ident.ToolCallID(w.ids.New()), Plan: p}
	done := evidence.ToolCall{ID: ident.ToolCallID(w.ids.New()), Plan: p, Index: 1, Exit: &exit}
	hunk := evidence.Hunk{ID: ident.HunkID(w.ids.New()), Plan: p, Decision: none.ID, Resource: w.res[0].ID}
	event := plan.Event{Plan: p, Data: []byte(`null`)}
	bare := plan.Plan{ID: ident.PlanID(w.ids.New())}
	w.update(t, func(tx engine.Tx) error {
		for _, do := range []func() error{
			func() error { return tx.InsertDecision(&none, nil) },
			func() error { return tx.InsertDecision(&empty, nil) },
			func() error { return tx.InsertToolCall(call) },
			func() error { return tx.InsertToolCall(done) },
			func() error { return tx.InsertHunk(&hunk) },
			func() error { return tx.AppendEvent(&event) },
			func() error { return tx.InsertPlan(bare) },
			// Only a name that is given is taken.
			func() error { return tx.InsertPlan(plan.Plan{ID: ident.PlanID(w.ids.New())}) },
		} {
			if err := do(); err != nil {
				return err
			}
		}
		return nil
	})
	w.view(t, func(tx engine.Tx) error {
		same(t, "decisions", []plan.Decision{none, empty}, func() ([]plan.Decision, error) { return tx.Decisions(p) })
		same(t, "tool calls", []evidence.ToolCall{call, done}, func() ([]evidence.ToolCall, error) { return tx.ToolCalls(p) })
		same(t, "hunks", []evidence.Hunk{hunk}, func() ([]evidence.Hunk, error) { return tx.Hunks(p) })
		same(t, "events", []plan.Event{event}, func() ([]plan.Event, error) { return tx.Events(p, 0, 0) })
		same(t, "plan", bare, func() (plan.Plan, error) { return tx.Plan(bare.ID) })
		return nil
	})
}
