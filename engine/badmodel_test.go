package engine_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/llm/scripted"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/tool"
)

// always is a script that answers the builder with the same thing every time.
func always(t testing.TB, answer string) scripted.Script {
	return script(t, "  - when: {system_contains: You carry out}\n    reply: "+answer+"\n")
}

// builder is a script in Go for the builder; the strategist does what it should.
func builder(t testing.TB, f func(turn int, r scripted.Request) scripted.Reply) scripted.Script {
	rules := script(t, "")
	return reply(func(r scripted.Request) scripted.Reply {
		if r.Contains("system", "You carry out") {
			return f(r.Turn, r)
		}
		out, err := rules.Reply(r)
		must(t, err)
		return out
	})
}

func call(name, args string) scripted.Reply {
	return scripted.Reply{ToolCalls: []scripted.ToolCall{{Name: name, Arguments: args}}}
}

// T56: what a model does wrong goes back to it, a bounded number of times; then
// the plan pauses and says why, and a resume asks it again.
func TestBadModelsArePausedWithAReason(t *testing.T) {
	const strategyCalls = 2
	tests := []struct {
		name    string
		script  func(t testing.TB) scripted.Script
		reason  []string // what the person reads
		told    []string // what the model is sent back
		calls   int      // requests to the builder before the pause
		resumed int      // and with the resume
		max     int      // the actor's limit of turns
	}{
		{name: "unknown tool", calls: 4, resumed: 8,
			script: func(t testing.TB) scripted.Script {
				return always(t, `{tool_calls: [{name: builtin/format_disk, args: {}}]}`)
			},
			reason: []string{"no use", `there is no tool`}, told: []string{"there is no tool"}},
		{name: "tool with an impossible name", calls: 4, resumed: 8,
			script: func(t testing.TB) scripted.Script {
				return always(t, `{tool_calls: [{name: "rm -rf /; \u2028 `+strings.Repeat("x", 5000)+`", args: {}}]}`)
			},
			reason: []string{"no use"}, told: []string{"there is no tool"}},
		{name: "no tool name", calls: 4, resumed: 8,
			script: func(t testing.TB) scripted.Script {
				return builder(t, func(int, scripted.Request) scripted.Reply { return call("_", "{}") })
			},
			reason: []string{"no use"}, told: []string{"there is no tool"}},
		{name: "arguments that are not JSON", calls: 4, resumed: 8,
			script: func(t testing.TB) scripted.Script {
				return always(t, `{tool_calls: [{name: builtin/read, raw_args: '{"path": "a.txt"'}]}`)
			},
			reason: []string{"no use", "not valid JSON"}, told: []string{"not valid JSON"}},
		{name: "arguments that are no object", calls: 4, resumed: 8,
			script: func(t testing.TB) scripted.Script {
				return always(t, `{tool_calls: [{name: builtin/read, raw_args: '["a.txt"]'}, {name: builtin/read, raw_args: 'null'}]}`)
			},
			reason: []string{"no use", "schema"}, told: []string{"do not fit"}},
		{name: "no arguments at all", calls: 4, resumed: 8,
			script: func(t testing.TB) scripted.Script {
				return always(t, `{tool_calls: [{name: builtin/read, raw_args: ''}]}`)
			},
			reason: []string{"no use"}, told: []string{"not valid JSON"}},
		{name: "wrong types and extra arguments", calls: 4, resumed: 8,
			script: func(t testing.TB) scripted.Script {
				return always(t, `{tool_calls: [{name: builtin/read, args: {path: 7}}, {name: builtin/read, args: {path: a.txt, sudo: true}}]}`)
			},
			reason: []string{"no use", "schema"}, told: []string{"do not fit"}},
		// T25: loops of one call and of two in turn.
		{name: "the same call for ever", calls: 9, resumed: 13,
			script: func(t testing.TB) scripted.Script {
				return always(t, `{tool_calls: [{name: builtin/read, args: {path: a.txt}}]}`)
			},
			reason: []string{"no use", "same call"}, told: []string{"the same call for the 6th time"}},
		{name: "the same call, spelled in many ways", calls: 9, resumed: 13,
			script: func(t testing.TB) scripted.Script {
				return builder(t, func(turn int, _ scripted.Request) scripted.Reply {
					return call("builtin__read", strings.Repeat(" ", turn)+`{"path":"a.txt"}`)
				})
			},
			reason: []string{"no use", "same call"}, told: []string{"the same call"}},
		{name: "two calls in turn", calls: 13, resumed: 17,
			script: func(t testing.TB) scripted.Script {
				return builder(t, func(turn int, _ scripted.Request) scripted.Reply {
					return call("builtin__read", fmt.Sprintf(`{"path":"%c.txt"}`, 'a'+turn%2))
				})
			},
			reason: []string{"no use", "two calls in turn"}, told: []string{"two calls in turn"}},
		{name: "a different call each time", calls: 6, resumed: 12, max: 6,
			script: func(t testing.TB) scripted.Script {
				return builder(t, func(turn int, _ scripted.Request) scripted.Reply {
					return call("builtin__grep", fmt.Sprintf(`{"pattern":"x%d"}`, turn))
				})
			},
			reason: []string{"6 model calls, its limit"}},
		{name: "empty answers", calls: 4, resumed: 8,
			script: func(t testing.TB) scripted.Script { return always(t, `{text: ""}`) },
			reason: []string{"no use", "empty"}, told: []string{"nothing has been done yet"}},
		{name: "answers cut at the length limit", calls: 4, resumed: 8,
			script: func(t testing.TB) scripted.Script { return always(t, `{text: "and so", stop: length}`) },
			reason: []string{"no use", "length limit"}, told: []string{"cut at the length limit"}},
		{name: "call cut at the length limit", calls: 4, resumed: 8,
			script: func(t testing.TB) scripted.Script {
				return always(t, `{stop: length, tool_calls: [{name: builtin/write, raw_args: '{"path": "a.txt", "content": "lorem ips'}]}`)
			},
			reason: []string{"no use", "not valid JSON"}, told: []string{"not valid JSON"}},
		{name: "refusal", calls: 1, resumed: 2,
			script: func(t testing.TB) scripted.Script {
				return always(t, `{text: "I cannot help with that.", stop: content_filter}`)
			},
			reason: []string{"the model refused", "I cannot help"}},
		{name: "decisions of the wrong type", calls: 4, resumed: 8,
			script: func(t testing.TB) scripted.Script {
				return builder(t, func(turn int, _ scripted.Request) scripted.Reply {
					return call("builtin__record_decision", fmt.Sprintf(
						`{"type":"prompt_definition","question":"q%d","chosen":"c","alternatives":[],"rationale":"r"}`, turn))
				})
			},
			reason: []string{"no use", "cannot be recorded in execute"}, told: []string{"implementation_choice"}},
		{name: "stream cut", calls: 2, resumed: 4,
			script: func(t testing.TB) scripted.Script { return always(t, `{text: "I am about to say", cut_at: 300}`) },
			reason: []string{"scripted/test", "unexpected EOF"}},
		{name: "key refused", calls: 1, resumed: 2,
			script: func(t testing.TB) scripted.Script { return always(t, `{status: 401, text: "bad key"}`) },
			reason: []string{"scripted/test", "401", "bad key"}},
		{name: "no money left", calls: 1, resumed: 2,
			script: func(t testing.TB) scripted.Script { return always(t, `{status: 402, text: "pay first"}`) },
			reason: []string{"402", "pay first"}},
		{name: "too many requests", calls: 2, resumed: 4,
			script: func(t testing.TB) scripted.Script {
				return always(t, `{status: 429, text: "slow down", headers: {Retry-After-Ms: "20"}}`)
			},
			reason: []string{"429", "slow down"}},
		{name: "server error", calls: 2, resumed: 4,
			script: func(t testing.TB) scripted.Script { return always(t, `{status: 500, text: "on fire"}`) },
			reason: []string{"500", "on fire"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tree := t.TempDir()
			write(t, tree, map[string]string{"a.txt": "one\n", "b.txt": "two\n"})
			w, wr := modelWorld(t, t.TempDir(), tree, tt.script(t), task(), turns(cmp.Or(tt.max, 20)))
			p := w.run(w.start("auto"), "")
			w.status(p, plan.Paused)
			contains(t, "the reason", p.Reason, tt.reason...)
			if len(p.Reason) > 2000 {
				t.Errorf("the reason has %d bytes", len(p.Reason))
			}
			if got := wr.count() - strategyCalls; got != tt.calls {
				t.Errorf("%d calls before the pause, want %d", got, tt.calls)
			}
			if tt.calls > 1 {
				contains(t, "the last request", wr.last(), tt.told...)
			}
			p = w.run(p, "")
			w.status(p, plan.Paused)
			if got := wr.count() - strategyCalls; got != tt.resumed {
				t.Errorf("%d calls after the resume, want %d", got, tt.resumed)
			}
			r := w.records(p.ID)
			if len(r.hunks) > 0 {
				t.Errorf("the sandbox was changed: %v", r.hunks)
			}
			must(t, w.Cancel(context.Background(), p.ID, "", false))
		})
	}
}

