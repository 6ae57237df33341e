package bench

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/cleveragents/agents/actor"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/tool"
)

// clock adds up how long something took and how often it was done.
type clock struct {
	took  atomic.Int64
	times atomic.Int64
}

// start begins one interval; the function that it returns ends it.
func (c *clock) start() func() {
	from := time.Now()
	return func() {
		c.took.Add(int64(time.Since(from)))
		c.times.Add(1)
	}
}

func (c *clock) reset() {
	c.took.Store(0)
	c.times.Store(0)
}

// clocks are the hands of one engine.
type clocks struct{ model, tools, store, commits, relaxed, blobs, trees, steps clock }

// others is the time of what is not ours: the model and the tools.
func (c *clocks) others() time.Duration {
	return time.Duration(c.model.took.Load() + c.tools.took.Load())
}

func (c *clocks) reset() {
	for _, one := range []*clock{&c.model, &c.tools, &c.store, &c.commits, &c.relaxed, &c.blobs, &c.trees, &c.steps} {
		one.reset()
	}
}

type timedStore struct {
	engine.Store
	clock, commits, relaxed *clock
}

func (s timedStore) View(ctx context.Context, f func(engine.Tx) error) error {
	defer s.clock.start()()
	return s.Store.View(ctx, f)
}

func (s timedStore) Update(ctx context.Context, f func(engine.Tx) error) error {
	defer s.clock.start()()
	defer s.commits.start()()
	return s.Store.Update(ctx, f)
}

func (s timedStore) UpdateRelaxed(ctx context.Context, f func(engine.Tx) error) error {
	defer s.clock.start()()
	defer s.relaxed.start()()
	return s.Store.UpdateRelaxed(ctx, f)
}

type timedBlobs struct {
	engine.Blobs
	clock *clock
}

func (s timedBlobs) Split(ctx context.Context, bs map[string][]byte) ([]engine.SmallBlob, error) {
	if len(bs) == 0 {
		return nil, nil
	}
	defer s.clock.start()()
	return s.Blobs.Split(ctx, bs)
}

// timedModel keeps the requests and the bytes that were sent, so that the work
// on them can be measured apart.
type timedModel struct {
	next  engine.Model
	clock *clock
	keep  bool
	sent  []sent
}

type sent struct {
	request actor.Request
	body    []byte
}

func (m *timedModel) Generate(ctx context.Context, r actor.Request, progress func(string)) (actor.Response, error) {
	done := m.clock.start()
	resp, err := m.next.Generate(ctx, r, progress)
	done()
	if m.keep {
		m.sent = append(m.sent, sent{r, resp.Wire.Request})
	}
	return resp, err
}

func (m *timedModel) Check(provider, model string) error { return m.next.Check(provider, model) }

type timedTools struct {
	engine.Toolbox
	clock *clock
}

func (t timedTools) Call(ctx context.Context, name string, args []byte, in engine.ToolContext) (tool.Result, error) {
	defer t.clock.start()()
	return t.Toolbox.Call(ctx, name, args, in)
}

// timedTrees times looking at sandboxes, which is evidence; making and opening
// one is not.
type timedTrees struct {
	engine.Sandboxes
	clock *clock
}

func (t timedTrees) Open(ctx context.Context, id ident.PlanID, bases []plan.Base) (engine.Sandbox, error) {
	box, err := t.Sandboxes.Open(ctx, id, bases)
	return timedBox{box, t.clock}, err
}

type timedBox struct {
	engine.Sandbox
	clock *clock
}

func (b timedBox) Changes(ctx context.Context) (engine.Changes, error) {
	defer b.clock.start()()
	return b.Sandbox.Changes(ctx)
}

// timedRunner times the steps; the rest of a run is the workflow engine's.
type timedRunner struct {
	next  engine.Runner
	clock *clock
}

func (r *timedRunner) Run(ctx context.Context, key string, step func(context.Context, int) (bool, error)) error {
	return r.next.Run(ctx, key, func(ctx context.Context, n int) (bool, error) {
		defer r.clock.start()()
		return step(ctx, n)
	})
}
