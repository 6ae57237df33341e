package upkeep

import (
	"context"
	"slices"
	"syscall"
	"time"

	"github.com/cleveragents/agents/blob"
	"github.com/cleveragents/agents/engine"
	"github.com/cleveragents/agents/fault"
	"github.com/cleveragents/agents/ident"
	"github.com/cleveragents/agents/plan"
	"github.com/cleveragents/agents/sandbox"
	"github.com/cleveragents/agents/store"
)

// Why a garbage collection takes nothing that is or will be named, whoever else
// works beside it.
//
// The limit t is fixed first, Least or more before now; then the rows are read
// in one state, and everything that can be reached from them is marked.
//
// A blob that is a file goes when it is not marked and was last touched before
// t. Suppose that a row comes to name it later. Whoever commits that row has put
// the blob before, and put either stores it or touches it (package blob); from
// put to commit a step takes less than Least. If the commit came before the rows
// were read, the blob is marked. If it came after, the touch came after t: the
// blob is too young, which is looked at under the lock that parts touching from
// removing.
//
// One writer does not put what it names: a run keeps in memory what it has read
// and put, and names it again. So no blob goes while a process that is alive
// runs a plan; sandboxes, copies and leftovers do. The claims are in the state
// that was read, so a run that is not in it began after t and knows only what
// was named then, or what it has put itself.
//
// A blob in a row has no age. It is put by the transaction that names it, so
// rows go in one transaction that looks at the claims and the names again; no
// run can begin or commit meanwhile.
//
// A sandbox goes when its plan has ended, or is not known, and nothing there was
// changed since t; the copy of a resource when no plan that goes on was forked
// from it and no snapshot looked at it since t.

// Least is the least age of what is removed.
const Least = time.Hour

// Options are what a garbage collection is given.
type Options struct {
	Now     time.Time
	Older   time.Duration // how long something has been unused; Least or more
	DryRun  bool
	Alive   func(ctx context.Context, holder string) bool
	DataDir string
}

// Freed is what was removed, or would be.
type Freed struct {
	Rows, Files, Temp, Sandboxes, Bases          int
	RowBytes, FileBytes, SandboxBytes, BaseBytes int64
	BlobsLeft                                    bool // a plan is being run: blobs wait
	Marked                                       int  // blobs that are named
	Unused                                       []string
}

// GC removes what nothing names any more.
func GC(ctx context.Context, db *store.DB, blobs *blob.Store, trees *sandbox.Trees, o Options) (f Freed, err error) {
	if o.Older < Least {
		return f, fault.New(fault.Invalid, "what is younger than %s may be in use", Least).WithHint("choose an age of %s or more", Least)
	}
	release, err := hold(ctx, o.DataDir, gcLock, syscall.LOCK_EX)
	if err != nil {
		return f, err
	}
	defer release()
	g := &collection{Options: o, db: db, blobs: blobs, trees: trees, limit: o.Now.Add(-o.Older), marked: marks{}}
	err = firstError(
		func() error { return g.read(ctx) },
		func() error { return g.files(ctx) },
		func() error { return g.rows(ctx) },
		func() error { return g.sandboxes(ctx) },
		func() error { return g.bases(ctx) },
		func() (err error) {
			if !o.DryRun {
				g.Temp, err = blobs.Sweep(ctx, g.limit)
			}
			return err
		},
	)
	g.Marked = len(g.marked)
	return g.Freed, err
}

// collection is one garbage collection at work.
type collection struct {
	Options
	Freed
	db     *store.DB
	blobs  *blob.Store
	trees  *sandbox.Trees
	limit  time.Time
	marked marks
	plans  map[ident.PlanID]plan.Plan
	live   map[ident.PlanID]bool // run by a process that is alive
	inRow  map[string]int64
}