// A provider that is well again after a few failures is not noticed.
func TestTransientFailuresAreTriedAgain(t *testing.T) {
	failures := 1
	w, wr := modelWorld(t, t.TempDir(), t.TempDir(), builder(t, func(int, scripted.Request) scripted.Reply {
		if failures--; failures >= 0 {
			return scripted.Reply{Status: 429, Headers: map[string]string{"Retry-After-Ms": "30"}}
		}
		return scripted.Reply{Text: "Nothing to do."}
	}), task())
	began := time.Now()
	p := w.run(w.start("auto"), "")
	w.status(p, plan.Waiting)
	if took := time.Since(began); took < 30*time.Millisecond {
		t.Errorf("it did not wait as it was asked to, %s in all", took)
	}
	r := w.records(p.ID)
	if last := r.calls[len(r.calls)-1]; last.Attempts != 2 || wr.count() != 4 {
		t.Errorf("%d attempts, %d requests", last.Attempts, wr.count())
	}
}

// After a repair the work goes on as if nothing had been.
func TestModelThatLearnsArrives(t *testing.T) {
	tree := t.TempDir()
	write(t, tree, map[string]string{"a.txt": "one\n"})
	w, wr := modelWorld(t, t.TempDir(), tree, builder(t, func(turn int, r scripted.Request) scripted.Reply {
		switch turn {
		case 0:
			return call("builtin__write", `{"path": "new.txt", "content": broken`)
		case 1:
			return scripted.Reply{Stop: "content_filter", Text: "No."}
		case 2:
			return call("builtin__write", `{"path":"new.txt","content":"new\n"}`)
		}
		return scripted.Reply{Text: "Done."}
	}), task(validated("grep -q new new.txt")))
	p := w.run(w.start("ci"), "")
	w.status(p, plan.Paused)
	p = w.run(p, "")
	w.status(p, plan.Applied)
	if got := read(t, tree, "new.txt"); got != "new\n" {
		t.Errorf("new.txt is %q", got)
	}
	if strings.Contains(wr.last(), "broken") && !strings.Contains(wr.last(), "They were:") {
		t.Error("broken arguments were sent back as a call")
	}
}

