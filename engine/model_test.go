package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/cleveragents/agents/action"
	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/evidence"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/llm"
	"github.com/cleveragents/agents/llm/scripted"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/policy"
	"github.com/cleveragents/agents/tool"
)

// strategist is the rules of a strategist that does what it should.
const strategist = `
  - when: {system_contains: You are the strategist, turn: 0}
    reply:
      tool_calls:
        - {name: builtin/record_decision, args: {type: strategy_choice, question: "How?", chosen: so, alternatives: [], rationale: it is short}}
  - when: {system_contains: You are the strategist}
    reply: {text: That is the strategy.}
`

// script is a scripted model with the strategist and these rules for the rest.
func script(t testing.TB, rules string) scripted.Script {
	t.Helper()
	s, err := scripted.Parse("rules.yaml", []byte("rules:\n"+rules+strategist))
	must(t, err)
	return s
}

// reply is a script in Go.
type reply func(scripted.Request) scripted.Reply

func (f reply) Reply(r scripted.Request) (scripted.Reply, error) { return f(r), nil }

// wire is a transport that keeps the requests and looks whether a provider
// could take each of them.
type wire struct {
	t    testing.TB
	next http.RoundTripper

	mu     sync.Mutex
	bodies [][]byte
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(b))
	w.mu.Lock()
	w.bodies = append(w.bodies, b)
	w.mu.Unlock()
	replayable(w.t, b)
	return w.next.RoundTrip(r)
}

func (w *wire) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.bodies)
}

// last is the newest request.
func (w *wire) last() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.bodies) == 0 {
		return ""
	}
	return string(w.bodies[len(w.bodies)-1])
}

