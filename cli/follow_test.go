package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cleveragents/agents/a2a"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

func eventTypes() []string {
	return []string{
		"plan.created", "plan.state", "call.started", "call.finished", "call.retry", "call.waiting", "call.failed", "call.cut", "prompt.cut", "prompt.left", "plan.renamed", "model.text", "node.entered",
		"decision.recorded", "tool.started", "tool.finished", "change.recorded", "validation.finished", "validation.fix",
		"approval.asked", "approval.decided", "apply.file", "apply.landed", "gap.found", "checkpoint.created", "sandbox.snapshot",
	}
}

// streaming answers after it has told the events.
func streaming(answer any, events ...plan.Event) answerer {
	return func(_ context.Context, _ any, emit func(plan.Event)) (any, error) {
		for _, e := range events {
			emit(e)
		}
		return answer, nil
	}
}

func event(seq int64, kind, data string) plan.Event {
	return plan.Event{Plan: planID, Seq: seq, At: at(), Type: kind, Data: json.RawMessage(data)}
}

func someEvents() []plan.Event {
	return []plan.Event{
		event(1, "plan.created", `{"name":"local/fix-1","action":"local/fix","project":"local/shop"}`),
		event(2, "plan.state", `{"from":"action/queued","to":"execute/running"}`),
		event(3, "call.started", `{"turn":1,"model":"scripted/demo","actor":"local/coder"}`),
		event(0, "model.text", `{"text":"I look at\nthe code"}`),
		event(4, "call.finished", `{"turn":1,"model":"scripted/demo","input":120,"output":30,"stop":"tool_use","ms":1250}`),
		event(5, "call.retry", `{"try":1,"wait_ms":2000,"error":"rate limit"}`),
		event(5, "call.waiting", `{"provider":"openai","turn":2,"wait_ms":90000,"error":"openai: HTTP 429: slow down"}`),
		event(6, "prompt.left", `{"id":"01HZX3V5T8Q0MSGS0000001234","text":"keep it\nshort","now":true}`),
		event(6, "call.cut", `{"turn":2,"reason":"a person has something to say"}`),
		event(6, "prompt.cut", `{"turn":9,"turns":0,"results":5,"tokens":21000,"whole":41000,"budget":27000}`),
		event(6, "plan.renamed", `{"from":"local/a","to":"local/b"}`),
		event(6, "decision.recorded", `{"id":"01HZX3V5T8Q0DECS000000NEW1","type":"strategy_choice","question":"Which parser?","chosen":"hand-written","alternatives":2,"implicit":true}`),
		event(6, "node.entered", `{"node":"test","visit":2,"what":"tool builtin/shell"}`),
		event(7, "tool.started", `{"tool":"builtin/edit","summary":"a.go"}`),
		event(8, "tool.finished", `{"tool":"builtin/edit","status":"failed","summary":"a.go","ms":12}`),
		event(9, "change.recorded", `{"path":"a.go","status":"modified","origin":"untracked"}`),
		event(10, "validation.finished", `{"name":"build","mode":"required","verdict":"passed","message":"exit 0"}`),
		event(11, "validation.finished", `{"name":"lint","mode":"informational","verdict":"skipped","message":""}`),
		event(12, "validation.finished", `{"name":"test","mode":"required","verdict":"failed","message":"exit 1"}`),
		event(13, "approval.asked", `{"id":"01HZX3V5T8Q0APPRAAAA9Y2WKB","kind":"gate","summary":"enter apply"}`),
		event(14, "gap.found", `{"kind":"special_file","path":"fifo","detail":"neither a file nor a link"}`),
		event(15, "checkpoint.created", `{"id":"01HZX3V5T8Q0CHKP0000001234"}`),
		event(16, "apply.file", `{"path":"a.go","status":"modified"}`),
		event(16, "apply.landed", `{"files":1,"as":"commit","commit":"0123456789abcdef0123","ref":"refs/heads/main","rest":0}`),
		event(17, "plan.news", `{"b":[1,2],"a":true}`),
		event(18, "plan.state", `{"from":"execute/running","to":"execute/waiting","reason":"enter apply"}`),
		event(19, "odd", `not json`),
	}
}

func TestProgress(t *testing.T) {
	list := answers()
	list["plan/execute"] = streaming(list["plan/execute"], someEvents()...)
	var all strings.Builder
	show := func(title string, w *world, args ...string) {
		w.want(t, 0, append(args, "plan", "execute")...)
		all.WriteString("-- " + title + " --\n" + w.err.String())
	}
	show("plain", newWorld(list))
	show("verbose", newWorld(list), "-v")
	show("quiet", newWorld(list), "-q")
	show("json", newWorld(list), "--format", "json")
	show("terminal", newWorld(list).terminal(), "--color", "never")
	golden(t, "progress", strings.NewReplacer("\x1b", "ESC", "\r", "CR").Replace(all.String()))

	w := newWorld(list)
	w.want(t, 0, "--format", "jsonl", "plan", "execute")
	golden(t, "progress_jsonl", w.out.String())
	if w.err.Len() > 0 {
		t.Errorf("jsonl: stderr holds %q", &w.err)
	}
}

func TestEveryEventTypeHasWords(t *testing.T) {
	for _, kind := range eventTypes() {
		if got := tell(plan.Event{Type: kind, Data: json.RawMessage(`{"unknown":"fact"}`)}); strings.Contains(got.text, "unknown=") {
			t.Errorf("%s is told like an unknown one: %s", kind, got.text)
		}
	}
}