// T56: many calls in one answer, ids twice.
func TestThousandCallsInOneAnswer(t *testing.T) {
	t.Parallel()
	tree := t.TempDir()
	write(t, tree, map[string]string{"a.txt": "one\n"})
	w, wr := modelWorld(t, t.TempDir(), tree, builder(t, func(turn int, r scripted.Request) scripted.Reply {
		if turn > 0 {
			return scripted.Reply{Text: "That was a lot."}
		}
		var out scripted.Reply
		for range 1000 {
			out.ToolCalls = append(out.ToolCalls, scripted.ToolCall{ID: "same", Name: "builtin__read", Arguments: `{"path":"a.txt"}`})
		}
		return out
	}), task())
	p := w.run(w.start("auto"), "")
	w.status(p, plan.Waiting)
	if wr.count() != 4 {
		t.Errorf("%d requests, want 4", wr.count())
	}
	ok, refs := 0, map[string]bool{}
	for _, c := range w.records(p.ID).toolCalls {
		if c.Phase != plan.PhaseExecute {
			continue
		}
		if refs[c.Ref] = true; c.Status == tool.OK {
			ok++
		}
	}
	if ok != 5 || len(refs) != 1000 {
		t.Errorf("%d calls ran, of %d with ids of their own; want 5 of 1000", ok, len(refs))
	}
}

