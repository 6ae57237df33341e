package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/llm/scripted"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/tool"
)

// writer decides and writes a.txt; turn is told before each answer.
func writer(t testing.TB, before func(turn int)) scripted.Script {
	return builder(t, func(turn int, r scripted.Request) scripted.Reply {
		before(turn)
		if turn == 0 {
			return calls(record, choose("how", ""), "builtin__write", `{"path":"a.txt","content":"a\n"}`)
		}
		return scripted.Reply{Text: "Done."}
	})
}

// trees counts what is left of sandboxes.
func (w *world) trees(p plan.Plan) (n int) {
	w.t.Helper()
	must(w.t, filepath.WalkDir(filepath.Join(w.data, "trees"), func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.Contains(d.Name(), string(p.ID)) {
			n++
		}
		return nil
	}))
	return n
}

// A plan is paused, resumed and given up by engines other than the one that
// runs it.
func TestAnotherEngineControlsThePlan(t *testing.T) {
	tests := []struct {
		name    string
		control func(e *engine.Engine, p plan.Plan) error
		want    plan.State
		trees   bool
	}{
		{"pause", func(e *engine.Engine, p plan.Plan) error { return e.Pause(context.Background(), p.ID) }, plan.Paused, true},
		{"cancel", func(e *engine.Engine, p plan.Plan) error {
			return e.Cancel(context.Background(), p.ID, "enough", false)
		}, plan.Cancelled, false},
		{"cancel and keep", func(e *engine.Engine, p plan.Plan) error { return e.Cancel(context.Background(), p.ID, "", true) }, plan.Cancelled, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			data, tree := t.TempDir(), t.TempDir()
			var p plan.Plan
			var other *world
			w, wr := modelWorld(t, data, tree, writer(t, func(turn int) {
				if turn == 1 && other != nil {
					must(t, tt.control(other.Engine, p))
				}
			}), task())
			other, _ = modelWorld(t, data, tree, writer(t, func(int) {}), task())
			p = w.start("ci")
			p = w.run(p, "")
			w.status(p, tt.want)
			if n := w.trees(p); (n > 0) != tt.trees {
				t.Errorf("%d trees are left", n)
			}
			if got := files(t, tree); len(got) > 0 {
				t.Errorf("something was applied: %v", got)
			}
			calls := wr.count()
			err := other.Run(context.Background(), p.ID, "", nil)
			if p = other.plan(p.ID); tt.want == plan.Paused {
				must(t, err)
				other.status(p, plan.Applied)
				if wr.count() != calls {
					t.Error("an answer that was stored was asked for again")
				}
			} else if p.State != plan.Cancelled {
				t.Errorf("the plan is %s after a run (%v)", p.Status, err)
			}
		})
	}
}

func TestPlanThatNobodyRunsIsControlledAtOnce(t *testing.T) {
	w, _ := modelWorld(t, t.TempDir(), t.TempDir(), writer(t, func(int) {}), task())
	ctx := context.Background()
	p := w.run(w.start("auto"), "")
	w.status(p, plan.Waiting)
	must(t, w.Pause(ctx, p.ID))
	w.status(w.plan(p.ID), plan.Paused)
	if err := w.Pause(ctx, p.ID); !fault.Is(err, fault.Conflict) {
		t.Errorf("pausing a paused plan: %v", err)
	}
	p = w.run(p, "")
	w.status(p, plan.Waiting)
	must(t, w.Cancel(ctx, p.ID, "", false))
	if n := w.trees(p); n > 0 {
		t.Errorf("%d trees are left", n)
	}
	if err := w.Cancel(ctx, p.ID, "", false); !fault.Is(err, fault.Conflict) {
		t.Errorf("cancelling a cancelled plan: %v", err)
	}
	if err := w.Run(ctx, p.ID, plan.PhaseApply, nil); !fault.Is(err, fault.Conflict) {
		t.Errorf("applying a cancelled plan: %v", err)
	}
	for _, a := range w.records(p.ID).approvals {
		if _, err := w.Decide(ctx, a.ID, true, ""); !fault.Is(err, fault.Conflict) {
			t.Errorf("approving for a cancelled plan: %v", err)
		}
	}
}

// A wish to pause that came too late must not stop the next run; one to cancel
// must.
func TestLateWishes(t *testing.T) {
	for _, tt := range []struct {
		wish string
		want plan.State
	}{{`{"trigger":"pause","reason":"r"}`, plan.Applied}, {`{"trigger":"cancel","reason":"r"}`, plan.Cancelled}} {
		w, _ := modelWorld(t, t.TempDir(), t.TempDir(), writer(t, func(int) {}), task())
		p := w.run(w.start("auto"), "")
		must(t, w.Store.Update(context.Background(), func(tx engine.Tx) error {
			return tx.PutSetting("wish/"+string(p.ID), tt.wish)
		}))
		p = w.run(p, plan.PhaseApply)
		w.status(p, tt.want)
	}
}