// held is a plan that runs until it is asked to stop or its context ends.
type held struct {
	pause  chan struct{}
	state  plan.State
	silent bool // tells no event
	deaf   bool // does not stop when asked to pause
}

func (h *held) answers() map[string]any {
	h.pause = make(chan struct{}, 1)
	out := answers()
	out["plan/execute"] = answerer(func(ctx context.Context, _ any, emit func(plan.Event)) (any, error) {
		if !h.silent {
			emit(event(1, "plan.state", `{"to":"execute/running"}`))
		}
		select {
		case <-h.pause:
			o := a2a.PlanOutcome{Plan: summary(plan.PhaseExecute, h.state), Next: []string{"agents plan resume " + planID}}
			o.Plan.Reason = "paused on request"
			return o, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	out["plan/pause"] = answerer(func(context.Context, any, func(plan.Event)) (any, error) {
		if !h.deaf {
			h.pause <- struct{}{}
		}
		return a2a.PlanOutcome{}, nil
	})
	out["plan/cancel"] = answerer(func(ctx context.Context, _ any, _ func(plan.Event)) (any, error) {
		return a2a.PlanOutcome{Plan: summary(plan.PhaseExecute, plan.Cancelled)}, ctx.Err()
	})
	return out
}

// press runs plan execute and presses Ctrl-C so many times, each when
// everything stands still.
func press(t *testing.T, h *held, times int, args ...string) (w *world, exit int) {
	t.Helper()
	signals := make(chan os.Signal)
	w = newWorld(h.answers())
	w.env.Signals = signals
	done := make(chan int)
	go func() { done <- w.run(append(args, "plan", "execute")...) }()
	for range times {
		synctest.Wait()
		signals <- os.Interrupt
	}
	return w, <-done
}

func TestInterruptPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, exit := press(t, &held{state: plan.Paused}, 1)
		if exit != 4 || !strings.Contains(w.err.String(), "next: agents plan resume "+planID) {
			t.Errorf("exit %d, stderr:\n%s", exit, &w.err)
		}
		if got := strings.Join(w.asked, " "); got != "plan/execute plan/pause" {
			t.Errorf("asked %s", got)
		}
	})
}

func TestInterruptTwiceGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, exit := press(t, &held{state: plan.Paused, deaf: true}, 2)
		if exit != 9 || !strings.Contains(w.err.String(), "given up") {
			t.Errorf("exit %d, stderr:\n%s", exit, &w.err)
		}
		if got := strings.Join(w.asked, " "); got != "plan/execute plan/pause plan/cancel" {
			t.Errorf("asked %s", got)
		}
	})
}

// An interrupt that comes too late changes nothing: the plan got where it was
// sent.
func TestInterruptTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, exit := press(t, &held{state: plan.Complete}, 1)
		if exit != 0 {
			t.Errorf("exit %d, stderr:\n%s", exit, &w.err)
		}
	})
}

func TestInterruptBeforeTheFirstEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, exit := press(t, &held{silent: true}, 1)
		if exit != 130 {
			t.Errorf("exit %d, stderr:\n%s", exit, &w.err)
		}
	})
}

func TestTimeoutPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld((&held{state: plan.Paused}).answers())
		w.want(t, 124, "--timeout", "90s", "--format", "jsonl", "plan", "execute")
		if got := strings.Join(w.asked, " "); got != "plan/execute plan/pause" {
			t.Errorf("asked %s", got)
		}
		lines := bytes.Split(bytes.TrimSpace(w.out.Bytes()), []byte("\n"))
		var last ResultLine
		if err := json.Unmarshal(lines[len(lines)-1], &last); err != nil || last.Type != "result" || last.Exit != 124 || last.Error.Code != "Timeout" {
			t.Errorf("last line %s (%v)", lines[len(lines)-1], err)
		}
	})
}

// A plan that comes to no safe point in time is cut short and can be resumed.
func TestTimeoutCutsShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld((&held{deaf: true}).answers())
		began := time.Now()
		w.want(t, 124, "--timeout", "90s", "plan", "execute")
		if took := time.Since(began); took != 90*time.Second+grace {
			t.Errorf("took %s", took)
		}
		if !strings.Contains(w.err.String(), "next: agents plan resume "+planID) {
			t.Errorf("stderr %s", &w.err)
		}
	})
}

func TestTimeoutOfAShortOperation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(map[string]any{"plan/list": answerer(func(ctx context.Context, _ any, _ func(plan.Event)) (any, error) {
			<-ctx.Done()
			return nil, fault.New(fault.Unavailable, "store: %w", ctx.Err())
		})})
		w.want(t, 124, "--timeout", "1s", "plan", "list")
	})
}

func TestInterruptOfAShortOperation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signals := make(chan os.Signal, 1)
		w := newWorld(map[string]any{"plan/list": answerer(func(ctx context.Context, _ any, _ func(plan.Event)) (any, error) {
			signals <- os.Interrupt
			<-ctx.Done()
			return nil, ctx.Err()
		})})
		w.env.Signals = signals
		w.want(t, 130, "plan", "list")
	})
}

func TestTheClientOutlivesOneOperation(t *testing.T) {
	var kept context.Context
	w := newWorld(answers())
	open := w.env.Open
	w.env.Open = func(ctx context.Context, o Options) (a2a.Client, io.Closer, error) {
		kept = ctx
		return open(ctx, o)
	}
	w.fake.answers["plan/show"] = answerer(func(context.Context, any, func(plan.Event)) (any, error) {
		return sampleShow(), kept.Err()
	})
	w.want(t, 0, "--timeout", time.Minute.String(), "plan", "diff", "--stat")
}