// T56: memory stays bounded, whatever the model answers.
func TestHugeAnswerTakesBoundedMemory(t *testing.T) {
	const most = 160 << 20
	w, wr := modelWorld(t, t.TempDir(), t.TempDir(), builder(t, func(int, scripted.Request) scripted.Reply {
		return scripted.Reply{Repeat: &scripted.Repeat{Text: "lorem ipsum ", Bytes: 200 << 20}}
	}), task())
	p := w.start("auto")
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before, peak, heard := m.HeapInuse, uint64(0), 0
	must(t, w.Run(context.Background(), p.ID, "", func(ev plan.Event) {
		if ev.Type == "model.text" {
			if heard++; heard%64 != 0 {
				return
			}
		}
		runtime.ReadMemStats(&m)
		peak = max(peak, m.HeapInuse)
	}))
	p = w.plan(p.ID)
	w.status(p, plan.Paused)
	contains(t, "the reason", p.Reason, "no use", "more than 8 MiB")
	if grown := int64(peak) - int64(before); grown > most {
		t.Errorf("the heap grew by %d MiB", grown>>20)
	}
	if wr.count() != 6 || len(wr.last()) > 64<<10 {
		t.Errorf("%d requests, the last of %d bytes", wr.count(), len(wr.last()))
	}
	for _, c := range w.records(p.ID).calls {
		if c.Phase == plan.PhaseExecute && (c.Answered() || !strings.Contains(c.Error, "8 MiB")) {
			t.Errorf("turn %d: answered %v, error %q", c.Turn, c.Answered(), c.Error)
		}
	}
}

// A call that was cut short by the limit of turns' last turn is made again and
// not counted twice.
func TestInterruptedLastTurnIsWithinTheLimit(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	first := true
	w, _ := modelWorld(t, t.TempDir(), t.TempDir(), builder(t, func(int, scripted.Request) scripted.Reply {
		if first {
			first = false
			cancel()
			return scripted.Reply{Hang: true}
		}
		return scripted.Reply{Text: "Nothing to do."}
	}), task())
	p := w.start("auto")
	w.setPlan(p.ID, func(p *plan.Plan) { p.Execution.MaxTurns = 1 })
	if err := w.Run(ctx, p.ID, "", nil); !errors.Is(err, context.Canceled) {
		t.Fatalf("run: %v", err)
	}
	p = w.plan(p.ID)
	w.status(p, plan.Paused)
	w.setPlan(p.ID, func(p *plan.Plan) { p.State = plan.Running }) // as after a kill
	must(t, w.Run(context.Background(), p.ID, "", nil))
	if p = w.plan(p.ID); p.Fault == fault.Exhausted.String() || p.State != plan.Waiting {
		t.Errorf("the plan is %s: %s", p.Status, p.Reason)
	}
}
