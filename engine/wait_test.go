package engine_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/plan"
)

// busy is a model whose provider refuses some calls and says how long to wait.
type busy struct {
	engine.Model
	mu    sync.Mutex
	waits []float64 // of the next calls, in seconds; < 0 lets the call through
	asked int
}

func (b *busy) Generate(ctx context.Context, r actor.Request, f func(string)) (actor.Response, error) {
	b.mu.Lock()
	b.asked++
	wait := -1.0
	if len(b.waits) > 0 {
		wait, b.waits = b.waits[0], b.waits[1:]
	}
	b.mu.Unlock()
	if wait >= 0 {
		return actor.Response{}, fault.New(fault.Unavailable, "scripted: HTTP 429: slow down").With("status", 429).With("retry_after", wait)
	}
	return b.Model.Generate(ctx, r, f)
}

// clock is a time that passes by sleeping only.
type clock struct {
	mu    sync.Mutex
	now   time.Time
	slept time.Duration
	on    func(slept time.Duration) // told after each sleep
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	c.now, c.slept = c.now.Add(d), c.slept+d
	on, slept := c.on, c.slept
	c.mu.Unlock()
	if on != nil {
		on(slept)
	}
	return ctx.Err()
}

func busyWorld(t *testing.T, waits ...float64) (*world, *busy, *clock) {
	t.Helper()
	return busyWorldOver(t, t.TempDir(), t.TempDir(), waits...)
}

func busyWorldOver(t *testing.T, data, tree string, waits ...float64) (*world, *busy, *clock) {
	t.Helper()
	w, _ := modelWorld(t, data, tree, writer(t, func(int) {}), task())
	b := &busy{Model: w.Model, waits: waits}
	c := &clock{now: time.Now()}
	w.Model, w.Now, w.Sleep = b, c.Now, c.Sleep
	return w, b, c
}

func (w *world) eventsOf(kind string) (out []map[string]any) {
	w.t.Helper()
	for _, e := range w.events {
		if e.Type == kind {
			var m map[string]any
			must(w.t, json.Unmarshal(e.Data, &m))
			out = append(out, m)
		}
	}
	return out
}

// A provider that asks to wait makes the plan wait in its own status, and the
// plan goes on by itself: no error, no turn lost, the call under its number.
func TestRateLimitIsAWaitAndNotAnError(t *testing.T) {
	w, b, c := busyWorld(t, -1, 90, 30)
	p := w.run(w.start("ci"), "")
	w.status(p, plan.Applied)
	if p.WaitUntil != nil || p.ThrottledSince != nil || p.Reason != "" {
		t.Errorf("the wait is still in the plan: %+v %+v %q", p.WaitUntil, p.ThrottledSince, p.Reason)
	}
	if c.slept < 120*time.Second || c.slept > 150*time.Second {
		t.Errorf("slept %s, want what was asked for and a little more", c.slept)
	}
	waits := w.eventsOf("call.waiting")
	if len(waits) != 2 || waits[0]["turn"] != 2.0 || waits[1]["turn"] != 2.0 {
		t.Errorf("waits were told as %v", waits)
	}
	saw := false
	for _, e := range w.eventsOf("plan.state") {
		reason, _ := e["reason"].(string)
		saw = saw || e["to"] == "strategize/waiting" && strings.HasPrefix(reason, "rate_limit: scripted asks to wait until ")
	}
	if !saw {
		t.Errorf("no event says that the plan waits: %v", w.eventsOf("plan.state"))
	}
	w.view(func(tx engine.Tx) error {
		cs, err := tx.Calls(p.ID)
		if len(cs) != b.asked-2 {
			t.Errorf("%d calls are recorded and %d were made", len(cs), b.asked)
		}
		for _, one := range cs {
			if !one.Answered() || one.Error != "" {
				t.Errorf("call %d: answered %t, error %q", one.Turn, one.Answered(), one.Error)
			}
		}
		return err
	})
}