// replayable checks what providers ask of a conversation: the arguments of each
// call are an object, ids differ, and each call has its one result at once.
func replayable(t testing.TB, body []byte) {
	var req struct {
		Messages []struct {
			Role      string `json:"role"`
			ID        string `json:"tool_call_id"`
			ToolCalls []struct {
				ID       string `json:"id"`
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		t.Errorf("a request is not JSON: %v", err)
		return
	}
	var due []string
	for i, m := range req.Messages {
		if m.Role == "tool" {
			if len(due) == 0 || due[0] != m.ID {
				t.Errorf("message %d answers %q, due are %q", i, m.ID, due)
				return
			}
			due = due[1:]
			continue
		}
		if len(due) > 0 {
			t.Errorf("message %d comes before the results %q", i, due)
			return
		}
		ids := map[string]bool{}
		for _, c := range m.ToolCalls {
			var object map[string]any
			if json.Unmarshal([]byte(c.Function.Arguments), &object) != nil || object == nil {
				t.Errorf("message %d sends the arguments %.80q", i, c.Function.Arguments)
			}
			if c.ID == "" || ids[c.ID] {
				t.Errorf("message %d has the call id %q twice or not at all", i, c.ID)
			}
			ids[c.ID] = true
			due = append(due, c.ID)
		}
	}
	if len(due) > 0 {
		t.Errorf("a request lacks the results %q", due)
	}
}

// task is an action for a scripted model; its change functions come after.
func task(change ...func(*action.Action)) action.Action {
	a := action.Action{
		Name: "local/task", Description: "Do it.", DefinitionOfDone: "It is done.", State: action.Available,
		StrategyActor: "local/model", ExecutionActor: "local/model",
		Safety: &policy.Safety{RequireSandbox: true, RequireCheckpoints: true, MaxRetriesPerStep: 1},
	}
	for _, f := range change {
		f(&a)
	}
	return a
}

// validated adds a required validation.
func validated(command string) func(*action.Action) {
	return func(a *action.Action) {
		a.Validations = append(a.Validations, tool.Validation{Name: "check", Mode: tool.Required, Command: command, Timeout: 60})
	}
}

// modelWorld is a world whose actor is a scripted model, for one action.
func modelWorld(t testing.TB, data, tree string, s scripted.Script, a action.Action, change ...func(*actor.Config)) (*world, *wire) {
	t.Helper()
	who := actor.Config{Name: "local/model", Provider: scripted.Name, Model: "test"}
	for _, f := range change {
		f(&who)
	}
	p := scripted.Provider(scripted.Config{Scripts: map[string]scripted.Script{"test": s}})
	wr := &wire{t: t, next: p.Transport}
	p.Transport = wr
	w := newWorld(t, data, tree, llm.New(llm.Config{Providers: map[string]llm.Provider{scripted.Name: p}}),
		[]action.Action{a}, []actor.Config{who})
	t.Cleanup(w.audit)
	return w, wr
}

func turns(n int) func(*actor.Config) { return func(c *actor.Config) { c.MaxTurns = n } }

// start makes a plan of the task.
func (w *world) start(profile string) plan.Plan {
	w.t.Helper()
	return w.use(engine.UseInput{Action: "local/task", Profile: profile})
}

// records are everything that is stored about a plan.
type records struct {
	decisions []plan.Decision
	edges     []plan.Influence
	calls     []evidence.Call
	toolCalls []evidence.ToolCall
	hunks     []evidence.Hunk
	gaps      []evidence.Gap
	results   []evidence.ValidationResult
	approvals []plan.Approval
	points    []plan.Checkpoint
	events    []plan.Event
}

func (w *world) records(id ident.PlanID) (r records) {
	w.t.Helper()
	w.view(func(tx engine.Tx) (err error) {
		for _, f := range []func() error{
			func() error { r.decisions, err = tx.Decisions(id); return err },
			func() error { r.edges, err = tx.Influences(id); return err },
			func() error { r.calls, err = tx.Calls(id); return err },
			func() error { r.toolCalls, err = tx.ToolCalls(id); return err },
			func() error { r.hunks, err = tx.Hunks(id); return err },
			func() error { r.gaps, err = tx.Gaps(id); return err },
			func() error { r.results, err = tx.Results(id); return err },
			func() error { r.approvals, err = tx.Approvals(id, false); return err },
			func() error { r.points, err = tx.Checkpoints(id); return err },
			func() error { r.events, err = tx.Events(id, 0, 0); return err },
		} {
			if err := f(); err != nil {
				return err
			}
		}
		return nil
	})
	return r
}

func (w *world) blob(hash string) []byte {
	w.t.Helper()
	b, err := w.Blobs.Get(context.Background(), hash)
	must(w.t, err)
	return b
}

// output is what the caller of a tool call was given.
func (w *world) output(t evidence.ToolCall) string { return string(w.blob(t.Output)) }

// audit checks what holds for the records of every plan at any time.
func (w *world) audit() {
	w.t.Helper()
	var all []plan.Plan
	w.view(func(tx engine.Tx) (err error) {
		all, err = tx.Plans(engine.PlanFilter{})
		return err
	})
	for _, p := range all {
		r := w.records(p.ID)
		w.eventsInOrder(p)
		w.auditCalls(r)
		w.auditHunks(r)
		asked := map[string]bool{}
		for _, a := range r.approvals {
			if a.State != plan.Open && a.State != plan.Approved && a.State != plan.Answered {
				continue
			}
			key := string(a.Kind) + " " + a.Subject
			if asked[key] {
				w.t.Errorf("two approvals are active for %s", key)
			}
			if asked[key] = true; p.Terminal() {
				w.t.Errorf("the plan is %s and the approval for %s is %s", p.Status, key, a.State)
			}
		}
	}
}

// auditCalls checks the wire check of every answered call.
func (w *world) auditCalls(r records) {
	w.t.Helper()
	get := func(hash string) ([]byte, error) { return w.Blobs.Get(context.Background(), hash) }
	for _, c := range r.calls {
		if !c.Answered() {
			continue
		}
		var m evidence.Manifest
		must(w.t, json.Unmarshal(w.blob(c.Manifest), &m))
		if err := m.Verify(get); err != nil {
			w.t.Errorf("manifest of turn %d: %v", c.Turn, err)
		}
		body, err := m.Assemble(get)
		if err != nil || evidence.Hash(body) != c.Request {
			w.t.Errorf("turn %d: the manifest makes %d bytes other than those sent (%v)", c.Turn, len(body), err)
		}
		w.blob(c.Response)
	}
}

// auditHunks checks that every changed line has a decision and a cause.
func (w *world) auditHunks(r records) {
	w.t.Helper()
	decisions, ups := map[ident.DecisionID]plan.Decision{}, map[ident.DecisionID]bool{}
	for _, d := range r.decisions {
		decisions[d.ID] = d
	}
	for _, e := range r.edges {
		ups[e.Down] = true
	}
	toolCalls := map[ident.ToolCallID]evidence.ToolCall{}
	for _, t := range r.toolCalls {
		toolCalls[t.ID] = t
	}
	last := map[string]plan.FileState{}
	for _, h := range r.hunks {
		d, ok := decisions[h.Decision]
		if !ok {
			w.t.Errorf("hunk %d has no decision", h.Seq)
		}
		if d.Implicit && (d.Checkpoint == "" || !ups[d.ID]) {
			w.t.Errorf("implicit decision %d has checkpoint %q and an influence: %v", d.Seq, d.Checkpoint, ups[d.ID])
		}
		t, byTool := toolCalls[h.ToolCall]
		if byTool == (h.Origin == evidence.Human) {
			w.t.Errorf("hunk %d has origin %s and tool call %q", h.Seq, h.Origin, h.ToolCall)
		}
		if (h.Origin == evidence.Human) != (d.Type == plan.UserIntervention) {
			w.t.Errorf("hunk %d has origin %s and stands under a %s", h.Seq, h.Origin, d.Type)
		}
		if byTool && (h.Call != t.Call || h.Decision != t.Decision) {
			w.t.Errorf("hunk %d: call %q and decision %q, its tool call says %q and %q", h.Seq, h.Call, h.Decision, t.Call, t.Decision)
		}
		if was, ok := last[h.Path]; ok && !was.Same(h.Before) {
			w.t.Errorf("hunk %d of %s begins at %v, the one before ended at %v", h.Seq, h.Path, h.Before, was)
		}
		last[h.Path] = h.After
	}
}

// contains fails the test unless s has each of the words.
func contains(t testing.TB, what, s string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(s, word) {
			t.Errorf("%s does not have %q: %.600s", what, word, s)
		}
	}
}

func jsonOf(b []byte, v any) error { return json.Unmarshal(b, v) }
