package bundle

import (
	"encoding/json"
	"io/fs"
	"slices"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
)

func sum(b []byte) string { return evidence.Hash(b) }

func jsonHead(b []byte, v any) error { return json.Unmarshal(b, v) }

func isHash(s string) bool {
	if len(s) != 64 {
		return false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// checker collects the ids of rows and the first thing that is wrong.
type checker struct {
	plan ident.PlanID
	ids  map[string]bool // "kind id"
	err  error
}

func (c *checker) wrong(format string, args ...any) {
	if c.err == nil {
		c.err = fault.New(fault.Corrupt, format, args...)
	}
}

// row checks that an id is one, is there once, and that its row belongs to the
// plan.
func (c *checker) row(kind, id string, of ident.PlanID) {
	ref, whole, err := ident.ParseRef(id)
	switch key := kind + " " + id; {
	case err != nil || !whole || ref != id:
		c.wrong("%.80q is not the id of a %s", id, kind)
	case c.ids[key]:
		c.wrong("%s %s is there twice", kind, id)
	case of != c.plan:
		c.wrong("%s %s is of another plan", kind, id)
	default:
		c.ids[key] = true
	}
}

// ref checks that what a row refers to is there; "" refers to nothing.
func (c *checker) ref(from, kind, id string) {
	if id != "" && !c.ids[kind+" "+id] {
		c.wrong("%s refers to %s %.80q, which is not there", from, kind, id)
	}
}

func (c *checker) number(what string, i, seq int) {
	if seq != i+1 {
		c.wrong("%s %d has number %d", what, i+1, seq)
	}
}

func (c *checker) hashes(what string, all ...string) {
	for _, h := range all {
		if h != "" && !isHash(h) {
			c.wrong("%s names the blob %.80q", what, h)
		}
	}
}

func (c *checker) state(what string, s plan.FileState) {
	known := []plan.FileKind{plan.Absent, plan.Regular, plan.Symlink, plan.Other}
	if !slices.Contains(known, s.Kind) || s.Size < 0 || s.Mode > 0o777 {
		c.wrong("%s has an impossible state", what)
	}
	c.hashes(what, s.Hash)
}

// check looks whether rows fit together, so that what is stored is a plan.
func check(h engine.History) error {
	c := &checker{plan: h.Plan.ID, ids: map[string]bool{}}
	c.planRow(h.Plan)
	if err := engine.CheckLabels(h.Labels); err != nil {
		c.wrong("%w", err)
	}
	for _, r := range h.Resources {
		c.row("resource", string(r.ID), h.Plan.ID)
	}
	for _, d := range h.Decisions {
		c.row("decision", string(d.ID), d.Plan)
	}
	for _, x := range h.Calls {
		c.row("call", string(x.ID), x.Plan)
	}
	for _, x := range h.ToolCalls {
		c.row("tool call", string(x.ID), x.Plan)
	}
	for _, x := range h.Checkpoints {
		c.row("checkpoint", string(x.ID), x.Plan)
	}
	c.decisions(h)
	c.work(h)
	c.rest(h)
	return c.err
}

func (c *checker) planRow(p plan.Plan) {
	c.row("plan", string(p.ID), p.ID)
	states := plan.Statuses(plan.Status.String)
	if !slices.Contains(states, p.Status.String()) {
		c.wrong("the plan is in the status %.80q", p.Status.String())
	}
	if name, err := ident.Canonical(p.Name); err != nil || name != p.Name {
		c.wrong("the plan is called %.80q", p.Name)
	}
	if p.Version < 1 || p.Attempt < 1 {
		c.wrong("the plan has version %d and attempt %d", p.Version, p.Attempt)
	}
	c.hashes("the plan", p.Changed, p.Vars, p.Conversation)
	for _, l := range p.Landed {
		c.hashes("an apply of the plan", l.Changes)
	}
	for _, b := range p.Bases {
		c.hashes("a base of the plan", b.Snapshot)
	}
}

func (c *checker) decisions(h engine.History) {
	number := map[ident.DecisionID]int{}
	for i, d := range h.Decisions {
		what := "decision " + string(d.ID)
		number[d.ID] = i
		c.number("decision", i, d.Seq)
		c.ref(what, "decision", string(d.Parent))
		if up, ok := number[d.Parent]; d.Parent != "" && (!ok || up >= i) {
			c.wrong("%s comes before its parent", what)
		}
		c.ref(what, "decision", string(d.Superseded))
		c.ref(what, "call", string(d.Call))
		c.ref(what, "tool call", string(d.ToolCall))
		c.ref(what, "checkpoint", string(d.Checkpoint))
		c.hashes(what, d.Context.Manifest, d.Context.ActorState)
	}
	for _, i := range h.Influences {
		up, ok := number[i.Up]
		down, also := number[i.Down]
		if !ok || !also || up >= down {
			c.wrong("the influence of %.40q on %.40q is impossible", string(i.Up), string(i.Down))
		}
	}
}

func (c *checker) work(h engine.History) {
	for _, x := range h.Checkpoints {
		what := "checkpoint " + string(x.ID)
		c.ref(what, "decision", string(x.Decision))
		c.hashes(what, x.Changes)
	}
	for _, x := range h.Calls {
		c.hashes("call "+string(x.ID), x.LeftOut, x.Manifest, x.Request, x.Response, x.Message, x.RequestKey)
	}
	for _, x := range h.ToolCalls {
		what := "tool call " + string(x.ID)
		c.ref(what, "call", string(x.Call))
		c.ref(what, "decision", string(x.Decision))
		c.hashes(what, x.Proposed, x.Executed, x.Output, x.Whole)
	}
	for i, x := range h.Hunks {
		what := "hunk " + string(x.ID)
		c.row("hunk", string(x.ID), x.Plan)
		c.number("hunk", i, x.Seq)
		c.ref(what, "tool call", string(x.ToolCall))
		c.ref(what, "call", string(x.Call))
		c.ref(what, "decision", string(x.Decision))
		c.ref(what, "resource", string(x.Resource))
		if x.Decision == "" || x.Resource == "" || !fs.ValidPath(x.Path) {
			c.wrong("%s is of the path %.80q", what, x.Path)
		}
		c.state(what, x.Before)
		c.state(what, x.After)
	}
	for i, x := range h.Gaps {
		c.number("gap", i, x.Seq)
		c.ref("a gap", "tool call", string(x.ToolCall))
		if x.Plan != c.plan {
			c.wrong("gap %d is of another plan", x.Seq)
		}
	}
}

func (c *checker) rest(h engine.History) {
	for _, x := range h.Results {
		c.row("result", string(x.ID), x.Plan)
		c.hashes("result "+string(x.ID), x.Output, x.ChangeSet)
	}
	for _, x := range h.Approvals {
		c.row("approval", string(x.ID), x.Plan)
	}
	for i, e := range h.Events {
		c.number("event", i, int(e.Seq))
		if e.Plan != c.plan || e.Type == "" {
			c.wrong("event %d is of another plan, or of no type", e.Seq)
		}
	}
}