// read takes in what is named, in one state of the rows.
func (g *collection) read(ctx context.Context) error {
	return g.db.Care(ctx, false, func(c *store.Care) error {
		claims, err := c.Claims()
		if err != nil {
			return err
		}
		g.live = map[ident.PlanID]bool{}
		for _, cl := range claims {
			if g.Alive(ctx, cl.Holder) {
				g.live[cl.Plan] = true
			}
		}
		all, err := c.Plans(engine.PlanFilter{})
		if err != nil {
			return err
		}
		g.plans = map[ident.PlanID]plan.Plan{}
		for _, p := range all {
			g.plans[p.ID] = p
		}
		if g.inRow, err = c.BlobRows(); err != nil {
			return err
		}
		return g.marked.mark(ctx, c, g.blobs, g.over)
	})
}

// over reports whether a plan has ended long enough ago.
func (g *collection) over(id ident.PlanID) bool {
	p, ok := g.plans[id]
	return ok && p.Terminal() && p.Updated.Before(g.limit) && !g.live[id]
}

func (g *collection) files(ctx context.Context) error {
	if len(g.live) > 0 {
		g.BlobsLeft = true
		return nil
	}
	var old []string
	err := g.blobs.Files(ctx, func(f blob.File) error {
		if g.marked[f.Hash] || !f.Touched.Before(g.limit) {
			return nil
		}
		old = append(old, f.Hash)
		if g.DryRun {
			g.Files, g.FileBytes = g.Files+1, g.FileBytes+f.Size
		}
		return nil
	})
	if err != nil || g.DryRun {
		g.Unused = old
		return err
	}
	gone, err := g.blobs.Remove(ctx, g.limit, old)
	for _, f := range gone {
		g.Files, g.FileBytes = g.Files+1, g.FileBytes+f.Size
		g.Unused = append(g.Unused, f.Hash)
	}
	return err
}

func (g *collection) rows(ctx context.Context) error {
	if len(g.live) > 0 {
		g.BlobsLeft = true
		return nil
	}
	unused := 0
	for hash := range g.inRow {
		if !g.marked[hash] {
			unused++
		}
	}
	if unused == 0 {
		return nil
	}
	rows, bytes := 0, int64(0)
	err := g.db.Care(ctx, !g.DryRun, func(c *store.Care) error {
		claims, err := c.Claims()
		if err != nil {
			return err
		}
		for _, cl := range claims {
			if g.Alive(ctx, cl.Holder) {
				g.BlobsLeft = true
				return nil
			}
		}
		// What was marked stays marked; only what is named since is followed.
		if err := g.marked.mark(ctx, c, g.blobs, g.over); err != nil {
			return err
		}
		for hash, n := range g.inRow {
			if g.marked[hash] {
				continue
			}
			rows, bytes = rows+1, bytes+n
			g.Unused = append(g.Unused, hash)
			if g.DryRun {
				continue
			}
			if err := c.RemoveBlob(hash); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		g.Rows, g.RowBytes = rows, bytes
	}
	return err
}

func (g *collection) sandboxes(ctx context.Context) error {
	ids, err := g.trees.Plans()
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, known := g.plans[id]; known && !g.over(id) {
			continue
		}
		size, changed, err := g.trees.PlanSize(ctx, id)
		if err != nil {
			return err
		}
		if !changed.Before(g.limit) {
			continue
		}
		if !g.DryRun {
			if err := g.trees.Remove(ctx, id); err != nil {
				return err
			}
		}
		g.Sandboxes, g.SandboxBytes = g.Sandboxes+1, g.SandboxBytes+size
	}
	return nil
}

func (g *collection) bases(ctx context.Context) error {
	used := map[ident.ResourceID]bool{}
	for _, p := range g.plans {
		for _, b := range p.Bases {
			if !g.over(p.ID) {
				used[b.Resource] = true
			}
		}
	}
	ids, err := g.trees.Bases()
	if err != nil {
		return err
	}
	slices.Sort(ids)
	for _, id := range ids {
		if used[id] {
			continue
		}
		n, err := g.trees.RemoveBase(ctx, id, g.limit, g.DryRun)
		if err != nil {
			return err
		}
		if n > 0 {
			g.Bases, g.BaseBytes = g.Bases+1, g.BaseBytes+n
		}
	}
	return nil
}

// firstError runs the steps until one fails.
func firstError(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