// The caller goes away in the middle of a model call, and of a tool.
func TestInterruptedWorkIsDoneAgainOnce(t *testing.T) {
	for _, what := range []string{"model call", "tool"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			data, tree, begun := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "begun")
			write(t, tree, map[string]string{"log.txt": "", "marker.txt": "m\n"})
			must(t, mkfifo(begun))
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			hang := what == "model call"
			s := builder(t, func(turn int, r scripted.Request) scripted.Reply {
				if turn == 1 {
					return scripted.Reply{Text: "Done."}
				}
				if hang {
					hang = false
					defer cancel()
					return scripted.Reply{Text: "I am ab", Hang: true}
				}
				return calls(record, choose("how", ""), "builtin__shell",
					`{"script":"echo line >> log.txt; if [ -p '`+begun+`' ]; then echo > '`+begun+`'; sleep 60; fi"}`)
			})
			w, wr := modelWorld(t, data, tree, s, task(validated("test $(wc -l < log.txt) = 1")))
			p := w.start("ci")
			var wg sync.WaitGroup
			if what == "tool" {
				wg.Go(func() {
					if _, err := os.ReadFile(begun); err != nil {
						t.Error(err)
					}
					must(t, os.Remove(begun))
					cancel()
				})
			} else {
				must(t, os.Remove(begun))
			}
			if err := w.Run(ctx, p.ID, "", nil); !errors.Is(err, context.Canceled) {
				t.Fatalf("run: %v", err)
			}
			wg.Wait()
			w.status(w.plan(p.ID), plan.Paused)
			w2, wr2 := modelWorld(t, data, tree, s, task())
			p = w2.run(p, "")
			w2.status(p, plan.Applied)
			r := w2.records(p.ID)
			want := 4
			if what == "model call" {
				want = 5 // the one that was cut short is made again
			}
			if n := wr.count() + wr2.count(); n != want || len(r.calls) != 4 {
				t.Errorf("%d requests for %d calls, want %d for 4", n, len(r.calls), want)
			}
			if len(r.hunks) != 1 || len(r.toolCalls) != 3 || read(t, tree, "log.txt") != "line\n" {
				t.Errorf("%d hunks, %d tool calls, log.txt is %q", len(r.hunks), len(r.toolCalls), read(t, tree, "log.txt"))
			}
			if what == "tool" && (len(r.gaps) != 2 || !strings.Contains(r.gaps[0].Detail, "put back")) {
				t.Errorf("gaps: %v", r.gaps)
			}
		})
	}
}

// Of two that run one plan at once one is told that the other does, in one
// process and in two engines.
func TestOneRunnerAPlan(t *testing.T) {
	for _, what := range []string{"one engine", "two engines"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			data, tree := t.TempDir(), t.TempDir()
			var p plan.Plan
			var second *world
			busy := 0
			w, wr := modelWorld(t, data, tree, writer(t, func(turn int) {
				for range 2 {
					if err := second.Run(context.Background(), p.ID, "", nil); fault.Is(err, fault.Busy) {
						busy++
					} else {
						t.Errorf("a second run: %v", err)
					}
				}
			}), task())
			second = w
			if what == "two engines" {
				second, _ = modelWorld(t, data, tree, writer(t, func(int) {}), task())
			}
			p = w.start("ci")
			p = w.run(p, "")
			w.status(p, plan.Applied)
			if busy != 4 || wr.count() != 4 {
				t.Errorf("%d times busy, %d requests; want 4 and 4", busy, wr.count())
			}
		})
	}
}

// The durable run ended, and the process died before the plan said so: the next
// run must not take the old end for its own.
func TestEndedRunDoesNotEatTheNext(t *testing.T) {
	data, tree := t.TempDir(), t.TempDir()
	w, _ := modelWorld(t, data, tree, writer(t, func(int) {}), task())
	p := w.run(w.start("auto"), "")
	w.status(p, plan.Waiting)
	_, err := w.Decide(context.Background(), w.open(p).ID, true, "")
	must(t, err)
	w.setPlan(p.ID, func(p *plan.Plan) { p.RunOpen = true })
	p = w.run(p, "")
	w.status(p, plan.Applied)
}

// jam is a store whose writers wait too long while it is jammed.
type jam struct {
	engine.Store
	left int
}

func (j *jam) Update(ctx context.Context, f func(engine.Tx) error) error {
	if j.left > 0 {
		if j.left--; j.left == 0 {
			return fault.New(fault.Busy, "the database is locked")
		}
	}
	return j.Store.Update(ctx, f)
}

// A store that is busy at any one write stops the plan for now and not for good.
func TestBusyStoreDoesNotLoseThePlan(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		data, tree := t.TempDir(), t.TempDir()
		w, wr := modelWorld(t, data, tree, writer(t, func(int) {}), task(validated("cat a.txt")))
		p := w.start("ci")
		j := &jam{Store: w.Store, left: n}
		c := w.Config
		c.Store = j
		err := engine.New(c).Run(context.Background(), p.ID, "", nil)
		done := j.left > 0
		for range 3 {
			if p = w.plan(p.ID); p.State == plan.Applied {
				break
			}
			must(t, w.Run(context.Background(), p.ID, "", nil))
		}
		if w.status(p, plan.Applied); wr.count() > 5 {
			t.Errorf("write %d: %d requests, want 4 or one more (%v)", n, wr.count(), err)
		}
		r := w.records(p.ID)
		if len(r.hunks) != 1 || len(r.decisions) != 3 || len(r.results) != 1 {
			t.Errorf("write %d: %d hunks, %d decisions, %d results", n, len(r.hunks), len(r.decisions), len(r.results))
		}
		for _, c := range r.toolCalls {
			if c.Status != tool.OK {
				t.Errorf("write %d: %s is %s", n, c.Tool, c.Status)
			}
		}
		if done {
			t.Logf("%d writes", n-1)
			if n < 15 {
				t.Error("too few")
			}
			return
		}
		if t.Failed() {
			return
		}
	}
}