func TestShortWaitIsNoStatus(t *testing.T) {
	w, _, c := busyWorld(t, 1, -1, 0)
	p := w.run(w.start("ci"), "")
	w.status(p, plan.Applied)
	if n := len(w.eventsOf("call.waiting")); n > 0 || len(w.eventsOf("call.retry")) != 2 {
		t.Errorf("%d waits, retries %v", n, w.eventsOf("call.retry"))
	}
	if c.slept < time.Second || c.slept > 2*time.Second {
		t.Errorf("slept %s", c.slept)
	}
}

// What a provider asks for is bounded: a day is a pause, with the way on.
func TestAbsurdWaitPauses(t *testing.T) {
	for _, waits := range [][]float64{{24 * 60 * 60}, {1e300}, {1800, 1800, 1800}} {
		w, _, c := busyWorld(t, waits...)
		p := w.run(w.start("ci"), "")
		w.status(p, plan.Paused)
		if !strings.Contains(p.Reason, "longer than a plan waits by itself") || p.Fault != fault.Unavailable.String() || p.WaitUntil != nil {
			t.Errorf("paused as %q (%s)", p.Reason, p.Fault)
		}
		if c.slept > time.Hour {
			t.Errorf("slept %s before", c.slept)
		}
		p = w.run(p, "")
		w.status(p, plan.Applied) // a person resumed it, and the provider lets it
	}
}

// A profile that does not let transient failures be tried again does not let
// them be waited for either.
func TestWaitObeysTheProfile(t *testing.T) {
	w, b, _ := busyWorld(t, 60)
	p := w.start("ci")
	w.setPlan(p.ID, func(p *plan.Plan) { p.Profile.Safety.MaxRetriesPerStep = 0 })
	p = w.run(w.plan(p.ID), "")
	w.status(p, plan.Paused)
	if b.asked != 1 {
		t.Errorf("asked %d times", b.asked)
	}
}

// A plan that waits can be paused, cancelled and interrupted at once, and a
// process that comes after a dead one waits on.
func TestWaitCanBeLeft(t *testing.T) {
	t.Run("pause", func(t *testing.T) {
		w, _, c := busyWorld(t, 600)
		p := w.start("ci")
		c.on = func(slept time.Duration) {
			if slept == 2*time.Second {
				must(t, w.Pause(context.Background(), p.ID))
			}
		}
		p = w.run(p, "")
		w.status(p, plan.Paused)
		if c.slept > 3*time.Second || p.WaitUntil != nil {
			t.Errorf("slept %s, waits until %v", c.slept, p.WaitUntil)
		}
		w.status(w.run(p, ""), plan.Applied)
	})
	t.Run("interrupt", func(t *testing.T) {
		w, _, c := busyWorld(t, 600)
		p := w.start("ci")
		ctx, stop := context.WithCancel(t.Context())
		c.on = func(slept time.Duration) {
			if slept == time.Second {
				stop()
			}
		}
		if err := w.Run(ctx, p.ID, "", nil); err == nil {
			t.Error("an interrupted run returned nil")
		}
		c.on = nil
		p = w.plan(p.ID)
		w.status(p, plan.Paused)
		w.status(w.run(p, ""), plan.Applied)
	})
	t.Run("died", func(t *testing.T) {
		data, tree := t.TempDir(), t.TempDir()
		w, _, _ := busyWorldOver(t, data, tree)
		p := w.start("ci")
		until := time.Now().Add(time.Minute)
		w.setPlan(p.ID, func(p *plan.Plan) {
			p.Status, p.WaitUntil, p.ThrottledSince = plan.Status{Phase: plan.PhaseStrategize, State: plan.Waiting}, &until, &until
		})
		after, b, c := busyWorldOver(t, data, tree)
		p = after.run(p, "")
		after.status(p, plan.Applied)
		if b.asked == 0 || c.slept < 50*time.Second {
			t.Errorf("asked %d times after %s", b.asked, c.slept)
		}
	})
}
